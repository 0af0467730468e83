/* SPDX-License-Identifier: MIT */
#include "value/round.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void
places_are_read(void **state)
{
	static const struct { const char *text; uint32_t of, first, n; } cases[] = {
		{ "0/1", 1, 0, 1 }, { "2/4", 4, 2, 1 }, { "0-3/8", 8, 0, 4 }, { "7-7/8", 8, 7, 1 },
		{ "", 1, 0, 1 }, { NULL, 1, 0, 1 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct round_part p;
		struct err e;

		assert_int_equal(round_parse(cases[i].text, &p, &e), ST_OK);
		assert_int_equal(p.of, cases[i].of);
		assert_int_equal(p.first, cases[i].first);
		assert_int_equal(p.n, cases[i].n);
		assert_true(round_ok(&p));
	}
}

static void
what_is_no_place_is_refused(void **state)
{
	static const char *const bad[] = { "2", "/", "1/", "/4", "4/4", "a/4", "1/b", "-1/4",
		"3-2/4", "0-4/4", "0/0", "0/10001",
		"1/4/5", "1-/4", "0/4-5" };

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct round_part p;
		struct err e = { 0 };

		assert_int_equal(round_parse(bad[i], &p, &e), ST_USAGE);
		assert_non_null(strstr(e.text, bad[i]));
	}
}

static void
each_element_is_in_one_part_and_keeps_its_order(void **state)
{
	static const struct round_part parts[] = { { 7, 0, 1 }, { 7, 1, 4 }, { 7, 5, 2 } };
	uint64_t k[3] = { 0 };

	(void)state;
	for (uint64_t o = 0; o < 100; o++)
		for (size_t i = 0; i < 3; i++) {
			bool mine = o % 7 >= parts[i].first && o % 7 < parts[i].first + parts[i].n;

			assert_int_equal(round_below(&parts[i], o), k[i]);
			if (mine)
				assert_int_equal(round_at(&parts[i], k[i]++), o);
		}
	assert_true(round_meet(&parts[1], &(struct round_part){ 7, 4, 2 }));
	assert_false(round_meet(&parts[0], &parts[1]));
	assert_true(round_meet(&parts[0], &(struct round_part){ 8, 7, 1 })); /* other rounds */
}

static void
large_offsets_do_not_wrap(void **state)
{
	struct round_part all = ROUND_ALL, part = { 3, 1, 1 };

	(void)state;
	assert_true(round_at(&all, UINT64_MAX - 1) == UINT64_MAX - 1);
	assert_true(round_below(&all, UINT64_MAX) == UINT64_MAX);
	assert_true(round_at(&part, UINT64_MAX / 2) == UINT64_MAX);
	assert_false(round_ok(&(struct round_part){ 0, 0, 1 }));
	assert_false(round_ok(&(struct round_part){ 4, 2, 3 }));
	assert_false(round_ok(&(struct round_part){ 4, 0, 0 }));
}
