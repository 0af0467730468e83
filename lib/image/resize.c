/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "image/resize_inner.h"
#include "image/resize_mix.h"

static const struct {
	const char *name;
	double reach; /* how far from a centre the weights go, in pixels */
} resize_methods[RESIZE_METHODS] = {
	{ "nearest", 0 }, { "bilinear", 1 }, { "bicubic", 2 }, { "area", 0.5 }
};

enum resize_method
resize_find(const char *name, size_t n)
{
	unsigned m = 0;

	while (m < RESIZE_METHODS
	       && (strlen(resize_methods[m].name) != n || memcmp(resize_methods[m].name, name, n)))
		m++;
	return m;
}

static double
resize_weight(enum resize_method method, double x)
{
	switch (method) {
	case RESIZE_BILINEAR:
		x = fabs(x);
		return x < 1 ? 1 - x : 0;
	case RESIZE_BICUBIC: /* Keys' curve with a = -0.5 */
		x = fabs(x);
		return x < 1 ? (1.5 * x - 2.5) * x * x + 1
			: x < 2 ? -0.5 * (((x - 5) * x + 8) * x - 4) : 0;
	default:
		return x > -0.5 && x <= 0.5 ? 1 : 0;
	}
}

struct resize_axis
resize_axis(const struct resize *r, size_t from, size_t to)
{
	double scale = (double)from / (double)to, widen = scale < 1 || !r->antialias ? 1 : scale;

	return (struct resize_axis){ r->method, from, to, scale, widen,
		resize_methods[r->method].reach * widen };
}

size_t
resize_weigh(const struct resize_axis *a, size_t i, size_t *first, double *w)
{
	double centre = ((double)i + 0.5) * a->scale, sum = 0;
	double low = centre - a->reach + 0.5, high = centre + a->reach + 0.5;
	size_t from = low < 0 ? 0 : (size_t)low;
	size_t end = high > (double)a->from ? a->from : (size_t)high;

	if (end <= from) { /* a reach below half a pixel may hit no centre */
		from = from < a->from ? from : a->from - 1;
		end = from + 1;
	}
	for (size_t k = from; k < end; k++)
		sum += w[k - from] = resize_weight(a->method, ((double)k - centre + 0.5) / a->widen);
	for (size_t k = from; k < end; k++)
		w[k - from] = sum != 0 ? w[k - from] / sum : k == from;
	*first = from;
	return end - from;
}

size_t
resize_most(const struct resize_axis *a)
{
	size_t most = (size_t)ceil(a->reach) * 2 + 2;

	return most < a->from ? most : a->from + 1;
}

/* Weights as ints, rounded as Pillow rounds them; gives the end of them. */
static int16_t *
resize_fix(struct resize_mix *m, const double *w, size_t n, int16_t *to)
{
	size_t even = n + (n & 1);

	m->n = n;
	m->high = to;
	m->low = to + even;
	for (size_t k = 0; k < even; k++) {
		double v = k < n ? w[k] * (1 << RESIZE_BITS) : 0;
		int32_t fixed = (int32_t)(v < 0 ? v - 0.5 : v + 0.5);
		int32_t low = (int8_t)(uint8_t)(fixed & 255);

		to[k] = (int16_t)((fixed - low) >> 8);
		to[even + k] = (int16_t)low;
	}
	return to + 2 * even;
}

/* The weights of an axis: `to` entries, and behind them their numbers. */
static const struct resize_mix *
resize_plan(const struct resize_axis *a, struct buf *out)
{
	size_t most = resize_most(a), head = a->to * sizeof(struct resize_mix);

	buf_reset(out);
	uint8_t *room = buf_room(out, head + most * sizeof(double)
				 + a->to * (most + 1) * 2 * sizeof(int16_t));
	struct resize_mix *mix = (void *)room;
	double *w = (void *)(room + head);
	int16_t *fixed = (void *)(room + head + most * sizeof *w);
	for (size_t i = 0; i < a->to; i++) {
		size_t n = resize_weigh(a, i, &mix[i].first, w);

		fixed = resize_fix(&mix[i], w, n, fixed);
	}
	return mix;
}

uint64_t
resize_cost(const struct resize *r)
{
	struct resize_axis x = resize_axis(r, r->w, r->to_w), y = resize_axis(r, r->h, r->to_h);
	uint64_t columns = r->w == r->to_w ? 0 : resize_most(&x) * (uint64_t)r->h;
	uint64_t rows = r->h == r->to_h ? 0 : resize_most(&y) * (uint64_t)r->to_h;

	return (columns + rows + 1) * r->to_w * r->channels;
}

uint64_t
resize_between(const struct resize *r)
{
	return (uint64_t)r->h * r->to_w * r->channels;
}

void
resize_u8(const struct resize *r, struct buf *work, struct buf *weights)
{
	struct resize_axis x = resize_axis(r, r->w, r->to_w), y = resize_axis(r, r->h, r->to_h);
	const uint8_t *from = r->from;
	size_t row = r->to_w * r->channels;

	if (r->method == RESIZE_NEAREST) {
		resize_nearest(r, 1);
		return;
	}
	if (r->w != r->to_w) {
		buf_reset(work);
		/* Behind the rows: room for some of them turned, as they are and as they become. */
		size_t turned = RESIZE_TURNED * (r->w + r->to_w) * r->channels;
		uint8_t *room = buf_room(work, r->h * row + turned);
		uint8_t *to = r->h == r->to_h ? r->to : room;

		struct resize_rows rows = { from, r->h, r->w, r->channels, to, room + r->h * row };
		resize_columns(resize_plan(&x, weights), r->to_w, &rows);
		from = to;
	}
	if (r->h == r->to_h) {
		if (from != r->to)
			memcpy(r->to, from, r->h * row);
		return;
	}
	const struct resize_mix *mix = resize_plan(&y, weights);
	for (size_t i = 0; i < r->to_h; i++)
		resize_mix(&mix[i], from + mix[i].first * row, row, r->to + i * row, row);
}

/* Places of the pixels that are chosen are added up as Pillow adds them: they may differ in the
 * last bit from products. */
static size_t
resize_place(double *at, double scale, size_t n)
{
	size_t i = *at < 0 ? 0 : (size_t)*at;

	*at += scale;
	return i < n ? i : n - 1;
}

void
resize_nearest(const struct resize *r, size_t each)
{
	double sy = (double)r->h / (double)r->to_h, sx = (double)r->w / (double)r->to_w, y = sy / 2;
	size_t size = r->channels * each;
	uint8_t *to = r->to;

	for (size_t i = 0; i < r->to_h; i++) {
		const uint8_t *row = r->from + resize_place(&y, sy, r->h) * r->w * size;
		double x = sx / 2;

		for (size_t j = 0; j < r->to_w; j++, to += size)
			memcpy(to, row + resize_place(&x, sx, r->w) * size, size);
	}
}
