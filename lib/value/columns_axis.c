/* SPDX-License-Identifier: MIT
 *
 * Batches whose rows lie along another axis than the first: in a slot they lie row after row all the
 * same, so that a range of them is one stretch of memory.
 */
#include <string.h>

#include "value/columns.h"
#include "value/columns_inner.h"

/* Numbers that lie together: [outer][rows][inner] in the element, [rows][outer][inner] in the slot. */
static void
axis_sizes(const struct column *c, uint64_t *outer, size_t *inner)
{
	*outer = 1;
	for (int i = 0; i < c->axis; i++)
		*outer *= c->dims[i];
	*inner = *outer ? c->size / *outer : 0;
}

void
column_turn(const struct column *c, const uint8_t *from, uint64_t n, uint8_t *to)
{
	uint64_t outer;
	size_t inner;

	axis_sizes(c, &outer, &inner);
	for (uint64_t o = 0; inner && o < outer; o++)
		for (uint64_t row = 0; row < n; row++, from += inner)
			memcpy(to + (row * outer + o) * inner, from, inner);
}

int
column_shape(const struct column *c, uint64_t n, uint64_t dims[TYPE_DIMS_MAX])
{
	int at = 0;

	if (c->n_dims == TYPE_DIMS_MAX)
		return -1;
	for (int i = 0; i <= c->n_dims; i++)
		dims[i] = i == c->axis ? n : c->dims[at++];
	return c->n_dims + 1;
}

void
column_rows(const struct column *c, const uint8_t *slot, uint64_t first, uint64_t n, uint8_t *to)
{
	const uint8_t *from = slot + c->at + first * c->size;
	uint64_t outer;
	size_t inner;

	if (!c->axis) {
		memcpy(to, from, n * c->size);
		return;
	}
	axis_sizes(c, &outer, &inner);
	for (uint64_t o = 0; inner && o < outer; o++)
		for (uint64_t row = 0; row < n; row++, to += inner)
			memcpy(to, from + (row * outer + o) * inner, inner);
}
