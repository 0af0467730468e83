/* SPDX-License-Identifier: MIT
 *
 * Numbers other than bytes are mixed as doubles: rows are loaded one after the other, their columns
 * mixed at once, and what they become is mixed to the rows of the result.
 */
#include <string.h>

#include "image/resize_inner.h"

/* The pixels that make one, and their weights. */
struct resize_part {
	size_t first, n;
	const double *w;
};

static const struct resize_part *
resize_parts(const struct resize_axis *a, struct buf *out)
{
	size_t most = resize_most(a);

	buf_reset(out);
	struct resize_part *v = (void *)buf_room(out, a->to * (sizeof *v + most * sizeof(double)));
	double *w = (void *)(v + a->to);
	for (size_t i = 0; i < a->to; i++, w += most) {
		v[i].n = resize_weigh(a, i, &v[i].first, w);
		v[i].w = w;
	}
	return v;
}

/* to[i] = the sum of the weights times from[k * stride + i]; i < n. */
static void
resize_sum(const struct resize_part *p, const double *from, size_t stride, double *to, size_t n)
{
	memset(to, 0, n * sizeof *to);
	for (size_t k = 0; k < p->n; k++)
		for (size_t i = 0; i < n; i++)
			to[i] += p->w[k] * from[(p->first + k) * stride + i];
}

void
resize_numbers(const struct resize *r, const struct resize_kind *kind, struct buf *work, struct buf *weights)
{
	struct resize_axis x = resize_axis(r, r->w, r->to_w), y = resize_axis(r, r->h, r->to_h);
	size_t c = r->channels, row = r->to_w * c, from_row = r->w * c;
	const struct resize_part *part = resize_parts(&x, weights);

	buf_reset(work);
	double *between = (void *)buf_room(work, (r->h * row + from_row + row) * sizeof *between);
	double *from = between + r->h * row, *to = from + from_row;
	for (size_t i = 0; i < r->h; i++) {
		double *made = between + i * row;

		kind->load(kind->arg, r->from + i * from_row * kind->each, from_row, r->w == r->to_w ? made : from);
		for (size_t j = 0; r->w != r->to_w && j < r->to_w; j++)
			resize_sum(&part[j], from, c, made + j * c, c);
	}
	part = resize_parts(&y, weights);
	for (size_t i = 0; i < r->to_h; i++) {
		if (r->h != r->to_h)
			resize_sum(&part[i], between, row, to, row);
		kind->store(kind->arg, r->h != r->to_h ? to : between + i * row, row, r->to + i * row * kind->each);
	}
}
