/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "op/whole/digest.h"

enum { NUMBERS = 9000, KINDS = 9, FEW = 100 };

/* Numbers as they come in practice, and as they are awkward. */
static double
number(struct rng *r, int kind, int i)
{
	double u = (double)(1 + rng_below(r, 1 << 30)) / (1 << 30);

	switch (kind) {
	case 0: return i;
	case 1: return NUMBERS - i;
	case 2: return i < NUMBERS * 99 / 100 ? 1 : 1e6;          /* a step */
	case 3: return exp(12 * u) * 1e3;                        /* sizes */
	case 4: return (u - 0.5) * 1e9;
	case 5: return (double)rng_below(r, 3);
	case 6: return rng_below(r, 50) ? -log(u) : (double)INFINITY;
	case 7: return i % 2 ? -u * 1e-300 : u * 1e300;
	default: return 42;
	}
}

static int
order(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double
wanted(const double *sorted, double q)
{
	double at = q * (NUMBERS - 1), part = at - floor(at);
	double x = sorted[(int)at], y = part > 0 ? sorted[(int)at + 1] : x;

	return x == y ? x : x + (y - x) * part;
}

static const double quantiles[] = { 0, 0.001, 0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 0.995, 0.999, 1 };

/* Puts NUMBERS of a kind into d, and sorted into v. */
static void
fill(struct digest *d, int kind, double *v)
{
	struct rng r = { (uint64_t)kind + 1, 0 };

	for (int i = 0; i < NUMBERS; i++) {
		v[i] = number(&r, kind, i);
		digest_add(d, v[i]);
	}
	qsort(v, NUMBERS, sizeof *v, order);
}

static void
what_fits_is_exact(void **state)
{
	static double v[NUMBERS];

	(void)state;
	for (int kind = 0; kind < KINDS; kind++) {
		struct digest d = { .most = NUMBERS };

		fill(&d, kind, v);
		assert_true(digest_exact(&d));
		for (size_t k = sizeof quantiles / sizeof *quantiles; k--;) {
			double got = digest_quantile(&d, quantiles[k]), want = wanted(v, quantiles[k]);
			if (got != want)
				fail_msg("kind %d, quantile %g: %.17g, not %.17g", kind, quantiles[k], got, want);
		}
		digest_clear(&d);
	}
}

/* Each number next to the quantile may be off by DIGEST_ERROR, and so what lies between. */
static void
what_does_not_fit_is_near_in_value(void **state)
{
	static double v[NUMBERS];

	(void)state;
	for (int kind = 0; kind < KINDS; kind++) {
		struct digest d = { .most = FEW };

		fill(&d, kind, v);
		assert_false(digest_exact(&d));
		for (size_t k = 0; k < sizeof quantiles / sizeof *quantiles; k++) {
			double q = quantiles[k], got = digest_quantile(&d, q), at = q * (NUMBERS - 1);
			double low = v[(int)at], high = at > (int)at ? v[(int)at + 1] : low, want = wanted(v, q);
			double most = DIGEST_ERROR * fmax(fabs(low), fabs(high));
			if (got != want && !(fabs(got - want) <= most))
				fail_msg("kind %d, quantile %g: %.17g, not near %.17g", kind, q, got, want);
		}
		digest_clear(&d);
	}
}

/* Saved in the middle and gone on with, it says what it would have said. */
static void
a_saved_digest_goes_on(void **state)
{
	static double v[NUMBERS];

	(void)state;
	for (size_t most = FEW; most <= NUMBERS; most += NUMBERS - FEW) {
		for (int cut = 10; cut < NUMBERS; cut += 2000) {
			struct digest whole = { .most = most }, first = { .most = most }, rest = { .most = most };
			struct buf b = { 0 };

			fill(&whole, 3, v);
			for (int i = 0; i < cut; i++)
				digest_add(&first, v[i]);
			assert_true(digest_save(&first, &b));
			struct state_in in = state_begin(b.data, b.len);
			digest_restore(&rest, &in);
			assert_true(state_ended(&in));
			for (int i = cut; i < NUMBERS; i++)
				digest_add(&rest, v[i]);
			for (size_t k = 0; k < sizeof quantiles / sizeof *quantiles; k++)
				assert_true(digest_quantile(&whole, quantiles[k]) == digest_quantile(&rest, quantiles[k]));
			digest_clear(&whole);
			digest_clear(&first);
			digest_clear(&rest);
			buf_clear(&b);
		}
	}
}

static bool
takes(struct digest *d)
{
	struct buf b = { 0 };
	struct digest back = { .most = d->most };

	assert_true(digest_save(d, &b));
	struct state_in in = state_begin(b.data, b.len);
	digest_restore(&back, &in);
	bool taken = state_ended(&in);
	digest_clear(&back);
	buf_clear(&b);
	return taken;
}

static void
states_that_do_not_add_up_are_refused(void **state)
{
	(void)state;
	for (size_t most = FEW; most <= NUMBERS; most += NUMBERS - FEW) {
		struct digest d = { .most = most };

		for (int i = 0; i < NUMBERS; i++)
			digest_add(&d, i);
		assert_true(takes(&d));
		d.total++;
		assert_false(takes(&d));
		d.total -= 2;
		assert_false(takes(&d));
		digest_clear(&d);
	}
	struct digest d = { .most = 4 };
	digest_add(&d, 1);
	d.v[0] = (double)NAN;
	assert_false(takes(&d));
	digest_clear(&d);
}

/* More than a restart point may have. */
static void
very_many_numbers_are_not_saved(void **state)
{
	struct digest d = { .most = SIZE_MAX };
	struct buf b = { 0 };

	(void)state;
	for (int i = 0; i < 2000000; i++)
		digest_add(&d, i);
	assert_false(digest_save(&d, &b));
	assert_int_equal(b.len, 0);
	digest_clear(&d);
}
