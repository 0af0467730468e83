/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/permute.h"
#include "base/rng.h"

static struct permute p;

static void
check_all(uint64_t n, uint64_t key)
{
	uint8_t *seen = mem_zalloc(n + 1);

	permute_init(&p, n, key);
	for (uint64_t i = 0; i < n; i++) {
		uint64_t v = permute_at(&p, i);

		assert_true(v < n);
		assert_int_equal(seen[v]++, 0);
	}
	mem_free(seen);
}

static void
each_number_comes_once(void **state)
{
	(void)state;
	for (uint64_t n = 0; n <= 2 * PERMUTE_TABLE; n++)
		check_all(n, n * 31);
	for (unsigned bits = 12; bits < 20; bits++)
		for (uint64_t n = ((uint64_t)1 << bits) - 1; n <= ((uint64_t)1 << bits) + 1; n++)
			check_all(n, bits);
	check_all(3000017, 4);
}

/* A part of a large order: no number twice, each in its range, and spread evenly over the whole. */
static void
large_orders_are_spread_evenly(void **state)
{
	static const uint64_t sizes[] = { 1000000000, 4294967296, 4294967297, 1000000000000, INT64_MAX };
	enum { SAMPLE = 200000, CELLS = 256, SLOTS = 1 << 19 };
	uint64_t *seen = mem_array(SLOTS, sizeof *seen);

	(void)state;
	for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
		unsigned cell[CELLS] = { 0 };
		double chi = 0;

		memset(seen, 0xff, SLOTS * sizeof *seen);
		permute_init(&p, sizes[k], 99);
		for (uint64_t i = 0; i < SAMPLE; i++) {
			uint64_t v = permute_at(&p, i), slot = rng_mix(v, 1) % SLOTS;

			assert_true(v < sizes[k]);
			for (; seen[slot] != UINT64_MAX; slot = (slot + 1) % SLOTS)
				assert_true(seen[slot] != v);
			seen[slot] = v;
			cell[(size_t)((double)v / (double)sizes[k] * CELLS)]++;
		}
		for (int c = 0; c < CELLS; c++) {
			double d = cell[c] - (double)SAMPLE / CELLS;

			chi += d * d / ((double)SAMPLE / CELLS);
		}
		assert_true(chi > 150 && chi < 380); /* 255 expected, 22.6 its deviation */
	}
	mem_free(seen);
}

/* Three numbers: six orders. */
static void
small_orders_come_equally_often(void **state)
{
	unsigned count[64] = { 0 }, orders = 0;

	(void)state;
	for (uint64_t key = 0; key < 6000; key++) {
		permute_init(&p, 3, key);
		count[permute_at(&p, 0) << 4 | permute_at(&p, 1) << 2 | permute_at(&p, 2)]++;
	}
	for (int k = 0; k < 64; k++) {
		orders += count[k] > 0;
		assert_true(!count[k] || (count[k] > 860 && count[k] < 1140)); /* 4.8 deviations */
	}
	assert_int_equal(orders, 6);
}

/* Pairs of neighbours and places of numbers, beyond the table's size: over many keys no cell
 * of the square stands out, and neighbours part. */
static void
no_place_is_preferred(void **state)
{
	enum { N = PERMUTE_TABLE + 7, CELLS = 16, KEYS = 200 };
	static unsigned cell[CELLS][CELLS], step[CELLS];
	double chi = 0, steps = 0, fixed = 0, usual[CELLS] = { 0 };

	(void)state;
	for (uint64_t d = 1; d < N; d++)
		usual[d * CELLS / N] += KEYS;
	for (uint64_t key = 0; key < KEYS; key++) {
		uint64_t before = 0;

		permute_init(&p, N, key);
		for (uint64_t i = 0; i < N; i++) {
			uint64_t v = permute_at(&p, i);

			cell[i * CELLS / N][v * CELLS / N]++;
			fixed += v == i;
			if (i)
				step[(v + N - before) % N * CELLS / N]++;
			before = v;
		}
	}
	for (int a = 0; a < CELLS; a++) {
		double d = step[a] - usual[a];

		steps += d * d / usual[a];
		for (int b = 0; b < CELLS; b++) {
			d = cell[a][b] - (double)KEYS * N / CELLS / CELLS;
			chi += d * d / ((double)KEYS * N / CELLS / CELLS);
		}
	}
	assert_true(chi > 130 && chi < 340); /* 225 expected, 21 its deviation */
	assert_true(steps < 45);             /* 15 expected, 5.5 its deviation */
	assert_true(fixed > 130 && fixed < 280); /* one a key */
}

static void
a_key_is_an_order(void **state)
{
	struct permute q;
	unsigned same = 0;

	(void)state;
	permute_init(&p, 100000, 1);
	permute_init(&q, 100000, 1);
	for (uint64_t i = 0; i < 100000; i++)
		assert_int_equal(permute_at(&p, i), permute_at(&q, i));
	permute_init(&q, 100000, 2);
	for (uint64_t i = 0; i < 100000; i++)
		same += permute_at(&p, i) == permute_at(&q, i);
	assert_true(same < 10);
}
