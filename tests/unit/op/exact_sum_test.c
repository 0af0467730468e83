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
#include "op/whole/exact_sum.h"

enum { MANY = 300, ROOM = EXACT_SUM_MOST + EXACT_SUM_ROOM };

static double
sum_of(const double *v, size_t n)
{
	uint8_t p[ROOM];
	size_t len = 0;

	for (size_t i = 0; i < n; i++)
		len = exact_sum_add(p, len, v[i]);
	return exact_sum_round(p, len);
}

#define SUM(...) sum_of((double[]){ __VA_ARGS__ }, sizeof((double[]){ __VA_ARGS__ }) / sizeof(double))

static void
a_sum_is_rounded_once(void **state)
{
	(void)state;
	assert_true(SUM(0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1) == 1.0);
	assert_true(SUM(1e100, 1, -1e100) == 1.0);
	assert_true(SUM(1, 0x1p-53) == 1.0);
	assert_true(SUM(1, 0x1p-53, 0x1p-110) == 1 + 0x1p-52);
	assert_true(SUM(1, 0x1p-53, -0x1p-110) == 1.0);
	assert_true(SUM(1 + 0x1p-52, 0x1p-53) == 1 + 0x1p-51);
	assert_true(SUM(1e300, 0x1p-1074, -1e300) == 0x1p-1074);
	assert_true(SUM(5, -5) == 0 && !signbit(SUM(5, -5)) && !signbit(SUM(-0.0)));
	assert_true(exact_sum_round(NULL, 0) == 0);
}

static void
what_is_not_finite_stays(void **state)
{
	(void)state;
	assert_true(SUM(1, INFINITY, -1e308) == INFINITY);
	assert_true(isnan(SUM(INFINITY, 3, -INFINITY, 4)));
	assert_true(isnan(SUM(NAN, INFINITY)));
	assert_true(SUM(1.7e308, 1.7e308) == INFINITY);
}

static void
integers_are_exact(void **state)
{
	uint8_t p[ROOM];
	size_t len = 0;

	(void)state;
	for (int i = 0; i < 3; i++)
		len = exact_sum_add_int(p, len, INT64_MAX);
	for (int i = 0; i < 3; i++)
		len = exact_sum_add_int(p, len, INT64_MIN);
	assert_true(exact_sum_round(p, len) == -3.0);
	len = exact_sum_add_int(p, exact_sum_add_int(p, len, 0), 3);
	assert_true(exact_sum_round(p, len) == 0);
}

/* Numbers of all sizes, in any order and in any parts. */
static void
order_and_parts_do_not_matter(void **state)
{
	struct rng r = { .key = 7 };
	double v[MANY];

	(void)state;
	for (int turn = 0; turn < 200; turn++) {
		int spread = 1 + (int)rng_below(&r, 1000);
		uint8_t p[ROOM], q[ROOM];
		size_t n = 1 + rng_below(&r, MANY), cut = rng_below(&r, (uint32_t)n), len = 0, part = 0;

		for (size_t i = 0; i < n; i++) {
			v[i] = ldexp((double)rng_below(&r, 1 << 30) - (1 << 29), (int)rng_below(&r, (uint32_t)spread) - 500);
			v[i] += ldexp(v[i], -20);
		}
		double whole = sum_of(v, n);
		for (size_t i = n; i > 1; i--) {
			size_t k = rng_below(&r, (uint32_t)i);
			double x = v[k];

			v[k] = v[i - 1];
			v[i - 1] = x;
		}
		assert_true(sum_of(v, n) == whole);
		for (size_t i = 0; i < cut; i++)
			part = exact_sum_add(q, part, v[i]);
		for (size_t i = cut; i < n; i++)
			len = exact_sum_add(p, len, v[i]);
		for (size_t at = 0; at < part; at += sizeof(double)) {
			double x;

			memcpy(&x, q + at, sizeof x);
			len = exact_sum_add(p, len, x);
		}
		assert_true(len <= EXACT_SUM_MOST && exact_sum_round(p, len) == whole);
	}
}
