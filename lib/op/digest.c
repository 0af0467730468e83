/* SPDX-License-Identifier: MIT */
#include "op/digest.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

void
digest_clear(struct digest *d)
{
	mem_free(d->v);
	memset(d, 0, sizeof *d);
}

static int
digest_order(const void *a, const void *b)
{
	const struct centroid *x = a, *y = b;

	return (x->mean > y->mean) - (x->mean < y->mean);
}

/* Whether all numbers are there one by one. */
static bool
digest_exact(const struct digest *d)
{
	return d->n == 0;
}

/* Sorts what is fresh among the centroids and joins neighbours, as far as they
 * stand for no more than 4 q (1 - q) / sharpness of all. */
static void
digest_merge(struct digest *d)
{
	size_t all = d->n + d->n_fresh, kept = 0;
	double before = 0, sharp = DIGEST_SHARPNESS;

	qsort(d->v, all, sizeof *d->v, digest_order);
	while (all) {
		kept = 0;
		before = 0;
		for (size_t i = 1; i < all; i++) {
			struct centroid *to = &d->v[kept], *x = &d->v[i];
			double sum = to->weight + x->weight, q = (before + sum / 2) / d->total;

			if (sum <= 4 * d->total * q * (1 - q) / sharp) {
				to->mean += (x->mean - to->mean) * x->weight / sum;
				to->weight = sum;
			} else {
				before += to->weight;
				d->v[++kept] = *x;
			}
		}
		all = kept + 1;
		if (all <= DIGEST_CENTROIDS / 2)
			break;
		sharp /= 2;
	}
	d->n = all;
	d->n_fresh = 0;
}

void
digest_add(struct digest *d, double x)
{
	if (!d->v)
		d->v = mem_array(DIGEST_CENTROIDS + DIGEST_FRESH, sizeof *d->v);
	if (d->total == 0 || x < d->least)
		d->least = x;
	if (d->total == 0 || x > d->greatest)
		d->greatest = x;
	d->total++;
	if (d->n_fresh == DIGEST_FRESH) {
		d->total--; /* this one is not among them yet */
		digest_merge(d);
		d->total++;
	}
	d->v[d->n + d->n_fresh++] = (struct centroid){ x, 1 };
}

/* Between the order statistics, as numpy does it. */
static double
digest_between(const struct digest *d, double q)
{
	double at = q * (double)(d->n_fresh - 1);
	size_t low = (size_t)at, high = low + 1 < d->n_fresh ? low + 1 : low;

	return d->v[low].mean + (d->v[high].mean - d->v[low].mean) * (at - (double)low);
}

double
digest_quantile(struct digest *d, double q)
{
	double at, before = 0;

	if (d->total == 0)
		return 0;
	if (q <= 0)
		return d->least;
	if (q >= 1)
		return d->greatest;
	if (digest_exact(d)) {
		qsort(d->v, d->n_fresh, sizeof *d->v, digest_order);
		return digest_between(d, q);
	}
	if (d->n_fresh)
		digest_merge(d);
	/* Each mean lies in the middle of its numbers; between two of them the
	 * way is straight. */
	at = q * d->total;
	double mid = 0, value = d->least;
	for (size_t i = 0; i < d->n; i++) {
		double next = before + d->v[i].weight / 2;

		if (at < next)
			return value + (d->v[i].mean - value) * (at - mid) / (next - mid);
		mid = next;
		value = d->v[i].mean;
		before += d->v[i].weight;
	}
	return value + (d->greatest - value) * (at - mid) / (d->total - mid);
}

static void
digest_put(struct buf *out, double f)
{
	uint64_t u;

	memcpy(&u, &f, 8);
	state_put_u64(out, u);
}

static double
digest_get(struct state_in *in)
{
	uint64_t u = state_get_u64(in, UINT64_MAX);
	double f;

	memcpy(&f, &u, 8);
	return f;
}

void
digest_save(const struct digest *d, struct buf *out)
{
	state_put_u64(out, d->n);
	state_put_u64(out, d->n_fresh);
	digest_put(out, d->total);
	digest_put(out, d->least);
	digest_put(out, d->greatest);
	for (size_t i = 0; i < d->n + d->n_fresh; i++) {
		digest_put(out, d->v[i].mean);
		digest_put(out, d->v[i].weight);
	}
}

void
digest_restore(struct digest *d, struct state_in *in)
{
	uint64_t n = state_get_u64(in, DIGEST_CENTROIDS), fresh = state_get_u64(in, DIGEST_FRESH);

	digest_clear(d);
	d->total = digest_get(in);
	d->least = digest_get(in);
	d->greatest = digest_get(in);
	if (in->bad)
		return;
	d->v = mem_array(DIGEST_CENTROIDS + DIGEST_FRESH, sizeof *d->v);
	for (uint64_t i = 0; i < n + fresh && !in->bad; i++) {
		d->v[i].mean = digest_get(in);
		d->v[i].weight = digest_get(in);
	}
	d->n = n;
	d->n_fresh = fresh;
}
