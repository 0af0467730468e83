/* SPDX-License-Identifier: MIT */
#include "lang_help.h"

/* Words are not changed; the type is that of main's argv. */
#define ARGV(...) ((char **)(const char *[]){ __VA_ARGS__, NULL })

static void
argv_same(char **argv, const char *want)
{
	struct spec_src src = { .argv = argv, .flags = SPEC_NO_CHECK };

	while (argv[src.argc])
		src.argc++;
	src.text = NULL;
	struct plan *p;
	struct err e = { 0 };
	struct buf out = { 0 };
	if (plan_make(&src, &p, &e))
		fail_msg("%s: %u:%u %s", argv[0], e.line, e.col, e.text);
	plan_canonical(p, 0, &out);
	plan_free(&p);
	assert_string_equal((char *)out.data, want);
	buf_clear(&out);
}

static void
argv_fails(char **argv, const char *text, unsigned col)
{
	struct spec_src src = { .argv = argv, .flags = SPEC_NO_CHECK };
	struct err e;

	while (argv[src.argc])
		src.argc++;
	help_fails_src(&src, &e);
	assert_string_equal(e.text, text);
	assert_int_equal(e.col, col);
}

static void
words_are_taken_whole(void **state)
{
	(void)state;
	argv_same(ARGV("lines", "a b", "it's", "x|y", "#c", "@n", "$HOME", "k=v", ")x", "-f"),
		  "lines 'a b' \"it's\" 'x|y' '#c' '@n' '$HOME' 'k=v' ')x' -f");
}

static void
words_that_are_marks_are_marks(void **state)
{
	(void)state;
	argv_same(ARGV("lines", "a", "then", "take", "3", "|", "skip", "1"), "lines a | take 3 | skip 1");
}

static void
expressions_run_over_words(void **state)
{
	(void)state;
	argv_same(ARGV("range", "9", "then", "filter", "x", "gt", "3", "and", "x", "lt", "8", "then", "take", "2"),
		  "range 9 | filter x > 3 and x < 8 | take 2");
	argv_same(ARGV("range", "9", "then", "map", "x*x", "on_error=skip"), "range 9 | map x * x on_error=skip");
	argv_same(ARGV("lines", "f", "then", "filter", "x", "matches", "/E|F/"), "lines f | filter x ~ /E|F/");
}

static void
groups_nest(void **state)
{
	(void)state;
	argv_same(ARGV("zip", "a=(range 3)", "b=(range 4 | take 2)", "then", "take", "1"),
		  "zip a=(range 3) b=(range 4 | take 2) | take 1");
	argv_same(ARGV("concat", "(", "range", "3", "then", "take", "2", ")", "(", "range", "1", ")"),
		  "concat (range 3 | take 2) (range 1)");
}

static void
one_word_is_a_text(void **state)
{
	(void)state;
	argv_same(ARGV("range 9|take 2 # c"), "range 9 | take 2");
}

static void
empty_words_never_parse_where_something_is_needed(void **state)
{
	(void)state;
	argv_fails(ARGV("range", "10", "then", "take", "", "then", "batch", "4"),
		   "n of `take`: '' is not a number (try 12, 12k)", 20);
	argv_fails(ARGV("range", "10", "then", "filter", "x", "gt", ""), "a value is missing after `gt`", 24);
}

static void
mistakes_have_a_place(void **state)
{
	(void)state;
	argv_fails(ARGV("range", "10", "then", "tak", "3"), "unknown operator `tak`", 15);
	argv_fails(ARGV("range", "10", "then"), "an operator is missing here", 10);
	argv_fails(ARGV("range 10", "take 5"), "unknown operator `range 10`", 1);
	argv_fails(ARGV("range", "10", "then", "batch", "4", "n0=3"), "`batch` has no option `n0`", 23);
}
