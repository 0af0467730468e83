/* SPDX-License-Identifier: MIT */
#include "core/cut.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"

enum { UNITS = 6, WIDTH = 400 };

static void
add_range(struct split_list *l, uint32_t leaf, uint64_t start, uint64_t count)
{
	struct split s = { .kind = SPLIT_RANGE, .leaf = leaf, .cuttable = true, .start = start,
		.count = count, .times = 1, .weight = count };

	split_list_add(l, &s);
}

static void
add_file(struct split_list *l, const char *path, uint64_t bytes, bool cuttable)
{
	struct split s = { .kind = SPLIT_FILE, .path = (char *)(uintptr_t)path, .whole = !cuttable,
		.cuttable = cuttable, .count = cuttable ? bytes : 0, .times = 1, .weight = bytes };

	split_list_add(l, &s);
}

/* Everything exactly `times` times, whatever the units and however often the
 * cutting is taken down and set up again from its position. */
static void
every_place_is_dealt_out_once(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed < 3000; seed++) {
		struct rng r = { seed, 0 };
		struct split_list units = { 0 }, again = { 0 };
		unsigned seen[UNITS][WIDTH] = { { 0 } }, n = 1 + (unsigned)rng_below(&r, UNITS);
		uint64_t size[UNITS], times = 1 + rng_below(&r, rng_below(&r, 2) ? 1000 : 3);
		struct cut c;
		struct split s = { 0 };
		bool ordered = rng_below(&r, 2), small = rng_below(&r, 2);

		for (unsigned u = 0; u < n; u++) {
			size[u] = 1 + rng_below(&r, WIDTH);
			add_range(&units, u, 0, size[u]);
			units.v[u].cuttable = rng_below(&r, 4) != 0;
			split_list_add(&again, &units.v[u]);
		}
		cut_open(&c, &units, times, ordered);
		c.small = small;
		while (cut_left(&c)) {
			assert_true(cut_streams(&c, 100) >= 1);
			assert_true(cut_next(&c, 1 + (uint32_t)rng_below(&r, 8), &s));
			assert_true(s.times >= 1 && s.count >= 1);
			for (uint64_t k = s.start; k < s.start + s.count; k++)
				seen[s.leaf][k] += (unsigned)s.times;
			split_clear(&s);
			if (rng_below(&r, 8) == 0) {
				struct split_list l = { 0 };
				struct cut_pos pos = c.pos;
				uint64_t rest = c.rest_weight;

				for (unsigned u = 0; u < n; u++)
					split_list_add(&l, &again.v[u]);
				cut_clear(&c);
				cut_open(&c, &l, times, ordered);
				c.small = small;
				cut_seek(&c, pos);
				assert_int_equal(c.rest_weight, rest);
			}
		}
		assert_false(cut_next(&c, 1, &s));
		for (unsigned u = 0; u < n; u++)
			for (uint64_t k = 0; k < size[u]; k++)
				assert_int_equal(seen[u][k], times);
		cut_clear(&c);
		split_list_clear(&again);
	}
}

/* Whole units, each with its place in the list of its source, also after a restart. */
static void
units_that_stay_whole_count_in_their_source(void **state)
{
	static const uint64_t places[] = { 0, 1, 2, 0, 1, 0, 1, 2, 0, 1 };
	struct cut c = { 0 };
	struct split s = { 0 };

	(void)state;
	for (size_t at = 0; at <= 10; at++) {
		struct split_list units = { 0 };
		struct cut_pos pos = c.pos;

		for (unsigned i = 0; i < 5; i++)
			add_range(&units, i >= 3, 0, 1000000000);
		cut_clear(&c);
		cut_open(&c, &units, 2, true);
		c.whole = true;
		cut_seek(&c, pos);
		assert_int_equal(cut_least(&c), 2);
		if (at == 10)
			break;
		assert_int_equal(cut_place(&c), places[at]);
		assert_true(cut_next(&c, 2, &s));
		assert_int_equal(s.count, 1000000000);
		assert_int_equal(s.times, 1);
		if (cut_left(&c))
			assert_int_equal(cut_place(&c), places[at + 1]);
		split_clear(&s);
	}
	assert_false(cut_left(&c));
	cut_clear(&c);
	assert_int_equal(cut_least(&c), 0);
}

static void
splits_grow_small_towards_the_end(void **state)
{
	struct split_list units = { 0 };
	struct cut c;
	struct split s = { 0 };
	uint64_t before = UINT64_MAX, n = 0, sum = 0;

	(void)state;
	add_range(&units, 0, 0, 1000000000);
	cut_open(&c, &units, 1, false);
	while (cut_next(&c, 4, &s)) {
		assert_true(s.count <= before + before / 2);
		assert_true(s.count >= CUT_MIN_ELEMENTS);
		before = s.count;
		sum += s.count;
		n++;
		split_clear(&s);
	}
	assert_int_equal(sum, 1000000000);
	assert_in_range(n, 50, 400);
	cut_clear(&c);
}

static void
files_go_largest_first_and_pieces_are_bounded(void **state)
{
	struct split_list units = { 0 };
	struct cut c;
	struct split s = { 0 };

	(void)state;
	add_file(&units, "a", 10, false);
	add_file(&units, "b", 1ull << 34, true);
	add_file(&units, "c", 1000, false);
	cut_open(&c, &units, 1, false);
	assert_true(cut_next(&c, 1, &s));
	assert_string_equal(s.path, "b");
	assert_int_equal(s.count, CUT_MAX_BYTES);
	split_clear(&s);
	uint64_t at = CUT_MAX_BYTES;
	while (cut_next(&c, 1, &s) && !strcmp(s.path, "b")) {
		assert_int_equal(s.start, at);
		at += s.count;
		split_clear(&s);
	}
	assert_int_equal(at, 1ull << 34);
	assert_string_equal(s.path, "c");
	assert_true(s.whole);
	split_clear(&s);
	assert_true(cut_next(&c, 1, &s));
	assert_string_equal(s.path, "a");
	split_clear(&s);
	assert_false(cut_next(&c, 1, &s));
	cut_clear(&c);
}

static void
small_passes_are_read_many_times_in_a_row(void **state)
{
	struct split_list units = { 0 };
	struct cut c;
	struct split s = { 0 };
	uint64_t n = 0, sum = 0;

	(void)state;
	add_range(&units, 0, 0, 10);
	cut_open(&c, &units, 1000000, false);
	while (cut_next(&c, 2, &s)) {
		sum += s.times * s.count;
		n++;
		split_clear(&s);
	}
	assert_int_equal(sum, 10000000);
	assert_true(n < 200);
	cut_clear(&c);
}

static void
endless_sources_never_run_out(void **state)
{
	struct split_list units = { 0 };
	struct cut c;
	struct split s = { 0 };
	uint64_t at = 5;

	(void)state;
	add_range(&units, 0, 5, INT64_MAX);
	cut_open(&c, &units, 1, false);
	for (int i = 0; i < 1000; i++) {
		assert_true(cut_next(&c, 3, &s));
		assert_int_equal(s.start, at);
		assert_int_equal(s.count, CUT_ENDLESS_ELEMENTS);
		at += s.count;
		split_clear(&s);
	}
	cut_clear(&c);
	add_range(&units, 0, 0, 3);
	add_range(&units, 1, 0, 3);
	cut_open(&c, &units, 0, false);
	for (int i = 0; i < 1000; i++) {
		assert_true(cut_next(&c, 3, &s));
		assert_int_equal(s.leaf, i & 1);
		assert_true(s.times > 10000);
		split_clear(&s);
	}
	cut_clear(&c);
}

static void
small_work_takes_few_streams(void **state)
{
	struct split_list units = { 0 };
	struct cut c;

	(void)state;
	add_range(&units, 0, 0, 10);
	cut_open(&c, &units, 1, false);
	assert_int_equal(cut_streams(&c, 10000), 1);
	cut_clear(&c);
	add_range(&units, 0, 0, 1000000000);
	cut_open(&c, &units, 1, false);
	assert_int_equal(cut_streams(&c, 10000), 10000);
	cut_clear(&c);
	for (int i = 0; i < 7; i++)
		add_file(&units, "f", 10, false);
	cut_open(&c, &units, 1, false);
	assert_int_equal(cut_streams(&c, 10000), 7);
	cut_clear(&c);
	/* An order of 1000 elements: of numbers, of images, of names of files. */
	for (int i = 0; i < 3; i++) {
		add_range(&units, 0, 0, 3000);
		units.v[0].of = 1000;
		units.v[0].weight = (uint64_t[]){ 0, 1000 * 300000, 1000 * (uint64_t)CUT_MIN_BYTES }[i];
		cut_open(&c, &units, 1, false);
		assert_int_equal(cut_streams(&c, 10000), ((uint32_t[]){ 1, 3000 / 13, 3000 })[i]);
		cut_clear(&c);
	}
}

/* Units 0 and 1 grow; unit 2 is a range of 10. All `times` times; the end of a unit is told when splits lie
 * behind it, and in between the units and the position are taken up again as they were stored. */
static void
what_grows_is_dealt_one_by_one_and_ends(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < 300; seed++) {
		struct rng r = { seed, 0 };
		uint64_t size[3] = { rng_below(&r, 4), rng_below(&r, 4), 10 }, times = 1 + rng_below(&r, 3);
		struct split_list units = { 0 }, copy = { 0 };
		struct split one = { .kind = SPLIT_RANGE, .cuttable = true, .grows = true, .count = INT64_MAX, .times = 1 };
		struct split s = { 0 };
		unsigned seen[3][16] = { { 0 } }, cuts = 0;
		struct cut c;

		split_list_add(&units, &one);
		one.leaf = 1;
		split_list_add(&units, &one);
		add_range(&units, 2, 0, 10);
		cut_open(&c, &units, times, false);
		while (cut_next(&c, 1 + (uint32_t)rng_below(&r, 3), &s)) {
			assert_true(++cuts < 300);
			for (uint64_t k = s.start; k < s.start + s.count && k < size[s.leaf]; k++)
				seen[s.leaf][k] += (unsigned)s.times;
			if (s.leaf < 2 && s.start + s.count > size[s.leaf] && rng_below(&r, 2))
				cut_ends(&c, s.leaf, size[s.leaf]);
			split_clear(&s);
			if (rng_below(&r, 3))
				continue;
			struct cut_pos pos = c.pos;
			for (size_t i = 0; i < c.units.n; i++)
				split_list_add(&copy, &c.units.v[i]);
			cut_clear(&c);
			cut_open(&c, &copy, times, false);
			cut_seek(&c, pos);
		}
		for (unsigned u = 0; u < 3; u++)
			for (unsigned k = 0; k < 16; k++)
				assert_int_equal(seen[u][k], k < size[u] ? times : 0);
		assert_false(cut_ends(&c, 2, 3));
		cut_clear(&c);
	}
}

static void
what_grew_to_nothing_is_over_also_if_it_is_read_for_ever(void **state)
{
	struct split_list units = { 0 };
	struct split one = { .kind = SPLIT_RANGE, .cuttable = true, .grows = true, .count = INT64_MAX, .times = 1 };
	struct split s = { 0 };
	struct cut c;

	(void)state;
	split_list_add(&units, &one);
	cut_open(&c, &units, 0, false);
	assert_true(cut_next(&c, 1, &s));
	assert_true(cut_ends(&c, 0, 0));
	assert_false(cut_ends(&c, 0, 0));
	assert_false(cut_next(&c, 1, &s));
	cut_clear(&c);
}
