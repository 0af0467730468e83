/* SPDX-License-Identifier: MIT */
#include "lang_help.h"

#include <unistd.h>

static void
layout_and_comments_are_gone(void **state)
{
	(void)state;
	help_same("range   1_000|map x *x #c", "range 1000 | map x * x");
	help_same("# first\n\nrange 10\n  # between\n\n  | map x\n| batch 4\n", "range 10 | map x | batch 4");
	help_same("range 10 |\nbatch 4", "range 10 | batch 4");
	help_same("zip (range 3)\n\n  (range 4\n| take 2\n)", "zip (range 3) (range 4 | take 2)");
	help_same("dsvc 1; range 3;", "range 3");
	help_same("dsvc 1\n  options seed=auto\n  param n: int = 3\n  range @n\n    | take 2", "range 3 | take 2");
	help_same("range 3\r\n  | take 2\r\n", "range 3 | take 2");
}

static void
words_for_operators_are_signs(void **state)
{
	(void)state;
	help_same("range 9 | filter x gt 3 and not (x eq 5)", "range 9 | filter x > 3 and not x == 5");
	help_same("range 9 | filter x lt 3 || x ge 7", "range 9 | filter x < 3 or x >= 7");
}

static void
defaults_are_left_out_and_order_is_fixed(void **state)
{
	(void)state;
	help_same("range 9 | batch 4 drop_remainder=false", "range 9 | batch 4");
	help_same("range 9 | batch drop_remainder=yes n=4", "range 9 | batch 4 drop_remainder=true");
	help_same("range 0x10 | take 2k", "range 16 | take 2048");
	help_same("range 5 | repeat inf", "range 5 | repeat");
	help_same("range 5 | map x on_error=fail | filter x>1 on_error=retry:3",
		  "range 5 | map x | filter x > 1 on_error=retry:3");
	help_same("options on_error=skip; range 5 | map x on_error=fail",
		  "range 5 on_error=skip | map x");
}

static void
lets_and_parameters_are_written_out(void **state)
{
	(void)state;
	help_same("let big = | filter x > 3 | take 2\nlet r = range 10\nr | big",
		  "range 10 | filter x > 3 | take 2");
	help_same("let a = range 3\nconcat a a (a | skip 1)",
		  "concat (range 3) (range 3) (range 3 | skip 1)");
	help_same("param n: int = 4\nrange @n | filter x < @n | take $n | skip @{n}",
		  "range 4 | filter x < 4 | take 4 | skip 4");
	help_same("param n = (2*3)\nrange @n", "range 6");
	help_same("param f = \"a b\"\nlines @f x@{f}y \"@{f}\" '@{f}' a@f",
		  "lines 'a b' 'xa by' 'a b' '@{f}' 'a@f'");
	help_same("param t: duration = 500ms; param s: size = 4k; range @s", "range 4096");
	help_same("(range 5 | take 3) | skip 1", "range 5 | take 3 | skip 1");
}

static void
constants_are_worked_out(void **state)
{
	(void)state;
	help_same("range (2 + 3) | take (10 // 3)", "range 5 | take 3");
	help_same("elements [1, 1+1, \"x\", {a: null, b: [true]}, 1.5]",
		  "elements [1, 2, \"x\", {\"a\": null, \"b\": [true]}, 1.5]");
	help_same("range 3 | scan [0] [s[0] + x]", "range 3 | scan [0] [s[0] + x]");
	help_same("range 3 | scan -1 s * x", "range 3 | scan -1 s * x");
}

static void
words_are_quoted_when_they_must_be(void **state)
{
	(void)state;
	help_same("lines /logs/*.gz user@host a#b 'x=y.txt'", "lines /logs/*.gz 'user@host' 'a#b' 'x=y.txt'");
	help_same("lines \"it's\" 'a\"b' a\\ b \"\\x01\\n\\t\\\\\"",
		  "lines \"it's\" 'a\"b' 'a b' \"\\x01\\x0a\\x09\\\\\"");
	help_same("lines a\\*b 'x' \".y\" foo(1).txt", "lines 'a\\*b' 'x' '.y' 'foo(1).txt'");
	help_same("lines - -x '--'", "lines - -x '--'");
	help_same("lines '|' ';' ')' '(' \"@{\" '#'", "lines '|' ';' ')' '(' '@{' '#'");
}

static void
outer_elements_stay_expressions(void **state)
{
	(void)state;
	help_same("files a* | interleave (lines x | map {f: xx, l: x}) cycle=8",
		  "files a* | interleave (lines x | map {f: xx, l: x}) cycle=8");
	help_same("range 3 | interleave (range x)", "range 3 | interleave (range x)");
	help_same("range 3 | interleave (range (x + 1) (x * 2))",
		  "range 3 | interleave (range (x + 1) (x * 2))");
	help_same("elements [{n: 1}] | interleave (range .n)",
		  "elements [{\"n\": 1}] | interleave (range .n)");
	help_same("files a* | interleave (lines 'x')", "files a* | interleave (lines 'x')");
}

static void
names_of_files_can_be_absolute(void **state)
{
	struct spec_src src = { .text = "concat (lines /a/b ./c) (range 3)", .len = 33,
				.flags = SPEC_NO_CHECK };
	char *got, want[4300], cwd[4096];

	(void)state;
	assert_non_null(getcwd(cwd, sizeof cwd));
	got = help_canon_src(&src, CANON_ABSOLUTE);
	snprintf(want, sizeof want, "concat (lines /a/b %s/c) (range 3)", cwd);
	assert_string_equal(got, want);
	mem_free(got);
	help_same("lines ./c", "lines ./c");
}

static void
a_border_keeps_what_stands_ahead(void **state)
{
	(void)state;
	help_same("range 5|map x*x|distribute sharding=dynamic|map x+1",
		  "range 5 | map x * x | distribute | map x + 1");
	help_same("options seed=3; range 5 | take 2 per_stream=true | distribute",
		  "options seed=3; range 5 | take 2 per_stream=true | distribute");
	help_same("range 5 | take 2 | distribute sharding=off",
		  "range 5 | take 2 | distribute sharding=off");
}

static void
equal_specs_have_equal_ids(void **state)
{
	char a[DATASET_ID_LEN + 1], b[DATASET_ID_LEN + 1];

	(void)state;
	dataset_id("range 5", 7, a);
	dataset_id("range 5", 7, b);
	assert_string_equal(a, b);
	assert_int_equal(strlen(a), DATASET_ID_LEN);
	assert_int_equal(strspn(a, "0123456789abcdef"), DATASET_ID_LEN);
	dataset_id("range 6", 7, b);
	assert_string_not_equal(a, b);
}

static void
one_byte_has_one_spelling(void **state)
{
	(void)state;
	help_same("csv f delim=\\t", "csv f delim=\"\\x09\"");
	help_same("csv f delim='\\t'", "csv f delim=\"\\x09\"");
	help_same("csv f delim=\"\\t\"", "csv f delim=\"\\x09\"");
	help_same("lines f delim=\\0", "lines f delim='\\0'");
	help_same("lines f delim=\"\\x00\"", "lines f delim='\\0'");
}
