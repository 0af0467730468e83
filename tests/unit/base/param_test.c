/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/param.h"

struct box {
	int64_t n, size, wait;
	double rate;
	bool on;
	char *name;
	struct words files;
	int order;
};

static const struct param rows[] = {
	{ .name = "n", .kind = PARAM_INT, .offset = offsetof(struct box, n), .def = "auto",
	  .flags = PARAM_ALLOW_AUTO | PARAM_ALLOW_INF, .min = 1, .max = 100 },
	{ .name = "size", .kind = PARAM_SIZE, .offset = offsetof(struct box, size), .def = "64k",
	  .min = 1024, .max = 1 << 30 },
	{ .name = "wait", .kind = PARAM_DURATION, .offset = offsetof(struct box, wait), .def = "2s",
	  .min = 1000000, .max = 60000000000 },
	{ .name = "rate", .kind = PARAM_FLOAT, .offset = offsetof(struct box, rate), .def = "0.5",
	  .max = 1 },
	{ .name = "on", .kind = PARAM_BOOL, .offset = offsetof(struct box, on), .def = "yes" },
	{ .name = "name", .kind = PARAM_WORD, .offset = offsetof(struct box, name), .def = "x" },
	{ .name = "files", .kind = PARAM_WORDS, .offset = offsetof(struct box, files),
	  .flags = PARAM_OPTIONAL },
	{ .name = "order", .kind = PARAM_CHOICE, .offset = offsetof(struct box, order),
	  .def = "stable", .choices = "any|stable|source" },
	{ 0 },
};

static enum status
box_set(struct box *b, const char *name, const char *text, struct err *e)
{
	return param_set(param_find(rows, name, strlen(name)), b, text, strlen(text), e);
}

static void
defaults_are_what_the_rows_say(void **state)
{
	struct box b = { 0 };

	(void)state;
	param_defaults(rows, &b);
	assert_true(b.n == PARAM_AUTO);
	assert_int_equal(b.size, 65536);
	assert_true(b.wait == 2000000000);
	assert_true(b.rate == 0.5);
	assert_true(b.on);
	assert_string_equal(b.name, "x");
	assert_int_equal(b.order, 1);
	assert_int_equal(param_count(rows), 8);
	param_clear(rows, &b);
	assert_null(b.name);
	param_clear(rows, &b);
}

static void
values_are_read_by_kind(void **state)
{
	struct box b = { 0 };
	struct err e = { 0 };

	(void)state;
	assert_int_equal(box_set(&b, "n", "7", &e), ST_OK);
	assert_int_equal(b.n, 7);
	assert_int_equal(box_set(&b, "n", "inf", &e), ST_OK);
	assert_true(b.n == INT64_MAX);
	assert_int_equal(box_set(&b, "order", "source", &e), ST_OK);
	assert_int_equal(b.order, 2);
	assert_int_equal(box_set(&b, "files", "a", &e), ST_OK);
	assert_int_equal(box_set(&b, "files", "b", &e), ST_OK);
	assert_int_equal(b.files.n, 2);
	assert_string_equal(b.files.v[1], "b");
	assert_null(b.files.v[2]);
	assert_int_equal(box_set(&b, "name", "one", &e), ST_OK);
	assert_int_equal(box_set(&b, "name", "two", &e), ST_OK);
	assert_string_equal(b.name, "two");
	param_clear(rows, &b);
}

static void
refused(const char *name, const char *text, const char *why)
{
	struct box b = { 0 };
	struct err e = { 0 };

	assert_int_equal(box_set(&b, name, text, &e), ST_USAGE);
	assert_string_equal(e.text, why);
	param_clear(rows, &b);
}

static void
wrong_values_are_refused_with_a_sentence(void **state)
{
	(void)state;
	refused("n", "12x", "'12x' is not a number (try 12, 12k)");
	refused("n", "1.5", "'1.5' is not written as a whole number");
	refused("n", "99999999999999999999", "'99999999999999999999' does not fit 64 bits");
	refused("n", "0", "'0' is too small: it must be at least 1");
	refused("n", "101", "'101' is too large: it must be at most 100");
	refused("size", "1", "'1' is too small: it must be at least 1k");
	refused("size", "auto", "'auto' is not a size (try 64k, 10M, 1.5G)");
	refused("wait", "1us", "'1us' is too short: it must be at least 1ms");
	refused("wait", "1h", "'1h' is too long: it must be at most 1m");
	refused("rate", "x", "'x' is not a number (try 0.5)");
	refused("rate", "1.5", "'1.5' is too large: it must be at most 1");
	refused("on", "maybe", "'maybe' is neither true nor false");
	refused("order", "stabel", "'stabel' is not one of any, stable, source");
	refused("n", "", "'' is not a number (try 12, 12k)");
	refused("n", "1\n2", "'1 2' is not a number (try 12, 12k)");
}

static void
a_misspelt_choice_gets_a_suggestion(void **state)
{
	struct box b = { 0 };
	struct err e = { 0 };

	(void)state;
	box_set(&b, "order", "stabel", &e);
	assert_string_equal(e.help, "did you mean `stable`?");
}

static void
long_wrong_values_are_cut(void **state)
{
	struct box b = { 0 };
	struct err e = { 0 };
	char text[5000];

	(void)state;
	memset(text, 'z', sizeof text);
	assert_int_equal(param_set(&rows[0], &b, text, sizeof text, &e), ST_USAGE);
	assert_true(strlen(e.text) < 200);
	assert_int_equal(param_set(&rows[7], &b, text, sizeof text, &e), ST_USAGE);
	assert_true(strlen(e.text) < 200);
}

static void
names_are_found_whole(void **state)
{
	char word[8];

	(void)state;
	assert_ptr_equal(param_find(rows, "size=5", 4), &rows[1]);
	assert_null(param_find(rows, "siz", 3));
	assert_null(param_find(rows, "sizes", 5));
	assert_true(param_choice("any|stable", 1, word, sizeof word));
	assert_string_equal(word, "stable");
	assert_false(param_choice("any|stable", 2, word, sizeof word));
}

struct asked {
	char *name;
	uint64_t seed, shards;
	int policy;
	bool seeded;
};

static const struct param asked_rows[] = {
	{ .name = "name", .kind = PARAM_WORD, .offset = offsetof(struct asked, name), .flags = PARAM_OPTIONAL },
	{ .name = "seed", .kind = PARAM_INT, .offset = offsetof(struct asked, seed),
	  .given = offsetof(struct asked, seeded), .def = "auto", .flags = PARAM_ALLOW_AUTO | PARAM_ZERO },
	{ .name = "shards", .kind = PARAM_INT, .offset = offsetof(struct asked, shards), .def = "auto",
	  .flags = PARAM_ALLOW_AUTO | PARAM_ZERO, .min = 1, .max = 9 },
	{ .name = "policy", .kind = PARAM_CHOICE, .offset = offsetof(struct asked, policy), .def = "on",
	  .choices = "off|on|never", .values = (const int[]){ 0, 1, 0 } },
	{ 0 },
};

static void
asked_set(struct asked *a, const char *name, const char *text)
{
	assert_int_equal(param_set(param_find(asked_rows, name, strlen(name)), a, text, strlen(text), NULL), ST_OK);
}

static void
a_number_that_is_not_given_is_zero_and_known_as_such(void **state)
{
	const struct param *seed = &asked_rows[1], *shards = &asked_rows[2];
	struct asked a = { .seed = 5, .shards = 5, .seeded = true };

	(void)state;
	param_defaults(asked_rows, &a);
	assert_true(a.seed == 0 && !a.seeded && a.shards == 0);
	assert_false(param_given(seed, &a));
	assert_false(param_given(shards, &a));
	asked_set(&a, "seed", "0");
	asked_set(&a, "shards", "3");
	assert_true(a.seed == 0 && a.seeded && a.shards == 3);
	assert_true(param_given(seed, &a));
	assert_true(param_given(shards, &a));
}

static void
another_word_for_a_choice_is_the_same_choice(void **state)
{
	struct asked a = { 0 }, b = { 0 };

	(void)state;
	param_defaults(asked_rows, &a);
	param_defaults(asked_rows, &b);
	assert_true(param_same(&asked_rows[3], &a, &b));
	asked_set(&a, "policy", "never");
	assert_int_equal(a.policy, 0);
	assert_false(param_same(&asked_rows[3], &a, &b));
	asked_set(&b, "policy", "off");
	assert_true(param_same(&asked_rows[3], &a, &b));
	/* 0 and `auto` are not the same seed */
	asked_set(&a, "seed", "0");
	assert_false(param_same(&asked_rows[1], &a, &b));
}

static void
copied_fields_are_those_of_the_rows(void **state)
{
	struct asked from = { 0 }, to = { 0 };

	(void)state;
	asked_set(&from, "name", "train");
	asked_set(&from, "seed", "7");
	from.shards = 4;
	to.policy = 1;
	param_copy(asked_rows, &to, &from);
	assert_ptr_equal(to.name, from.name);
	assert_true(to.seed == 7 && to.seeded && to.shards == 4 && to.policy == 0);
	param_clear(asked_rows, &from);
}
