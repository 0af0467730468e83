/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/rng.h"

static void
the_sequence_is_key_and_index(void **state)
{
	struct rng r = { .key = 5 };

	(void)state;
	for (uint64_t i = 0; i < 100; i++)
		assert_true(rng_next(&r) == rng_at(5, i));
	assert_int_equal(r.index, 100);
	assert_true(rng_at(5, 0) != rng_at(6, 0));
	assert_true(rng_mix(1, 2) != rng_mix(2, 1));
	assert_true(rng_mix(0, 0) != 0);
	assert_true(rng_at(0, 0) != 0);
}

/* Streams and seeds outlive a release: these numbers may never change. */
static void
the_numbers_are_fixed(void **state)
{
	(void)state;
	assert_true(rng_at(0, 0) == 0x93118a61ed9e9e14u);
	assert_true(rng_at(42, 7) == 0x30264f0b6a70ecf2u);
	assert_true(rng_mix(1, 2) == 0x3b2035d4a37163a4u);
}

static void
below_is_even(void **state)
{
	struct rng r = { .key = 1 };
	int seen[6] = { 0 };

	(void)state;
	for (int i = 0; i < 60000; i++)
		seen[rng_below(&r, 6)]++;
	for (int i = 0; i < 6; i++)
		assert_in_range(seen[i], 9600, 10400);
	for (int i = 0; i < 100; i++)
		assert_true(rng_below(&r, 1) == 0);
	for (int i = 0; i < 100; i++)
		assert_true(rng_below(&r, (1ull << 63) + 1) <= 1ull << 63);
}

static void
unit_stays_below_one(void **state)
{
	struct rng r = { .key = 3 };
	double sum = 0;

	(void)state;
	for (int i = 0; i < 100000; i++) {
		double x = rng_unit(&r);
		assert_true(x >= 0 && x < 1);
		sum += x;
	}
	assert_true(sum > 49500 && sum < 50500);
	assert_true(rng_unit_at(3, 0) >= 0);
}

static void
fresh_seeds_differ(void **state)
{
	(void)state;
	assert_true(rng_seed_fresh() != rng_seed_fresh());
}

static void
clocks_go_on(void **state)
{
	int64_t a = clock_mono_ns(), b = clock_mono_ns();

	(void)state;
	assert_true(b >= a);
	assert_true(clock_wall_ns() > 1600000000000000000);
}
