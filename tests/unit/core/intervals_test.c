/* SPDX-License-Identifier: MIT */
#include "core/intervals.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"

enum { SPACE = 80 };

static void
check_same(const struct intervals *s, const bool *bits)
{
	bool seen[SPACE] = { 0 };
	uint64_t last = 0;

	for (size_t i = 0; i < s->n; i++) {
		assert_true(s->v[i].start < s->v[i].end);
		assert_true(!i || s->v[i].start > last);
		last = s->v[i].end;
		for (uint64_t k = s->v[i].start; k < s->v[i].end; k++)
			seen[k] = true;
	}
	assert_memory_equal(seen, bits, sizeof seen);
}

static void
check_questions(const struct intervals *s, const bool *bits, uint64_t a, uint64_t b)
{
	uint64_t n = 0, gap = a, next = a;

	for (uint64_t k = a; k < b; k++)
		n += bits[k];
	while (gap < SPACE && bits[gap])
		gap++;
	while (next < SPACE && !bits[next])
		next++;
	assert_int_equal(intervals_has(s, a), bits[a]);
	assert_int_equal(intervals_overlap(s, a, b), n);
	assert_int_equal(intervals_covers(s, a, b), n == b - a);
	assert_int_equal(intervals_gap(s, a), gap);
	assert_true(intervals_next(s, a) == (next == SPACE ? UINT64_MAX : next));
}

static void
intervals_agree_with_a_field_of_bits(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < 2000; seed++) {
		struct rng r = { seed, 0 };
		struct intervals s = { 0 }, other = { 0 };
		bool bits[SPACE] = { 0 };

		for (int step = 0; step < 40; step++) {
			uint64_t a = rng_below(&r, SPACE), b = a + rng_below(&r, SPACE - a + 1);
			bool add = rng_below(&r, 3) != 0;

			if (add)
				intervals_add(&s, a, b);
			else
				intervals_sub(&s, a, b);
			memset(bits + a, add, b - a);
			check_same(&s, bits);
			a = rng_below(&r, SPACE);
			check_questions(&s, bits, a, a + rng_below(&r, SPACE - a + 1));
		}
		intervals_copy(&other, &s);
		check_same(&other, bits);
		intervals_sub_all(&other, &s);
		assert_int_equal(other.n, 0);
		intervals_add(&other, 3, 5);
		intervals_add_all(&other, &s);
		bits[3] = bits[4] = true;
		check_same(&other, bits);
		intervals_clear(&s);
		intervals_clear(&other);
	}
}
