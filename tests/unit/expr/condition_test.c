/* SPDX-License-Identifier: MIT
 * What a test asks of single fields, and what parts of the data these conditions leave out: never one in which an
 * element passes, or fails. */
#include "expr/condition.h"

#include "base/rng.h"
#include "expr_help.h"

static void
finds(const char *test, const char *want, bool whole)
{
	struct conditions *c = mem_zalloc(sizeof *c);
	const struct json_rules rules = { 0 };
	struct buf text = { 0 };
	struct help h;

	if (!help_compile(&h, test, NULL))
		fail_msg("%s: %s", test, h.e.text);
	assert_int_equal(conditions_find(h.ast, false, &rules, c), whole);
	conditions_print(c, &text);
	buf_byte(&text, 0);
	assert_string_equal((char *)text.data, want);
	buf_clear(&text);
	conditions_free(&c);
	assert_null(c);
	help_clear(&h);
}

static void
are_those_at_the_beginning_of_a_conjunction(void **state)
{
	(void)state;
	finds(".a > 10", ".a > 10", true);
	finds("x.a == null", ".a == null", true);
	finds("10 >= .a", "10 >= .a", true);
	finds(".a in [1, 2 + 3] and .b != \"x\"", ".a in [1, 2 + 3] and .b != \"x\"", true);
	finds(".a > 1 and (.b > 2 and .c > 3) and .d > 4", ".a > 1 and .b > 2 and .c > 3 and .d > 4", true);
	finds(".a > 1 and len(.b) > 2 and .c > 3", ".a > 1", false);
	finds("len(.b) > 2 and .a > 1", "", false);
	finds(".a > 1 or .b > 2", "", false);
	finds("not (.a > 1)", "", false);
	finds(".a > .b", "", false);
	finds(".a.b > 1", "", false);
	finds(".a > i", "", false);
	finds("x > 1", "", false);
	finds("1 in .a", "", false);
	finds(".a < 0.0 / 0.0", "", false);
	finds(".a in [1.0, 0.0 / 0.0]", "", false);
	finds(".a == true and .a", ".a == true", false);
}

static void
are_bounded(void **state)
{
	struct conditions *c = mem_zalloc(sizeof *c);
	const struct json_rules rules = { 0 };
	struct help h;

	(void)state;
	assert_true(help_compile(&h, ".a > 1", NULL));
	for (size_t i = 0; i < CONDITIONS_MAX; i++)
		assert_true(conditions_find(h.ast, false, &rules, c));
	assert_false(conditions_find(h.ast, false, &rules, c));
	assert_int_equal(c->n, CONDITIONS_MAX);
	conditions_free(&c);
	help_clear(&h);
}

/* The limits of a part as JSON, NULL: not known. */
struct part {
	const char *least, *greatest;
	int kind;
	int64_t n, nulls;
};

static bool
left_out(const char *test, bool drops_nulls, const struct part *p)
{
	struct conditions *c = mem_zalloc(sizeof *c);
	struct condition_limits limits[CONDITIONS_MAX];
	const struct json_rules rules = { 0 };
	struct buf least = { 0 }, greatest = { 0 };
	struct help h;

	if (!help_compile(&h, test, NULL))
		fail_msg("%s: %s", test, h.e.text);
	conditions_find(h.ast, drops_nulls, &rules, c);
	if (p->least) {
		help_encode(p->least, &least);
		help_encode(p->greatest, &greatest);
	}
	for (size_t i = 0; i < c->n; i++) {
		limits[i] = (struct condition_limits){ .least = least.data, .least_len = least.len,
			.greatest = greatest.data, .greatest_len = greatest.len, .n = p->n, .nulls = p->nulls };
		limits[i].kind = p->kind;
	}
	bool is = conditions_exclude(c, limits);
	buf_clear(&least);
	buf_clear(&greatest);
	conditions_free(&c);
	help_clear(&h);
	return is;
}

static void
leave_out_what_is_outside_the_limits(void **state)
{
	const struct part ints = { "10", "20", CONDITION_INT, 5, 0 }, one = { "7", "7", CONDITION_INT, 5, 0 };
	const struct part words = { "\"b\"", "\"d\"", CONDITION_TEXT, 5, 0 };
	const struct part floats = { "7.0", "7.0", CONDITION_FLOAT, 5, 0 };
	static const char *const out[] = { ".a < 10", ".a <= 9", ".a > 20", ".a >= 20.5", ".a == 9", ".a == 21", "21 <= .a",
					   ".a in [1, 30]", ".a in []", ".a == null", ".a > 0 and .a > 20" };
	static const char *const in[] = { ".a < 11", ".a <= 10", ".a > 19", ".a >= 20", ".a == 15", ".a != 15", "20 <= .a",
					  ".a in [1, 12]", ".a != null", ".a > 0 and .a > 10" };

	(void)state;
	for (size_t i = 0; i < COUNT(out); i++)
		if (!left_out(out[i], false, &ints))
			fail_msg("%s", out[i]);
	for (size_t i = 0; i < COUNT(in); i++)
		if (left_out(in[i], false, &ints))
			fail_msg("%s", in[i]);
	assert_true(left_out(".a != 7", false, &one));
	assert_false(left_out(".a != 7", false, &floats)); /* nan may be among them */
	assert_true(left_out(".a > \"d\"", false, &words));
	assert_false(left_out(".a > \"c\"", false, &words));
}

static void
leave_out_nothing_in_which_a_test_could_fail(void **state)
{
	const struct part some = { "10", "20", CONDITION_INT, 5, 2 }, unsure = { "10", "20", CONDITION_INT, 5, -1 };
	const struct part all = { NULL, NULL, CONDITION_INT, 5, 5 }, unknown = { "10", "20", CONDITION_UNKNOWN, 5, 0 };
	const struct part ints = { "10", "20", CONDITION_INT, 5, 0 };

	(void)state;
	assert_false(left_out(".a > 20", false, &some));
	assert_true(left_out(".a > 20", true, &some));
	assert_false(left_out(".a > 20", false, &unsure));
	assert_true(left_out(".a > 20", true, &unsure));
	assert_true(left_out(".a == 21", false, &some));
	assert_false(left_out(".a == null", false, &some));
	assert_false(left_out(".a == null", false, &unsure));
	assert_false(left_out(".a in [30, null]", false, &some));
	assert_false(left_out(".a > 20", false, &all));
	assert_true(left_out(".a > 20", true, &all));
	assert_true(left_out(".a == 15", false, &all));
	assert_true(left_out(".a != null", false, &all));
	assert_false(left_out(".a != 15", false, &all));
	assert_false(left_out(".a > 20", false, &unknown));
	assert_false(left_out(".a > \"x\"", false, &ints));
	assert_false(left_out(".a > 10 and .a > 20", false, &some));
}

/* Parts of random elements and random tests: whatever passes or fails is in no part that is left out. */
static void
leave_out_no_element_that_matters(void **state)
{
	static const char *const ops[] = { "==", "!=", "<", "<=", ">", ">=" };
	struct rng r = { 5, 0 };
	size_t outs = 0;

	(void)state;
	for (size_t k = 0; k < 3000; k++) {
		bool has_nulls = rng_below(&r, 3) == 0, drops = rng_below(&r, 2), matters = false;
		long low = (long)rng_below(&r, 8), high = low + (long)rng_below(&r, 4), n = 0, nulls = 0;
		char test[80], a[32], b[32];

		snprintf(test, sizeof test, ".a %s %u and %u%s %s .a", ops[rng_below(&r, 6)],
			 (unsigned)rng_below(&r, 12), (unsigned)rng_below(&r, 12), rng_below(&r, 2) ? ".5" : "",
			 ops[rng_below(&r, 6)]);
		for (long v = low - has_nulls; v <= high; v++, n++) {
			char x[40];

			nulls += v < low;
			snprintf(x, sizeof x, v < low ? "{\"a\": null}" : "{\"a\": %ld}", v);
			char *got = help_eval_typed(test, x, NULL);
			matters = matters || !strcmp(got, "true") || (!drops && !strncmp(got, "error", 5));
			mem_free(got);
		}
		snprintf(a, sizeof a, "%ld", low);
		snprintf(b, sizeof b, "%ld", high);
		bool out = left_out(test, drops, &(struct part){ a, b, CONDITION_INT, n, nulls });
		if (out && matters)
			fail_msg("%s between %s and %s, %ld nulls", test, a, b, nulls);
		outs += out;
	}
	assert_in_range(outs, 500, 2500);
}
