/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/pool.h"
#include "op/whole/group_by_lanes.h"

#include "spec_help.h"

/* Prints what the spec gives: up to `max` runs, with so many threads in the pool and for the stream itself. */
static void
giving_run(const char *text, uint32_t pool, uint32_t threads, unsigned max, struct buf *out)
{
	pool_set_size(pool);
	spec_print(text, threads, max, out);
	pool_set_size(0);
}

/* One thread, which makes no run ahead, gives `keys` records, and then `end`; several give the same. */
static void
giving_same(const char *text, size_t keys, char end)
{
	struct buf alone = { 0 };
	size_t n = 0;

	giving_run(text, 1, 1, UINT32_MAX, &alone);
	assert_int_equal(alone.data[alone.len - 1], end);
	for (size_t at = 0; at < alone.len; at++)
		n += alone.data[at] == ' ';
	assert_int_equal(n, keys);
	for (uint32_t pool = 2; pool <= 5; pool += 3) {
		for (uint32_t threads = 1; threads <= 7; threads += 3) {
			struct buf ahead = { 0 };

			giving_run(text, pool, threads, UINT32_MAX, &ahead);
			if (ahead.len != alone.len || memcmp(ahead.data, alone.data, alone.len))
				fail_msg("%s: a pool of %u, %u threads: something else than one", text, pool, threads);
			buf_clear(&ahead);
		}
	}
	buf_clear(&alone);
}

static void
runs_made_ahead_are_those_of_one_thread(void **state)
{
	/* few keys, so many that runs are made ahead, and one more or less than fills the last of them */
	static const unsigned keys[] = { 1, 511, 2047, 2048, 2049, 30011 };

	(void)state;
	for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
		char text[160];

		snprintf(text, sizeof text, "range 40000 | group_by x * 7919 %% %u n=count() m=mean(x) hi=max(x)", keys[k]);
		giving_same(text, keys[k], '.');
		snprintf(text, sizeof text, "range 40000 | group_by str(x * 7919 %% %u)", keys[k]);
		giving_same(text, keys[k], '.');
	}
}

static void
what_keys_have_is_given_whatever_its_size(void **state)
{
	(void)state;
	giving_same("range 9000 | group_by \"a_key_that_lies_outside_of_the_items_of_its_table_\" ++ str(x % 3000) n=count()",
		    3000, '.');
	giving_same("range 9000 | group_by x % 3000 agg=list", 3000, '.');
	giving_same("range 9000 | group_by x % 2900 agg=last of=pad(x, x % 2900 == 2000 ? 90000 : 4, \"-\")", 2900, '.');
	giving_same("range 30000 | group_by x % 3000 q=quantile(x, 0.3) d=distinct(x % 5)", 3000, '.');
	giving_same("range 9000 | group_by (x % 3000) / 1 init=0 reduce=s+x", 3000, '.');
}

/* 7000 records, and then the error. */
static void
a_key_without_a_result_fails_in_its_place(void **state)
{
	(void)state;
	giving_same("range 18000 | group_by x % 9000 s=sum(x % 9000 == 7000 ? 9223372036854775807 : 1)", 7000, '!');
}

/* Threads still make runs when the chain is closed. */
static void
it_may_end_after_some_runs(void **state)
{
	(void)state;
	for (unsigned max = 1; max < 9; max++)
		for (uint32_t threads = 1; threads <= 4; threads += 3) {
			struct buf alone = { 0 }, ahead = { 0 };

			giving_run("range 30000 | group_by x n=count()", 1, 1, max, &alone);
			giving_run("range 30000 | group_by x n=count()", 4, threads, max, &ahead);
			assert_true(ahead.len >= 5 * (size_t)max);
			/* runs of several tables have other sizes */
			size_t n = ahead.len < alone.len ? ahead.len : alone.len;
			assert_memory_equal(ahead.data, alone.data, n);
			buf_clear(&alone);
			buf_clear(&ahead);
		}
}

/* A second pass groups anew. */
static void
it_may_be_repeated(void **state)
{
	(void)state;
	giving_same("range 6000 | group_by x % 2500 n=count() | repeat 3", 7500, '.');
}
