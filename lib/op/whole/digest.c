/* SPDX-License-Identifier: MIT */
#include "op/whole/digest.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum {
	DIGEST_SAVED = DIGEST_PART + 1024, /* most numbers in a saved state, 8 bytes each */
	DIGEST_ROUNDS = 128     /* rounds of a selection: twice as many as halving takes */
};

void
digest_clear(struct digest *d)
{
	for (size_t i = 0; d->pages && i < DIGEST_PAGES; i++)
		mem_free(d->pages[i]);
	mem_free(d->pages);
	mem_free(d->v);
	*d = (struct digest){ .most = d->most };
}

size_t
digest_size(const struct digest *d)
{
	return sizeof *d + d->cap * sizeof *d->v +
	       (d->pages ? DIGEST_PAGES * sizeof *d->pages : 0) + d->n_pages * DIGEST_PAGE * sizeof **d->pages;
}

bool
digest_exact(const struct digest *d)
{
	return !d->pages;
}

/* ---- buckets ---- */

/* Finds the page and the bucket of a number. Pages are in the order of the numbers in them,
 * the negative ones in reverse. */
static void
digest_place(double x, size_t *page, size_t *at)
{
	uint64_t bits;

	memcpy(&bits, &x, sizeof bits);
	size_t k = (bits & INT64_MAX) >> (52 - DIGEST_MANTISSA);
	if (bits >> 63)
		k = (size_t)DIGEST_PAGES / 2 * DIGEST_PAGE - 1 - k;
	else
		k += (size_t)DIGEST_PAGES / 2 * DIGEST_PAGE;
	*page = k / DIGEST_PAGE;
	*at = k % DIGEST_PAGE;
}

/* The middle of a bucket; 0 for the bucket that holds 0. */
static double
digest_middle(size_t page, size_t at)
{
	size_t half = (size_t)DIGEST_PAGES / 2 * DIGEST_PAGE, k = page * DIGEST_PAGE + at;
	bool negative = k < half;
	uint64_t bits = negative ? half - 1 - k : k - half;
	double x;

	if (bits == 0)
		return 0;
	bits <<= 52 - DIGEST_MANTISSA;
	if (bits >> 52 < 2047) /* the bucket of infinity has no middle */
		bits += (uint64_t)1 << (51 - DIGEST_MANTISSA);
	bits |= (uint64_t)negative << 63;
	memcpy(&x, &bits, sizeof x);
	return x;
}

/* The counts of a page, which is made if it is missing. */
static uint64_t *
digest_page(struct digest *d, size_t page)
{
	if (!d->pages[page]) {
		d->pages[page] = mem_zalloc(DIGEST_PAGE * sizeof **d->pages);
		d->n_pages++;
	}
	return d->pages[page];
}

static void
digest_count(struct digest *d, double x, uint64_t n)
{
	size_t page, at;

	digest_place(x, &page, &at);
	digest_page(d, page)[at] += n;
}

/* Turns the single numbers into counts in buckets. */
void
digest_squeeze(struct digest *d)
{
	if (d->pages)
		return;
	d->pages = mem_zalloc(DIGEST_PAGES * sizeof *d->pages);
	for (size_t i = 0; i < d->n; i++)
		digest_count(d, d->v[i], 1);
	mem_free(d->v);
	d->v = NULL;
	d->n = d->cap = 0;
}

void
digest_add(struct digest *d, double x)
{
	x += 0.0; /* -0.0 is 0.0, so that the answer does not depend on which of them came first */
	if (d->total == 0 || x < d->least)
		d->least = x;
	if (d->total == 0 || x > d->greatest)
		d->greatest = x;
	d->total++;
	if (!d->pages && d->n >= d->most)
		digest_squeeze(d);
	if (d->pages) {
		digest_count(d, x, 1);
		return;
	}
	if (d->n == d->cap)
		d->v = mem_grow(d->v, &d->cap, d->n + 1, sizeof *d->v);
	d->v[d->n++] = x;
}

void
digest_join(struct digest *d, const struct digest *from)
{
	size_t pages = from->pages ? DIGEST_PAGES : 0;

	for (size_t i = 0; i < from->n; i++)
		digest_add(d, from->v[i]);
	if (!from->pages || !from->total)
		return;
	digest_squeeze(d);
	if (d->total == 0 || from->least < d->least)
		d->least = from->least;
	if (d->total == 0 || from->greatest > d->greatest)
		d->greatest = from->greatest;
	d->total += from->total;
	for (size_t k = 0; k < pages * DIGEST_PAGE; k++)
		if (from->pages[k / DIGEST_PAGE])
			digest_page(d, k / DIGEST_PAGE)[k % DIGEST_PAGE] += from->pages[k / DIGEST_PAGE][k % DIGEST_PAGE];
}

/* ---- order ---- */

static void
digest_swap(double *a, double *b)
{
	double x = *a;

	*a = *b;
	*b = x;
}

static int
digest_compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Hoare's selection: puts at v[k] the number that sorting would put there, with smaller
 * numbers before it. The pivot is the median of three that lie far apart, which suits sorted
 * and equal numbers; after too many rounds it sorts instead. */
static double
digest_select(double *v, size_t n, size_t k)
{
	size_t low = 0, high = n - 1;

	for (int rounds = 0; low < high; rounds++) {
		if (rounds == DIGEST_ROUNDS) {
			qsort(v + low, high - low + 1, sizeof *v, digest_compare);
			break;
		}
		size_t i = low, j = high, mid = low + (high - low) / 2;

		if (v[mid] < v[low])
			digest_swap(&v[mid], &v[low]);
		if (v[high] < v[low])
			digest_swap(&v[high], &v[low]);
		if (v[high] < v[mid])
			digest_swap(&v[high], &v[mid]);
		double pivot = v[mid];
		for (;;) {
			while (v[i] < pivot)
				i++;
			while (pivot < v[j])
				j--;
			if (i >= j)
				break;
			digest_swap(&v[i++], &v[j--]);
		}
		/* [low, j] <= pivot <= [j + 1, high] */
		if (k <= j)
			high = j;
		else
			low = j + 1;
	}
	return v[k];
}

/* The number that has `rank` smaller numbers before it. */
static double
digest_rank(struct digest *d, uint64_t rank)
{
	uint64_t before = 0;

	if (digest_exact(d))
		return digest_select(d->v, d->n, rank);
	for (size_t page = 0; page < DIGEST_PAGES; page++)
		for (size_t at = 0; d->pages[page] && at < DIGEST_PAGE; at++)
			if ((before += d->pages[page][at]) > rank) {
				double x = digest_middle(page, at);

				return x < d->least ? d->least : x > d->greatest ? d->greatest : x;
			}
	return d->greatest;
}

double
digest_quantile(struct digest *d, double q)
{
	if (d->total == 0)
		return 0;
	if (q <= 0)
		return d->least;
	if (q >= 1)
		return d->greatest;
	double at = q * (double)(d->total - 1), part = at - floor(at);
	uint64_t low = (uint64_t)at;
	double x = digest_rank(d, low);
	double y = part > 0 && low + 1 < d->total ? digest_rank(d, low + 1) : x;
	return x == y ? x : x + (y - x) * part; /* a difference of infinities would be nan */
}

/* ---- state ---- */

/* How many values a saved state holds: numbers, or pairs of a bucket's number and its count. */
static uint64_t
digest_parts(const struct digest *d)
{
	uint64_t n = d->n;

	for (size_t k = 0; d->pages && k < (size_t)DIGEST_PAGES * DIGEST_PAGE; k++) {
		const uint64_t *page = d->pages[k / DIGEST_PAGE];

		if (!page)
			k += DIGEST_PAGE - 1;
		else
			n += page[k % DIGEST_PAGE] > 0;
	}
	return n;
}

bool
digest_save(const struct digest *d, struct buf *out)
{
	uint64_t parts = digest_parts(d);

	if (parts > DIGEST_SAVED / (d->pages ? 2 : 1))
		return false;
	state_put_u64(out, d->pages != NULL);
	state_put_u64(out, parts);
	state_put_u64(out, d->total);
	state_put_double(out, d->least);
	state_put_double(out, d->greatest);
	if (!d->pages)
		state_put_bytes(out, d->v, d->n * sizeof *d->v);
	for (size_t k = 0; d->pages && k < (size_t)DIGEST_PAGES * DIGEST_PAGE; k++) {
		const uint64_t *page = d->pages[k / DIGEST_PAGE];

		if (page && page[k % DIGEST_PAGE]) {
			state_put_u64(out, k);
			state_put_u64(out, page[k % DIGEST_PAGE]);
		}
	}
	return true;
}

static void
digest_restore_pages(struct digest *d, uint64_t parts, struct state_in *in)
{
	uint64_t sum = 0;

	d->pages = mem_zalloc(DIGEST_PAGES * sizeof *d->pages);
	for (uint64_t i = 0; i < parts && !in->bad; i++) {
		uint64_t k = state_get_u64(in, (uint64_t)DIGEST_PAGES * DIGEST_PAGE - 1);
		uint64_t n = state_get_u64(in, UINT64_MAX - sum);

		if (in->bad)
			return;
		digest_page(d, k / DIGEST_PAGE)[k % DIGEST_PAGE] += n;
		sum += n;
	}
	in->bad = in->bad || sum != d->total;
}

void
digest_restore(struct digest *d, struct state_in *in)
{
	const uint8_t *p;
	size_t len;

	digest_clear(d);
	bool pages = state_get_u64(in, 1);
	uint64_t parts = state_get_u64(in, DIGEST_SAVED);
	d->total = state_get_u64(in, UINT64_MAX);
	d->least = state_get_double(in);
	d->greatest = state_get_double(in);
	if (in->bad)
		return;
	if (pages) {
		digest_restore_pages(d, parts, in);
		return;
	}
	if (!state_get_bytes(in, &p, &len) || len != parts * sizeof *d->v || parts != d->total) {
		in->bad = true;
		return;
	}
	if (parts)
		d->v = mem_grow(d->v, &d->cap, parts, sizeof *d->v);
	for (; d->n < parts; d->n++) {
		memcpy(&d->v[d->n], p + d->n * sizeof *d->v, sizeof *d->v);
		in->bad = in->bad || isnan(d->v[d->n]);
	}
}
