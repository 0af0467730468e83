/* SPDX-License-Identifier: MIT */
#include "expr_help.h"

#define I64 "9223372036854775807"
#define M64 "-9223372036854775808"
#define U64 "18446744073709551615"

static void
integers_are_exact_to_both_ends(void **state)
{
	static const struct help_row rows[] = {
		{ "x", U64, U64 }, { "x", M64, M64 }, { "x == " U64, U64, "true" },
		{ "x + 1", "9007199254740992", "9007199254740993" },
		{ "x + 1", I64, "error: integer overflow: " I64 " + 1 does not fit 64 bits" },
		{ "x + 1", "9223372036854775808", "9223372036854775809" },
		{ "x + 1", U64, "error: integer overflow: " U64 " + 1 does not fit 64 bits" },
		{ "x - 1", M64, "error: integer overflow: " M64 " - 1 does not fit 64 bits" },
		{ "x - " U64, U64, "0" }, { "x - " U64, "0", "error: integer overflow: 0 - " U64
		  " does not fit 64 bits" },
		{ "x - " U64, "9223372036854775807", M64 },
		{ "x * x", "3037000499", "9223372030926249001" },
		{ "x * x", "4294967295",
		  "error: integer overflow: 4294967295 * 4294967295 does not fit 64 bits" },
		{ "x * x", "4294967296",
		  "error: integer overflow: 4294967296 * 4294967296 does not fit "
		  "64 bits" },
		{ "x * x", U64, "error: integer overflow: " U64 " * " U64 " does not fit 64 bits" },
		{ "x * -1", M64, "error: integer overflow: " M64 " * -1 does not fit 64 bits" },
		{ "-x", M64, "error: integer overflow: -(" M64 ") does not fit 64 bits" },
		{ "-x", "9223372036854775808", M64 },
		{ "-x", "9223372036854775809",
		  "error: integer overflow: -(9223372036854775809) does not "
		  "fit 64 bits" },
		{ "x // -1", M64, "error: integer overflow: " M64 " // -1 does not fit 64 bits" },
		{ "x % -1", M64, "0" },
		{ "x // 2", U64, "9223372036854775807" }, { "x % 10", U64, "5" },
		{ "x ** 62", "2", "4611686018427387904" }, { "x ** 63", "2",
		  "error: integer overflow: 2 ** 63 does not fit 64 bits" }, { "x ** 64", "2",
		  "error: integer overflow: 2 ** 64 does not fit 64 bits" },
		{ "x ** 63", "-2", M64 }, { "x ** 65", "-2",
		  "error: integer overflow: -2 ** 65 does not fit 64 bits" },
		{ "x ** " I64, "1", "1" }, { "x ** " I64, "-1", "-1" }, { "x ** " U64, "0", "0" },
		{ "x ** 0", "0", "1" }, { "x ** 3", "-5", "-125" },
		{ "x ** -1", "2",
		  "error: a negative power of an int is not an int (with a float it works: "
		  "2.0 ** -1)" },
		{ "x < " U64, "-1", "true" }, { "x > " I64, "9223372036854775808", "true" },
		{ "x == 9007199254740993.0", "9007199254740993", "false" },
		{ "x == 9007199254740992.0", "9007199254740992", "true" },
		{ "x < 9223372036854775808.0", I64, "true" },
		{ "x == 18446744073709551616.0", U64, "false" },
		{ "x < 18446744073709551616.0", U64, "true" },
		{ "[x, 1] == [2.0, 1]", "2", "true" },
	};

	(void)state;
	help_rows(rows, COUNT(rows));
}

static void
division_comes_in_three_kinds(void **state)
{
	static const struct help_row rows[] = {
		{ "x / 2", "7", "3.5" },
		{ "x / 2", "8", "4.0" },
		{ "x / 9223372036854775807", "-9007199254740993", "-0.0009765625000000002" },
		{ "-9 / x", "-18014398509481986", "4.996003610813203e-16" },
		{ "x / -9223372036854775807", "-9223372036854775808", "1.0" },
		{ "x / 3", "18446744073709551615", "6.148914691236517e+18" },
		{ "x / 0", "1", "error: division by zero" },
		{ "x / 0.0", "1.5", "error: division by zero" },
		{ "x // 2", "7", "3" }, { "x // 2", "-7", "-4" }, { "x // -2", "7", "-4" },
		{ "x // -2", "-7", "3" }, { "x // 0", "7", "error: division by zero" },
		{ "x // 2", "7.5", "3.0" }, { "x // 2", "-7.5", "-4.0" },
		{ "x // 0.1", "1.0", "9.0" }, { "x // 18", "-1e-300", "-1.0" },
		{ "x % 2.0", "-4.0", "0.0" }, { "x % -2.0", "4.0", "-0.0" },
		{ "x % 3", "7", "1" }, { "x % 3", "-7", "2" }, { "x % -3", "7", "-2" },
		{ "x % -3", "-7", "-1" },
		{ "x % 3", "-6", "0" },
		{ "x % 0", "7", "error: division by zero" },
		{ "x % 3", "-7.5", "1.5" },
		{ "x % -3", "7.5", "-1.5" },
		{ "x % 0.0", "1", "error: division by zero" },
		{ "x % 0", "0.5", "error: division by zero" },
		{ "x ** 0.5", "9", "3.0" },
		{ "x ** 2", "1.5", "2.25" },
		{ "x ** -1", "2.0", "0.5" },
		{ "x ** 0.5", "-1", "error: a fractional power of a negative number is not a number" },
		{ "x ** -1", "0.0", "error: division by zero" },
		{ "0.1 + x", "0.2", "0.30000000000000004" },
		{ "x * 1.0", "3", "3.0" },
		{ "-x", "1.5", "-1.5" },
		{ "x + x", "1.5", "3.0" }, { "x - 0.5", "1", "0.5" },
	};

	(void)state;
	help_rows(rows, COUNT(rows));
}

static void
kinds_that_do_not_go_together_are_errors(void **state)
{
	static const struct help_row rows[] = {
		{ "x + 1", "null", "error: `+` of null and int" },
		{ "1 - x", "\"1\"", "error: `-` of int and text" },
		{ "-x", "\"a\"", "error: `-` of text" },
		{ "x * 2", "[1]", "error: `*` of list and int" },
		{ "x // x", "true", "error: `//` of bool and bool" },
		{ "x < 1", "\"0\"", "error: `<` of text and int" },
		{ "x >= x", "null", "error: `>=` of null and null" },
		{ "x < x", "{}", "error: `<` of record and record" },
		{ "x and true", "1", "error: `and` of int, which is not true or false" },
		{ "true and x", "1", "error: `and` of int, which is not true or false" },
		{ "false or x", "null", "error: `or` of null, which is not true or false" },
		{ "not x", "0", "error: `not` of int, which is not true or false" },
		{ "x ? 1 : 2", "1", "error: the condition of ?: is int, not a test" },
		{ "x ++ \"a\"", "1", "error: `++` of int and text (str() turns it into text)" },
		{ "x ++ [1]", "1", "error: `++` of int and list" },
		{ "1 in x", "3", "error: `in` of int and int" },
		{ "1 in x", "\"1\"", "error: `in` of int and text" },
		{ "x ~ /a/", "1", "error: `~` of int, which is not text" },
		{ "x !~ /a/", "null", "error: `!~` of null, which is not text" },
		{ ".a", "1", "error: int has no fields: `a` is asked of it" },
		{ "x[0]", "1", "error: int has no items" },
		{ "x[0:1]", "{}", "error: record cannot be sliced" },
		{ "x[\"a\" ++ \"\"]", "[]", "error: an index is an int, not text" },
		{ "x[.a]", "{\"a\": 1}", "error: a field's name is text, not int" },
		{ "x[1.5]", "[1]", "error: an index is an int, not float" },
		{ "[1, 2][x:]", "\"a\"",
		  "error: a slice is from int to int, not from text to null" },
		{ "map(x, it)", "{}", "error: record has no items to go through" },
		{ "filter(x, it)", "[1]", "error: filter needs a test, not int" },
		{ "any(x)", "[1]", "error: `or` of int, which is not true or false" },
	};

	(void)state;
	help_rows(rows, COUNT(rows));
}

static void
values_of_all_kinds_compare(void **state)
{
	static const struct help_row rows[] = {
		{ "x == 1", "1.0", "true" },
		{ "x == 1", "\"1\"", "false" },
		{ "x != 1", "null", "true" },
		{ "x == null", "null", "true" },
		{ "x == {a: [1, {b: 2}]}", "{\"a\": [1.0, {\"b\": 2}]}", "true" },
		{ "x == [1, 2]", "[1, 2, 3]", "false" },
		{ "x == {a: 1, b: 2}", "{\"b\": 2, \"a\": 1}", "true" },
		{ "x < \"b\"", "\"a\"", "true" },
		{ "x < \"a\"", "\"a\"", "false" },
		{ "x <= \"a\"", "\"a\"", "true" },
		{ "x < \"ab\"", "\"a\"", "true" }, { "x > \"Z\"", "\"é\"", "true" },
		{ "x < [1, 3]", "[1, 2, 9]", "true" },
		{ "x < [1]", "[1, 0]", "false" },
		{ "false < x", "true", "true" },
		{ "bytes(x) == bytes(\"a\")", "\"a\"", "true" },
		{ "bytes(x) == x", "\"a\"", "false" },
		{ "bytes(x) < bytes(\"b\")", "\"a\"", "true" },
		{ "float(\"nan\") == float(\"nan\")", "0", "false" },
		{ "float(\"nan\") < x", "0", "false" },
		{ "float(\"nan\") != x", "0", "true" }, { "x < float(\"inf\")", U64, "true" },
		{ "x >= 2.5", "3", "true" },
		{ "x >= 2.5", "2", "false" },
		{ "x > -0.5", "0", "true" },
		{ "x < -0.5", "0", "false" },
		{ "x in [1, \"a\", null]", "null", "true" },
		{ "x in [1, 2]", "1.0", "true" },
		{ "x in \"abc\"", "\"bc\"", "true" },
		{ "x in \"abc\"", "\"\"", "true" },
		{ "x in \"abc\"", "\"cb\"", "false" },
		{ "\"a\" in x", "{\"a\": null}", "true" },
		{ "\"b\" in x", "{\"a\": null}", "false" },
		{ "x not in [1]", "2", "true" },
		{ "\"needle in a long haystack\" in x ++ x", "\"a needle in a long haystack\"",
		  "true" },
	};

	(void)state;
	help_rows(rows, COUNT(rows));
}

static void
logic_and_choices_evaluate_what_they_need(void **state)
{
	static const struct help_row rows[] = {
		{ "x and fail(\"no\")", "false", "false" }, { "x or fail(\"no\")", "true", "true" },
		{ "x and true", "true", "true" }, { "x or false", "false", "false" },
		{ "x ? 1 : fail(\"no\")", "true", "1" }, { "x ? fail(\"no\") : 2", "false", "2" },
		{ "x > 1 ? x > 2 ? \"c\" : \"b\" : \"a\"", "2", "\"b\"" },
		{ "x ?? 7", "null", "7" },
		{ "x ?? 7", "0", "0" },
		{ "x ?? fail(\"no\")", "1", "1" },
		{ ".a.b.c ?? \"none\"", "{}", "\"none\"" }, { "x + 1 ?? -1", "\"a\"", "-1" },
		{ "int(x) ?? float(x) ?? \"neither\"", "\"1.5\"", "1.5" },
		{ "int(x) ?? float(x) ?? \"neither\"", "\"one\"", "\"neither\"" },
		{ "(1 // x ?? x // 0) ?? \"both\"", "0", "\"both\"" },
		{ "x // 0 ?? 1 // x", "0", "error: division by zero" },
		{ "[1 // x ?? 0, 2]", "0", "[0,2]" },
		{ "skip() ?? 1", "1", "SKIP" },
		{ "x ? skip() : 1", "true", "SKIP" },
		{ "fail(x)", "\"why\"", "error: why" },
		{ "fail(x) ?? 1", "\"why\"", "1" },
		{ "fail(x)", "1", "error: failed" }, { "fail(x)", "\"\"", "error: failed" },
		{ "map(x, 10 // it ?? 0)", "[1, 0, 5]", "[10,0,2]" },
		{ "map(x, 10 // it) ?? \"caught\"", "[1, 0, 5]", "\"caught\"" },
		{ "not x", "false", "true" }, { "not x == 3 and x != 5", "4", "true" },
	};

	(void)state;
	help_rows(rows, COUNT(rows));
}

static void
fields_indexes_and_slices(void **state)
{
	static const struct help_row rows[] = {
		{ ".a", "{\"a\": 1}", "1" },
		{ ".a", "{}", "null" },
		{ ".a", "null", "null" },
		{ ".a.b", "{\"a\": null}", "null" },
		{ ".long_field_name",
		  "{\"long_field_nam\": 1, \"long_field_name\": 2, \"long_field_namf\": 3}", "2" },
		{ ".b", "{\"a\": {\"b\": 1}, \"b\": [1, {\"b\": 9}]}", "[1,{\"b\":9}]" },
		{ "x[\"a b\"]", "{\"a b\": 1}", "1" },
		{ "x[.k]", "{\"k\": \"v\", \"v\": 2}", "2" },
		{ "x[.k]", "{\"k\": \"w\"}", "null" },
		{ ".a_name_that_is_longer_than_31_bytes",
		  "{\"a_name_that_is_longer_than_31_bytez\": 1, \"a_name_that_is_longer_than_31_bytes\": 2}",
		  "2" },
		{ "[.abcdefghijklmno, .abcdefghijklmnop, .abc, .abcd]",
		  "{\"abcdefghijklmnop\": 1, \"abcd\": 2, \"abc\": 3, \"abcdefghijklmno\": 4}",
		  "[4,1,3,2]" },
		{ ".é", "{}", "error: a field's name in other letters stands in quotes" },
		{ "x[0]", "[1, 2]", "1" },
		{ "x[-1]", "[1, 2]", "2" },
		{ "x[2]", "[1, 2]", "error: index 2 is out of range: there are 2 items" },
		{ "x[-3]", "[1, 2]", "error: index -3 is out of range: there are 2 items" },
		{ "x[9] ?? 0", "[1]", "0" },
		{ "x[18446744073709551615]", "[1]",
		  "error: index 18446744073709551615 is out of range: there are 1 items" },
		{ "x[:18446744073709551615]", "[1]", "[1]" },
		{ "range(x)", "18446744073709551615", "error: range() takes int, not one above 2**63" },
		{ "x[1]", "\"héo\"", "\"é\"" },
		{ "x[-1]", "\"hé\"", "\"é\"" },
		{ "x[2]", "\"hé\"", "error: index 2 is out of range: there are 2 characters" },
		{ "x[0]", "\"\"", "error: index 0 is out of range: there are 0 characters" },
		{ "bytes(x)[1]", "\"hé\"", "195" },
		{ "bytes(x)[-1]", "\"a\"", "97" },
		{ "bytes(x)[3]", "\"hé\"",
		  "error: index 3 is out of range: there are 3 bytes" },
		{ "x[1:]", "[1, 2, 3]", "[2,3]" },
		{ "x[:-1]", "[1, 2, 3]", "[1,2]" },
		{ "x[1:2]", "[1, 2, 3]", "[2]" },
		{ "x[-2:]", "[1, 2, 3]", "[2,3]" },
		{ "x[5:]", "[1]", "[]" },
		{ "x[2:1]", "[1, 2, 3]", "[]" },
		{ "x[-9:9]", "[1, 2]", "[1,2]" },
		{ "x[:]", "[1]", "[1]" },
		{ "x[1:3]", "\"añbc\"", "\"ñb\"" },
		{ "x[-2:]", "\"añ\"", "\"añ\"" },
		{ "x[-1:]", "\"añ\"", "\"ñ\"" },
		{ "str(bytes(x)[1:3])", "\"añb\"", "\"ñ\"" },
		{ "x[1:]", "null", "null" },
		{ "x[0]", "null", "null" },
		{ "x[0].a[1]", "[{\"a\": [1, 2]}]", "2" }, { "x[0][0]", "[[3]]", "3" },
	};

	(void)state;
	help_rows(rows, COUNT(rows));
}

static void
lists_records_and_joining(void **state)
{
	static const struct help_row rows[] = {
		{ "[x, [x], {}]", "1", "[1,[1],{}]" },
		{ "{a: x, \"b c\": [x]}", "\"t\"", "{\"a\":\"t\",\"b c\":[\"t\"]}" },
		{ "{a, b}", "{\"a\": 1, \"c\": 2}", "{\"a\":1,\"b\":null}" },
		{ "{r: x, i: i}", "{\"z\": 1}", "{\"r\":{\"z\":1},\"i\":0}" },
		{ "x ++ x", "\"ab\"", "\"abab\"" },
		{ "x ++ \"-\" ++ x ++ \"-\" ++ x", "\"a\"", "\"a-a-a\"" },
		{ "x ++ \"\"", "\"\"", "\"\"" },
		{ "x ++ [3]", "[1, 2]", "[1,2,3]" },
		{ "x ++ x ++ x", "[[1]]", "[[1],[1],[1]]" },
		{ "str(bytes(x) ++ unhex(\"41\"))", "\"a\"", "\"aA\"" },
		{ "(x ++ \"1\")[0:1] ++ (x ++ \"2\")", "\"a\"", "\"aa2\"" },
		{ "{p: x ++ \"1\", q: x ++ \"2\", r: (x ++ \"3\")[1:] ++ \"4\"}", "\"a\"",
		  "{\"p\":\"a1\",\"q\":\"a2\",\"r\":\"34\"}" },
		{ "range(20) ++ [x]", "1",
		  "[0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,1]" },
		{ "[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, x][16]", "17", "17" },
	};

	(void)state;
	help_rows(rows, COUNT(rows));
}

static void
regular_expressions_match(void **state)
{
	static const struct help_row rows[] = {
		{ "x ~ /e+r/", "\"beer\"", "true" },
		{ "x ~ /^e/", "\"beer\"", "false" },
		{ "x !~ /^e/", "\"beer\"", "true" },
		{ "not x ~ /e/", "\"beer\"", "false" },
		{ "x matches /E/i", "\"beer\"", "true" },
		{ "x ~ \"^b.*r$\"", "\"beer\"", "true" },
		{ "x ~ /^b$/m", "\"a\\nb\\nc\"", "true" },
		{ "x ~ /a.b/s", "\"a\\nb\"", "true" },
		{ "x ~ /a.b/", "\"a\\nb\"", "false" },
		{ "x ~ / a b # note\n/x", "\"ab\"", "error: this regular expression has no end" },
		{ "x ~ / a b /x", "\"ab\"", "true" },
		{ "x ~ /^.$/", "\"é\"", "true" },
		{ "x ~ /^[^a]$/", "\"é\"", "true" },
		{ "x ~ /É/i", "\"é\"", "true" },
		{ "x ~ /^\\w+$/", "\"abc_1\"", "true" },
		{ "x ~ /a\\/b/", "\"a/b\"", "true" },
		{ "x ~ /\\p{Lu}/", "\"aÉ\"", "true" },
		{ "x ~ /^$/", "\"\"", "true" }, { "bytes(x) ~ /b/", "\"abc\"", "true" },
		{ "x ~ /(a+)+$/", "\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab\"",
		  "error: the regular expression tried too long" },
		{ "x ~ /(a+)+$/ ?? \"gave up\"", "\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab\"",
		  "\"gave up\"" },
		{ ".a ~ /b/ and .c !~ /d/", "{\"a\": \"b\", \"c\": \"e\"}", "true" },
	};

	(void)state;
	help_rows(rows, COUNT(rows));
}

static void
loops_over_lists_nest(void **state)
{
	static const struct help_row rows[] = {
		{ "map(x, map(it, it * 10))", "[[1], [2, 3], []]", "[[10],[20,30],[]]" },
		{ "map(x, [it, any(range(it), it == 1)])", "[1, 2]", "[[1,false],[2,true]]" },
		{ "filter(map(x, it + 1), it % 2 == 0)", "[1, 2, 3]", "[2,4]" },
		{ "sum(map(x, len(it ++ \"!\")))", "[\"a\", \"bb\"]", "5" },
		{ "sorted(x)", "[3, \"a\", null, 1.5, [1]]", "[null,1.5,3,\"a\",[1]]" },
		{ "sorted(x, it.k)",
		  "[{\"k\": 2, \"n\": 1}, {\"k\": 1, \"n\": 2}, {\"k\": 2, \"n\": 3}]",
		  "[{\"k\":1,\"n\":2},{\"k\":2,\"n\":1},{\"k\":2,\"n\":3}]" },
		{ "all(x, it > 0)", "[]", "true" },
		{ "any(x)", "[]", "false" },
		{ "all(x)", "[true, false]", "false" },
		{ "any(x, 1 // it > 0)", "[1, 0]", "true" },
		{ "map(x, it ?? 0)", "[1, null]", "[1,0]" },
		{ "map(filter(x, it != null), {v: it})", "[1, null]", "[{\"v\":1}]" },
		{ "map(range(3), it ++ \"\")", "1", "error: `++` of int and text" },
		{ "map(x, it > 1 ? skip() : it)", "[1, 2]", "SKIP" },
		{ "[map(x, it + 1), map(x, it + 2)]", "[1, 2]", "[[2,3],[3,4]]" },
		{ "map(x, str(it) ++ \"a\" ++ str(it))", "[1, 2]", "[\"1a1\",\"2a2\"]" },
	};

	(void)state;
	help_rows(rows, COUNT(rows));
}

static void
depth_and_size_of_values_are_bounded(void **state)
{
	char *text = mem_strdup("x");
	char deep[300];

	(void)state;
	for (int i = 0; i < 10; i++) {
		char *next = mem_printf("[%s]", text);
		mem_free(text);
		text = next;
	}
	memset(deep, '[', 119);
	memset(deep + 119, ']', 119);
	deep[238] = '\0';
	char *got = help_eval_typed(text, deep, NULL);
	assert_string_equal(got, "error: lists and records are nested more than 128 deep");
	mem_free(got);
	deep[237] = '\0';
	memmove(deep, deep + 1, 237);
	got = help_eval_typed(text, deep, NULL);
	assert_int_equal(strlen(got), 256);
	mem_free(got);
	mem_free(text);
	static const struct help_row rows[] = {
		{ "pad(x, 300_000_000)", "\"\"",
		  "error: pad() to a width of 300000000 is too wide" },
		{ "len(pad(x, 140_000_000) ++ pad(x, 140_000_000))", "\"\"",
		  "error: a value of 267 MiB is too large (most is 256)" },
		{ "range(x)", "10000001", "error: range() of more than 10000000 items" },
	};
	help_rows(rows, COUNT(rows));
}
