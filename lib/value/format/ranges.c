/* SPDX-License-Identifier: MIT */
#include "value/format/ranges.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

enum { RANGES_DIGITS = 12 };

/* The next rounder width: 1, 2, 5, 10. */
static struct ranges_width
ranges_next(struct ranges_width w)
{
	return w.unit == 1 ? (struct ranges_width){ 2, w.power } : w.unit == 2 ? (struct ranges_width){ 5, w.power }
	     : (struct ranges_width){ 1, w.power + 1 };
}

/* The number of the range that x lies in. Decimal edges such as 0.3 have no exact double: what is as close
 * to one as rounding makes it lies on it. */
static double
ranges_at(struct ranges_width w, double x)
{
	double k = w.power < 0 ? x * pow(10, -w.power) / w.unit : x / (w.unit * pow(10, w.power));
	double near = nearbyint(k);

	return fabs(k - near) <= 1e-12 * fabs(near) ? near : floor(k);
}

/* The narrowest width from `w` on with at most `most` ranges between the two. */
static struct ranges_width
ranges_fit(struct ranges_width w, double least, double greatest, double most)
{
	while (!(ranges_at(w, greatest) - ranges_at(w, least) < most && fabs(ranges_at(w, greatest)) < 1e15
		 && fabs(ranges_at(w, least)) < 1e15))
		w = ranges_next(w);
	return w;
}

/* A width to begin with, which is too narrow for the numbers. */
static struct ranges_width
ranges_begin(const struct ranges *r)
{
	double far = fmax(fabs(r->least), fabs(r->greatest)), spread = r->greatest - r->least;

	if (!r->fractions)
		return (struct ranges_width){ 1, 0 };
	if (!(spread > 0))
		spread = far > 0 ? far : 1;
	double power = floor(log10(spread)) - 5;
	return (struct ranges_width){ 1, power < -300 ? -300 : (int)power };
}

static void
ranges_room(struct ranges *r, int64_t k)
{
	int64_t last = r->first + (int64_t)r->n_counts - 1, first = k < r->first ? k : r->first;
	size_t n = (size_t)((k > last ? k : last) - first + 1), before = (size_t)(r->first - first);

	if (n == r->n_counts)
		return;
	r->counts = mem_grow(r->counts, &r->cap_counts, n, sizeof *r->counts);
	memmove(r->counts + before, r->counts, r->n_counts * sizeof *r->counts);
	memset(r->counts, 0, before * sizeof *r->counts);
	memset(r->counts + before + r->n_counts, 0, (n - before - r->n_counts) * sizeof *r->counts);
	r->first = first;
	r->n_counts = n;
}

static int64_t
ranges_floor(int64_t k, int64_t by)
{
	return k / by - (k % by < 0);
}

/* Makes the fine ranges wider, five times or twice, so that each lies within one. Only 1 and 5 occur, of which
 * all later widths are multiples. */
static void
ranges_widen(struct ranges *r)
{
	int64_t by = r->width.unit == 1 ? 5 : 2, first = ranges_floor(r->first, by);
	size_t n = 0;

	for (size_t i = 0; i < r->n_counts; i++) {
		size_t to = (size_t)(ranges_floor(r->first + (int64_t)i, by) - first);
		uint64_t count = r->counts[i];

		r->counts[i] = 0;
		r->counts[to] += count;
		n = to + 1;
	}
	r->first = first;
	r->n_counts = n;
	r->width = by == 5 ? (struct ranges_width){ 5, r->width.power } : (struct ranges_width){ 1, r->width.power + 1 };
}

static void
ranges_count(struct ranges *r, double x)
{
	for (;;) {
		double k = ranges_at(r->width, x);

		if (!r->n_counts && fabs(k) < 1e15) {
			r->first = (int64_t)k;
			r->counts = mem_grow(r->counts, &r->cap_counts, 1, sizeof *r->counts);
			r->counts[0] = 0;
			r->n_counts = 1;
		}
		double low = fmin(k, (double)r->first), high = fmax(k, (double)r->first + (double)r->n_counts - 1);
		if (fabs(k) < 1e15 && high - low < RANGES_FINE) {
			ranges_room(r, (int64_t)k);
			r->counts[(int64_t)k - r->first]++;
			return;
		}
		ranges_widen(r);
	}
}

/* Counts the range with that number among those that are shown. Rounding may put a number beside the edge that
 * the extremes gave. */
static void
ranges_show(uint64_t counts[RANGES_SHOWN], int64_t k, uint64_t n)
{
	counts[k < 0 ? 0 : k < RANGES_SHOWN ? k : RANGES_SHOWN - 1] += n;
}

/* Turns the numbers that were kept into counts. */
static void
ranges_begin_counts(struct ranges *r)
{
	struct ranges_width w = ranges_fit(ranges_begin(r), r->least, r->greatest, RANGES_FINE / 4);

	r->width = w.unit == 2 ? ranges_next(w) : w;
	r->counted = true;
	for (size_t i = 0; i < r->n; i++)
		ranges_count(r, r->kept[i]);
	mem_free(r->kept);
	r->kept = NULL;
	r->n = r->cap = 0;
}

void
ranges_add(struct ranges *r, double x)
{
	r->least = r->total && r->least < x ? r->least : x;
	r->greatest = r->total && r->greatest > x ? r->greatest : x;
	r->total++;
	r->fractions |= x != floor(x);
	if (!r->counted && r->n == RANGES_KEPT)
		ranges_begin_counts(r);
	if (r->counted) {
		ranges_count(r, x);
		return;
	}
	if (r->n == r->cap)
		r->kept = mem_grow(r->kept, &r->cap, r->n + 1, sizeof *r->kept);
	r->kept[r->n++] = x;
}

size_t
ranges_shown(struct ranges *r, struct ranges_width *width, int64_t *first, uint64_t counts[RANGES_SHOWN])
{
	memset(counts, 0, RANGES_SHOWN * sizeof *counts);
	if (!r->total)
		return 0;
	*width = ranges_fit(r->counted ? r->width : ranges_begin(r), r->least, r->greatest, RANGES_SHOWN);
	*first = (int64_t)ranges_at(*width, r->least);
	/* the middle of a fine range lies in the same wide one as all of it */
	for (size_t i = 0; i < r->n_counts; i++) {
		double fine = ((double)(r->first + (int64_t)i) + 0.5) * r->width.unit;
		double k = floor(fine / width->unit / pow(10, width->power - r->width.power));

		if (r->counts[i])
			ranges_show(counts, (int64_t)k - *first, r->counts[i]);
	}
	for (size_t i = 0; i < r->n; i++)
		ranges_show(counts, (int64_t)ranges_at(*width, r->kept[i]) - *first, 1);
	return (size_t)(ranges_at(*width, r->greatest) - (double)*first) + 1;
}

void
ranges_edge(struct ranges_width w, int64_t k, char *out, size_t size)
{
	double units = (double)k * w.unit;

	if (w.power < -RANGES_DIGITS || w.power > RANGES_DIGITS)
		snprintf(out, size, "%.6g", units * pow(10, w.power));
	else if (w.power < 0)
		snprintf(out, size, "%.*f", -w.power, units / pow(10, -w.power));
	else
		snprintf(out, size, "%.0f", units * pow(10, w.power));
}

void
ranges_clear(struct ranges *r)
{
	mem_free(r->kept);
	mem_free(r->counts);
	*r = (struct ranges){ 0 };
}
