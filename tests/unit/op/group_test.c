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
#include "op/whole/group.h"
#include "op/whole/partial.h"
#include "op/whole/wide_sum.h"

/* A group of numbers, and the sum of the same ones as wide_sum.h has it. */
struct sums {
	struct group g;
	struct slab cells;
	size_t bytes;
	uint8_t wide[WIDE_MOST];
	size_t len;
};

static void
add(struct sums *s, struct mp m)
{
	uint8_t number[MP_FLOAT_MAX];
	uint8_t *end = m.kind == MP_FLOAT ? mp_put_float(number, m.f) : mp_put_int(number, m.i);

	assert_null(group_add(&s->g, GROUP_SUM, number, (size_t)(end - number), &s->cells, &s->bytes));
	s->len = wide_add(s->wide, s->len, sizeof s->wide, &m, false);
}

static void
add_float(struct sums *s, double x)
{
	add(s, (struct mp){ .kind = MP_FLOAT, .f = x });
}

static void
add_int(struct sums *s, int64_t i)
{
	add(s, (struct mp){ .kind = MP_INT, .i = i });
}

static double
sum_of(const struct group *g)
{
	uint8_t out[WIDE_MOST];
	struct mp m;

	mp_head(out, group_put(g, GROUP_SUM, out), &m);
	assert_int_equal(m.kind, MP_FLOAT);
	return m.f;
}

static void
same(double a, double b)
{
	if (memcmp(&a, &b, sizeof a) != 0 && !(isnan(a) && isnan(b)))
		fail_msg("%a is not %a", a, b);
}

/* The sum, saved and restored, and as a part that is put together with nothing, is the sum. */
static void
check(struct sums *s)
{
	double want = wide_round(s->wide, s->len);
	struct group again = { 0 }, joined = { 0 };
	struct buf state = { 0 };
	uint8_t part[2 * WIDE_MOST];
	const char *why = NULL;

	same(sum_of(&s->g), want);
	assert_true(group_save(&s->g, &state));
	struct state_in in = state_begin(state.data, state.len);
	group_restore(&again, false, GROUP_SUM, &in, &s->cells, &s->bytes);
	assert_false(in.bad);
	same(sum_of(&again), want);
	assert_true(group_part_room(&s->g) <= sizeof part);
	const uint8_t *end = group_put_part(&s->g, GROUP_SUM, part);
	assert_true((size_t)(end - part) <= group_part_room(&s->g));
	assert_ptr_equal(group_join_part(&joined, GROUP_SUM, part, end, &s->cells, &s->bytes, &why), end);
	same(sum_of(&joined), want);
	/* a part that joins a sum of floats, which two floats hold */
	struct group two = { 0 };
	uint8_t half[MP_FLOAT_MAX];
	group_add(&two, GROUP_SUM, half, (size_t)(mp_put_float(half, 0.5) - half), &s->cells, &s->bytes);
	assert_non_null(group_join_part(&two, GROUP_SUM, part, end, &s->cells, &s->bytes, &why));
	struct mp more = { .kind = MP_FLOAT, .f = 0.5 };
	uint8_t wide[WIDE_MOST];
	memcpy(wide, s->wide, s->len);
	same(sum_of(&two), wide_round(wide, wide_add(wide, s->len, sizeof wide, &more, false)));
	group_free(&again, &s->cells);
	group_free(&joined, &s->cells);
	group_free(&two, &s->cells);
	buf_clear(&state);
}

static void
clear(struct sums *s)
{
	group_free(&s->g, &s->cells);
	slab_clear(&s->cells);
}

static double
number(struct rng *r, unsigned kind)
{
	double x = (double)(int64_t)rng_next(r) / 0x1p63;

	switch (kind) {
	case 0: return (double)rng_below(r, 100000) / 100;
	case 1: return x;
	case 2: return ldexp(x, (int)rng_below(r, 120) - 60);
	case 3: return ldexp(x, (int)rng_below(r, 2098) - 1074);
	default: return rng_below(r, 50) ? x : rng_below(r, 3) ? -0.0 : rng_below(r, 2) ? INFINITY : NAN;
	}
}

/* Floats of similar and of very different size, and ints among them. */
static void
a_sum_of_floats_is_rounded_once(void **state)
{
	struct rng r = { 11, 0 };

	(void)state;
	for (unsigned i = 0; i < 3000; i++) {
		struct sums s = { .len = 0 };
		unsigned n = 1 + (unsigned)rng_below(&r, i % 7 ? 8 : 300);

		for (unsigned k = 0; k < n; k++) {
			if (i % 3 == 0 && rng_below(&r, 3) == 0)
				add_int(&s, (int64_t)(rng_next(&r) >> rng_below(&r, 64)) - 1000);
			if (k == 0 || rng_below(&r, 4))
				add_float(&s, number(&r, i % 5));
			if (k > 1 && rng_below(&r, 9) == 0)
				check(&s);
		}
		check(&s);
		clear(&s);
	}
}

static void
a_usual_sum_takes_no_memory_of_its_own(void **state)
{
	struct sums s = { .len = 0 };
	struct rng r = { 12, 0 };

	(void)state;
	for (unsigned k = 0; k < 1000; k++)
		add_float(&s, number(&r, 0));
	add_int(&s, 7);
	assert_int_equal(s.bytes, 0);
	assert_int_equal(s.g.cap, 0);
	check(&s);
	clear(&s);
}

static void
what_two_floats_do_not_hold_is_kept(void **state)
{
	struct sums s = { .len = 0 };

	(void)state;
	add_float(&s, 1e308);
	add_float(&s, 1e308);
	add_float(&s, -1e308);
	check(&s);
	add_float(&s, 0.1);
	add_float(&s, 1e-300);
	add_float(&s, -1e308);
	check(&s);
	add_float(&s, -0.1);
	check(&s);
	assert_true(sum_of(&s.g) == 1e-300);
	add_int(&s, INT64_MAX);
	add_int(&s, INT64_MAX);
	check(&s);
	clear(&s);
	s = (struct sums){ .len = 0 };
	add_float(&s, -0.0);
	check(&s);
	add_int(&s, INT64_MIN);
	add_float(&s, 0.25);
	check(&s);
	clear(&s);
}
