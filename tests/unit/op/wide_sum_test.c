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
#include "op/whole/wide_sum.h"

enum { MANY = 300 };

struct sum {
	uint8_t p[WIDE_MOST];
	size_t len;
};

static void
add(struct sum *s, struct mp m, bool squares)
{
	s->len = wide_add(s->p, s->len, sizeof s->p, &m, squares);
	assert_true(s->len <= sizeof s->p && wide_valid(s->p, s->len, squares));
}

static void
add_all(struct sum *s, const double *v, size_t n, bool squares)
{
	for (size_t i = 0; i < n; i++)
		add(s, (struct mp){ .kind = MP_FLOAT, .f = v[i] }, squares);
}

static double
sum_of(const double *v, size_t n)
{
	struct sum s = { .len = 0 };

	add_all(&s, v, n, false);
	return wide_round(s.p, s.len);
}

static double
stddev_of(const double *v, size_t n)
{
	struct sum s = { .len = 0 };

	add_all(&s, v, n, true);
	return wide_stddev(s.p, s.len, n);
}

#define SUM(...) sum_of((double[]){ __VA_ARGS__ }, sizeof((double[]){ __VA_ARGS__ }) / sizeof(double))

#define STDDEV(...) stddev_of((double[]){ __VA_ARGS__ }, sizeof((double[]){ __VA_ARGS__ }) / sizeof(double))

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
	assert_true(SUM(1.7e308, 1.7e308, -1.7e308) == 1.7e308);
	assert_true(SUM(0x1p-1074, 0x1p-1074) == 0x1p-1073);
	assert_true(wide_round(NULL, 0) == 0);
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
	struct sum s = { .len = 0 };
	struct mp big = { .kind = MP_INT, .unsigned_big = true, .u = UINT64_MAX };
	int64_t i;

	(void)state;
	assert_true(wide_int(NULL, 0, -3, &i) && i == -3);
	for (int k = 0; k < 3; k++)
		add(&s, (struct mp){ .kind = MP_INT, .i = INT64_MAX }, false);
	assert_false(wide_int(s.p, s.len, 0, &i));
	for (int k = 0; k < 3; k++)
		add(&s, (struct mp){ .kind = MP_INT, .i = INT64_MIN }, false);
	assert_true(wide_round(s.p, s.len) == -3.0);
	assert_true(wide_int(s.p, s.len, 5, &i) && i == 2);
	assert_true(wide_int(s.p, s.len, INT64_MAX, &i) && i == INT64_MAX - 3);
	assert_false(wide_int(s.p, s.len, INT64_MIN, &i));
	add(&s, big, false);
	assert_true(wide_round(s.p, s.len) == 0x1p64);
}

static void
a_deviation_is_rounded_once(void **state)
{
	(void)state;
	assert_true(STDDEV(0, 1, 2, 3, 4) == sqrt(2));
	assert_true(STDDEV(1e9 + 1, 1e9 + 2, 1e9 + 3, 1e9 + 4, 1e9 + 5) == sqrt(2));
	assert_true(STDDEV(0.1, 0.1, 0.1) == 0);
	assert_true(STDDEV(-1.5, -2.5) == 0.5);
	assert_true(STDDEV(1e200, 3e200) == 1e200 && STDDEV(0, 0) == 0 && STDDEV(1e308, 1e308) == 0);
	assert_true(STDDEV(0x1p-1074, 0x3p-1074) == 0x1p-1074);
	assert_true(STDDEV(0x1p1023, -0x1p1023) == 0x1p1023);
	assert_true(isnan(STDDEV(1, INFINITY)) && isnan(STDDEV(NAN)));
}

/* Bytes that do not come from numbers are refused, or give anything. */
static void
other_bytes_are_refused(void **state)
{
	struct rng r = { .key = 9 };
	struct sum s = { .len = 0 };

	(void)state;
	add_all(&s, (double[]){ 1e300, -0.1 }, 2, true);
	assert_true(wide_valid(s.p, s.len, true) && !wide_valid(s.p, s.len, false));
	assert_false(wide_valid(s.p, s.len - 1, true));
	assert_false(wide_valid(s.p, 7, true));
	for (int turn = 0; turn < 20000; turn++) {
		struct sum t = s, u = { .len = 0 };
		int64_t i;

		for (int k = 0; k < 3; k++)
			t.p[rng_below(&r, rng_below(&r, 2) ? 5 : (uint32_t)t.len)] = (uint8_t)rng_below(&r, 256);
		if (!wide_valid(t.p, t.len, true))
			continue;
		u.len = wide_join(u.p, wide_join(u.p, 0, sizeof u.p, t.p, t.len), sizeof u.p, s.p, s.len);
		assert_true(wide_valid(u.p, u.len, true));
		add(&u, (struct mp){ .kind = MP_FLOAT, .f = -1e-300 }, true);
		wide_round(u.p, u.len);
		wide_int(u.p, u.len, 1, &i);
		wide_stddev(u.p, u.len, 1 + rng_below(&r, 9));
	}
}

/* Numbers of all sizes, in any order and in any parts. */
static void
order_and_parts_do_not_matter(void **state)
{
	struct rng r = { .key = 7 };
	double v[MANY];

	(void)state;
	for (int turn = 0; turn < 200; turn++) {
		int spread = 1 + (int)rng_below(&r, 2000);
		struct sum one = { .len = 0 }, two = { .len = 0 };
		size_t n = 1 + rng_below(&r, MANY), cut = rng_below(&r, (uint32_t)n);

		for (size_t i = 0; i < n; i++) {
			v[i] = ldexp((double)rng_below(&r, 1 << 30) - (1 << 29), (int)rng_below(&r, (uint32_t)spread) - 1020);
			v[i] += ldexp(v[i], -20);
		}
		double whole = sum_of(v, n), deviation = stddev_of(v, n);
		for (size_t i = n; i > 1; i--) {
			size_t k = rng_below(&r, (uint32_t)i);
			double x = v[k];

			v[k] = v[i - 1];
			v[i - 1] = x;
		}
		assert_true(sum_of(v, n) == whole && stddev_of(v, n) == deviation);
		add_all(&one, v, cut, true);
		add_all(&two, v + cut, n - cut, true);
		size_t need = wide_join(one.p, one.len, 0, two.p, two.len);
		assert_true(need >= two.len && wide_join(one.p, one.len, need - 1, two.p, two.len) == need);
		one.len = wide_join(one.p, one.len, sizeof one.p, two.p, two.len);
		assert_true(wide_valid(one.p, one.len, true));
		assert_true(wide_round(one.p, one.len) == whole && wide_stddev(one.p, one.len, n) == deviation);
	}
}
