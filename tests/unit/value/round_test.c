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

static void
the_last_are_spread_evenly_and_keep_their_order(void **state)
{
	(void)state;
	for (uint32_t of = 2; of <= 12; of++)
		for (uint64_t all = 0; all <= 30; all++) {
			uint64_t end = (all + of - 1) / of * of, begin = all - all % of;
			bool has[64] = { false };

			for (uint64_t k = 0; k < end; k++) {
				uint64_t at = round_spread(of, all, k);

				assert_true(at < end && !has[at]);
				has[at] = true;
				if (k < begin)
					assert_int_equal(at, k);
				else if (k > begin && k != all) /* real ones, and what fills up, each in order */
					assert_true(at > round_spread(of, all, k - 1));
			}
			for (uint32_t parts = 1; parts <= of && all % of; parts++) {
				if (of % parts) /* consumers of a like number of places get as many, or one more */
					continue;
				for (uint32_t i = 0; i < parts; i++) {
					struct round_part p = { of, i * (of / parts), of / parts };
					uint64_t n = round_spread_below(&p, all, all) - round_spread_below(&p, all, begin);

					assert_true(n == all % of / parts || n == all % of / parts + 1);
				}
			}
		}
}

static void
elements_of_a_part_are_counted_where_they_are_spread(void **state)
{
	(void)state;
	for (uint32_t of = 2; of <= 9; of++)
		for (uint64_t all = 0; all <= 20; all++)
			for (uint32_t first = 0; first < of; first++)
				for (uint32_t n = 1; n <= of - first; n++) {
					struct round_part p = { of, first, n };
					uint64_t below = 0;

					for (uint64_t k = 0; k <= (all + of - 1) / of * of; k++) {
						uint64_t at = round_spread(of, all, k) % of;

						assert_int_equal(round_spread_below(&p, all, k), below);
						below += at >= first && at < first + n;
					}
				}
}
