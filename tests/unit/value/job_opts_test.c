/* SPDX-License-Identifier: MIT */
#include "value/job_opts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void
a_list_of_shards_is_read_and_sorted(void **state)
{
	struct job_shards s;
	struct err e;

	(void)state;
	assert_int_equal(job_shards_parse("7,0,12,7", &s, &e), ST_OK);
	assert_int_equal(s.n, 3);
	assert_int_equal(s.v[0], 0);
	assert_int_equal(s.v[1], 7);
	assert_int_equal(s.v[2], 12);
	assert_true(job_shards_has(&s, 12));
	assert_false(job_shards_has(&s, 1));
	job_shards_clear(&s);
}

static void
no_list_is_all_of_them(void **state)
{
	struct job_shards s, one;
	struct err e;

	(void)state;
	assert_int_equal(job_shards_parse(NULL, &s, &e), ST_OK);
	assert_int_equal(job_shards_parse("", &s, &e), ST_OK);
	assert_int_equal(s.n, 0);
	assert_true(job_shards_has(&s, 99));
	assert_int_equal(job_shards_parse("3", &one, &e), ST_OK);
	assert_true(job_shards_meet(&s, &one));
	assert_true(job_shards_meet(&one, &s));
	job_shards_clear(&one);
}

static void
lists_meet_in_a_shard_that_both_have(void **state)
{
	struct job_shards a, b, c;
	struct err e;

	(void)state;
	assert_int_equal(job_shards_parse("0,2,4", &a, &e), ST_OK);
	assert_int_equal(job_shards_parse("1,3", &b, &e), ST_OK);
	assert_int_equal(job_shards_parse("3,4", &c, &e), ST_OK);
	assert_false(job_shards_meet(&a, &b));
	assert_true(job_shards_meet(&a, &c));
	assert_true(job_shards_meet(&c, &b));
	job_shards_clear(&a);
	job_shards_clear(&b);
	job_shards_clear(&c);
}

static void
what_is_no_list_of_shards_is_refused(void **state)
{
	static const char *const wrong[] = { ",", "1,", ",1", "1,,2", "-1", "x", "1 2", "1.5", "100000",
		"99999999999999999999" };
	struct job_shards s;
	struct err e;

	(void)state;
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		assert_int_equal(job_shards_parse(wrong[i], &s, &e), ST_USAGE);
		assert_non_null(strstr(e.text, wrong[i]));
		assert_null(s.v);
	}
}
