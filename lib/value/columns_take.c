/* SPDX-License-Identifier: MIT
 *
 * Rows of a slot as one value, for consumers that read a stream and not memory.
 */
#include <string.h>

#include "value/columns.h"
#include "value/columns_inner.h"
#include "value/mp.h"
#include "value/tensor.h"

static void
take_head(struct buf *out, enum mp_kind kind, uint64_t n)
{
	uint8_t *p = buf_room(out, MP_HEAD_MAX);
	uint8_t *end = kind == MP_RECORD ? mp_put_record_head(p, (uint32_t)n) :
		kind == MP_LIST ? mp_put_list_head(p, (uint32_t)n) :
		kind == MP_TEXT ? mp_put_text_head(p, (uint32_t)n) : mp_put_bytes_head(p, (uint32_t)n);
	out->len += (size_t)(end - p);
}

/* Fixed rows as a tensor; one row of numbers without an axis as a number. */
static bool
take_fixed(const struct column *c, const uint8_t *slot, uint64_t first, uint64_t n, bool whole, struct buf *out)
{
	struct tensor t = { .dtype = c->dtype, .n_dims = c->n_dims };
	const uint8_t *data = slot + c->at + first * c->size;
	uint8_t *p = buf_room(out, TENSOR_HEAD_MAX + c->size * n);

	if (whole && !c->tensor) {
		out->len += (size_t)(dtype_put(c->dtype, data, p) - p);
		return true;
	}
	if (whole)
		memcpy(t.dims, c->dims, (size_t)c->n_dims * sizeof *c->dims);
	else if ((t.n_dims = column_shape(c, n, t.dims)) < 0)
		return false;
	uint8_t *to = tensor_put_head(p, &t);
	if (!to)
		return false;
	column_rows(c, slot, first, whole ? 1 : n, to);
	out->len += (size_t)(to + t.size - p);
	return true;
}

static bool
take_item(const struct column *c, const uint8_t *slot, uint64_t row, struct buf *out)
{
	const uint64_t *offsets = column_offsets(c, slot);
	uint64_t n = offsets[row + 1] - offsets[row];
	const uint8_t *from = slot + c->heap + offsets[row] * c->size;

	if (n > UINT32_MAX)
		return false;
	if (c->kind == COLUMN_VALUE) {
		if (n)
			buf_put(out, from, n);
		else
			buf_byte(out, 0xc0); /* padding has no value */
		return true;
	}
	take_head(out, c->kind == COLUMN_TEXT ? MP_TEXT : c->kind == COLUMN_BYTES ? MP_BYTES : MP_LIST, n);
	if (c->size == 1) {
		buf_put(out, from, n);
		return true;
	}
	uint8_t *p = buf_room(out, n * MP_INT_MAX), *start = p;
	for (uint64_t i = 0; i < n; i++)
		p = dtype_put(c->kind == COLUMN_INTS ? DTYPE_I64 : DTYPE_F64, from + 8 * i, p);
	out->len += (size_t)(p - start);
	return true;
}

static bool
take_column(const struct column *c, const uint8_t *slot, uint64_t first, uint64_t n, bool whole, struct buf *out)
{
	bool ok = true;

	if (c->kind == COLUMN_FIXED)
		return take_fixed(c, slot, first, n, whole, out);
	if (!whole)
		take_head(out, MP_LIST, n);
	for (uint64_t i = 0; i < n && ok; i++)
		ok = take_item(c, slot, first + i, out);
	return ok;
}

static bool
take_node(const struct columns *c, const struct column_node *node, const uint8_t *slot, uint64_t first, uint64_t n,
	  bool whole, struct buf *out)
{
	bool mask = node == c->root && c->mask >= 0, ok = true;

	if (!node->record)
		return take_column(&c->v[node->column], slot, first, n, whole, out);
	take_head(out, MP_RECORD, node->n + mask);
	for (uint32_t i = 0; i < node->n && ok; i++) {
		take_head(out, MP_TEXT, node->v[i].len);
		buf_put(out, node->v[i].name, node->v[i].len);
		ok = take_node(c, &node->v[i], slot, first, n, whole, out);
	}
	if (mask && ok) {
		const struct column *m = &c->v[c->mask];

		take_head(out, MP_TEXT, strlen(m->path[0]));
		buf_str(out, m->path[0]);
		ok = take_column(m, slot, first, n, whole, out);
	}
	return ok;
}

bool
columns_take(const struct columns *c, const uint8_t *slot, uint64_t first, uint64_t n, struct buf *out)
{
	return n <= UINT32_MAX && take_node(c, c->root, slot, first, n, c->whole && n == 1, out);
}
