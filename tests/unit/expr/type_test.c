/* SPDX-License-Identifier: MIT */
#include "expr_help.h"

#define REC "{id: int, label: text, score: float, tags: [text], at: int?, sub: {n: int, ...}, raw: bytes}"

/* size: a table. */
static void
types_are_worked_out(void **state)
{
	static const struct { const char *x, *text, *want; } rows[] = {
		{ "int", "x * x", "int" },
		{ "int", "x / 2", "float" },
		{ "int", "x * 1.5", "float" },
		{ "int", "x // 2", "int" },
		{ "any", "x + 1", "any" },
		{ "any", "x + 1.0", "any" },
		{ "any", "x / x", "any" },
		{ "int", "-x", "int" },
		{ "any", "x > 1", "any" },
		{ "any", "x > \"a\"", "bool" },
		{ "any", "x ~ /a/", "bool" },
		{ "any", "not x", "bool" },
		{ "any", "x and x", "bool" },
		{ REC, ".id", "int" },
		{ REC, ".at", "int?" },
		{ REC, ".at ?? 0", "int" },
		{ REC, ".at ?? \"none\"", "any" },
		{ REC, ".tags[0]", "text" },
		{ REC, ".tags[1:]", "[text]" },
		{ REC, ".sub.n", "int" },
		{ REC, ".sub.z", "any" },
		{ REC, "{id, n: len(.tags), s: .score * 2}", "{id: int, n: int, s: float}" },
		{ REC, ".raw[0]", "int" },
		{ REC, ".label[0]", "text" },
		{ REC, ".label ++ \"a\"", "text" },
		{ REC, ".tags ++ [\"a\"]", "[text]" },
		{ REC, ".tags ++ [1]", "[any]" },
		{ REC, "x[.label]", "any" },
		{ REC, "\"id\" in x", "bool" },
		{ REC, ".id > 0 ? .id : null", "int?" },
		{ REC, ".id > 0 ? .id : .score", "any" },
		{ REC, ".id > 0 ? .id : skip()", "int" },
		{ REC, ".id > 0 ? fail(\"a\") : .label", "text" },
		{ REC, "skip()", "never" },
		{ REC, "map(.tags, len(it))", "[int]" },
		{ REC, "filter(.tags, it > \"a\")", "[text]" },
		{ REC, "sorted(.tags, -len(it))", "[text]" },
		{ REC, "any(.tags, it == \"a\")", "bool" },
		{ REC, "keys(x)", "[text]" },
		{ REC, "merge(x, {id: \"a\"}).id", "text" },
		{ REC, "merge({a: 1}, {b: 2.5})", "{a: int, b: float}" },
		{ REC, "without(x, \"id\")", "{...}" },
		{ REC, "split(.label, \",\")", "[text]" },
		{ REC, "match(.label, /a/)", "text?" },
		{ REC, "find(.label, \"a\")", "int?" },
		{ REC, "captures(.label, /a/)", "any" },
		{ REC, "parse_json(.label)", "any" },
		{ REC, "sum(map(.tags, len(it)))", "int" },
		{ REC, "min(.tags)", "text" },
		{ REC, "max(.id, 3)", "int" },
		{ REC, "max(.id, .score)", "any" },
		{ REC, "zip(.tags, .tags)", "[[text]]" },
		{ REC, "round(.score)", "int" },
		{ REC, "round(.score, 2)", "float" },
		{ REC, "rand()", "float" },
		{ REC, "rand(6)", "int" },
		{ REC, "slice(.label, 1)", "text" },
		{ REC, "reversed(.tags)", "[text]" },
		{ REC, "uniq(.tags)", "[text]" },
		{ REC, "range(3)", "[int]" },
		{ REC, "values({a: 1, b: 2})", "[int]" },
		{ REC, "values({a: 1, b: null})", "[int?]" },
		{ REC, "[]", "[never]" },
		{ "{a: {b: int}?}", ".a.b", "int?" },
		{ "[int]?", "x[0]", "int?" },
		{ "null", ".a", "null" },
		{ "any", ".a.b[0]", "any" },
		{ "text", "x in \"abc\"", "bool" },
		{ "int", "[x, 1]", "[int]" },
		{ "int", "[x, 1.5]", "[any]" },
		{ "int", "[x, null]", "[int?]" },
		{ "u8[3]", "x", "u8[3]" },
		{ "u8[3]", "type(x)", "text" },
		{ "bool", "x ?? true", "bool" },
		{ "[{n: int}]", "map(x, it.n + 1)", "[int]" },
		{ "[[int]]", "map(x, map(it, it / 2))", "[[float]]" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct help h;
		struct buf out = { 0 };

		if (!help_compile(&h, rows[i].text, rows[i].x))
			fail_msg("%s: %s", rows[i].text, h.e.text);
		type_print(expr_type(h.code), &out);
		if (strcmp((char *)out.data, rows[i].want) != 0)
			fail_msg("%s of %s is %s, not %s", rows[i].text, rows[i].x, (char *)out.data, rows[i].want);
		buf_clear(&out);
		help_clear(&h);
	}
}

/* size: a table. */
static void
what_is_known_to_be_wrong_is_said_before_it_runs(void **state)
{
	static const struct { const char *text, *want; unsigned col,
	  width; const char *help; } rows[] = {
		{ ".lable == \"cat\"",
		  "there is no field `lable` in {id: int, label: text, score: float, tags: [text], at: i...",
		  1, 6, "did you mean `label`?" },
		{ ".sub.n.m", "int has no fields", 7, 2, "" },
		{ ".label.a", "text has no fields", 7, 2,
		  "parse_json(x) turns JSON text into a record; its fields are parse_json(x).name" },
		{ ".tags.a", "[text] has no fields", 6, 2,
		  "one item is .list[0]; a field of each item is map(.list, it.name)" },
		{ ".zebra",
		  "there is no field `zebra` in {id: int, label: text, score: float, tags: [text], at: i...",
		  1, 6,
		  "its fields are id, label, score, tags, at, sub, raw" },
		{ "x[\"nope\"]",
		  "there is no field `nope` in {id: int, label: text, score: float, tags: [text], at: i...",
		  2, 8,
		  "its fields are id, label, score, tags, at, sub, raw" },
		{ ".id + .label", "`+` of int and text", 5, 1,
		  "++ joins text, and str() makes text of a number; int() and float() turn text into numbers" },
		{ ".label + .label", "`+` of text and text", 8, 1, "++ joins text" },
		{ ".tags + .tags", "`+` of [text] and [text]", 7, 1, "++ joins lists" },
		{ ".label * 2", "`*` of text and int", 8, 1,
		  "int() and float() turn text into numbers" },
		{ ".tags * 2", "`*` of [text] and int", 7, 1,
		  "map(list, it * 2) works on each item, sum(list) adds them up" },
		{ ".id + null", "`+` of int and null", 5, 1,
		  "?? gives a default for null, as in (.n ?? 0) + 1" },
		{ ".id < .label", "`<` of int and text", 5, 1,
		  "int() and float() turn text into numbers, str() makes text of a number" },
		{ ".id < null", "`<` of int and null", 5, 1,
		  "null is found with == null, and ?? gives a default for it" },
		{ ".sub < .sub", "`<` of {n: int, ...} and {n: int, ...}", 6, 1, "" },
		{ ".id ++ \"a\"", "`++` of int and text", 5, 2, "str() turns it into text" },
		{ ".tags ++ 1", "`++` of [text] and int", 7, 2,
		  "one item is added as a list: .list ++ [1]" },
		{ ".id in 3", "`in` of int and int", 5, 2,
		  "`in` looks for an item in a list, a text in a text, a field's name in a record" },
		{ ".id and true", "`and` needs a test, not int", 1, 3, "as in .n != 0" },
		{ "true or .label", "`or` needs a test, not text", 9, 6, "as in .name != \"\"" },
		{ "not .tags", "`not` needs a test, not [text]", 1, 3, "as in len(.list) > 0" },
		{ ".id ? 1 : 2", "the condition of `?:` needs a test, not int", 1, 3,
		  "as in .n != 0" },
		{ "-.label", "`-` of text", 1, 1, "int() and float() turn text into numbers" },
		{ ".id ~ /a/", "`~` of int, which is not text", 5, 1,
		  "str(x) ~ /re/ looks at it as text" },
		{ "x ~ /a/",
		  "`~` of {id: int, label: text, score: float, tags: [text], at: i..., which is not text",
		  3, 1,
		  "one of its fields, as in .name ~ /re/, or to_json(x) ~ /re/" },
		{ ".label ~ .label", "a regular expression is a constant", 10, 6,
		  "it is written /.../ or as a text; `in`, contains() and find() look for a text that is not constant" },
		{ ".label ~ /a(b/", "in this regular expression: missing closing parenthesis", 10,
		  5, "" },
		{ ".label ~ /a*b[/",
		  "in this regular expression: missing terminating ] for character class", 10, 6,
		  "" },
		{ ".label ~ /a{2,1}/",
		  "in this regular expression: numbers out of order in {} quantifier", 16, 1, "" },
		{ "/a/", "a regular expression is not a value", 1, 3,
		  "it belongs after ~ or !~, or in match(), captures(), replace(), find() and split()" },
		{ "[/a/]", "a regular expression is not a value", 2, 3,
		  "it belongs after ~ or !~, or in match(), captures(), replace(), find() and split()" },
		{ ".id[0]", "int has no items", 4, 3, "" },
		{ ".id[1:]", "int cannot be sliced", 4, 4, "" },
		{ ".tags[\"a\" ++ \"b\"]", "an index is an int, not text", 6, 12, "" },
		{ ".tags[.label:]", "a slice goes from int to int, not text", 7, 6, "" },
		{ "x[.id]", "a field's name is text, not int", 2, 5, "" },
		{ "x[1:]", "a record cannot be sliced", 2, 4, "" },
		{ "it + 1", "there is no `it` here", 1, 2,
		  "it is the item, inside map, filter, any, all and sorted" },
		{ "map(.tags, it + 1)", "`+` of text and int", 15, 1,
		  "++ joins text, and str() makes text of a number; int() and float() turn text into numbers" },
		{ "filter(.tags, len(it))", "filter() needs a test, not int", 15, 3,
		  "as in .n != 0" },
		{ "any(.tags)", "any() needs a test, not text", 5, 5, "as in .name != \"\"" },
		{ "map(.id, it)", "map() takes a list here, not int", 5, 3, "" },
		{ "lower(.id)", "lower() takes text here, not int", 7, 3,
		  "str() turns it into text" },
		{ "abs(.label)", "abs() takes a number or a tensor here, not text", 5, 6,
		  "int() and float() turn text into numbers" },
		{ "len(null)", "len() takes text, bytes, a list, a record or a tensor here, not null", 5, 4,
		  "?? gives a default for null" },
		{ "slice(.label)", "slice() takes other arguments than the 1 given", 1, 5,
		  "it is written slice(text|bytes|list, from[, to])" },
		{ "now(1)", "now() takes other arguments than the 1 given", 1, 3,
		  "it is written now()" },
		{ "uper(.label)", "unknown function `uper`", 1, 4, "did you mean `upper`?" },
		{ "length(.label)", "unknown function `length`", 1, 6, "it is called `len` here" },
		{ "lenght(.label)", "unknown function `lenght`", 1, 6, "it is called `len` here" },
		{ "gsub(.label)", "unknown function `gsub`", 1, 4, "it is called `replace` here" },
		{ "tolower(.label)", "unknown function `tolower`", 1, 7, "it is called `lower` here" },
		{ "if(1, 2, 3)", "unknown function `if`", 1, 2, "it is written CONDITION ? VALUE : OTHER" },
		{ "zzz(.label)", "unknown function `zzz`", 1, 3, "" },
		{ "match(.label, .label)", "match() takes a regular expression here", 15, 6,
		  "it is a constant, written /.../" },
		{ "fail(1)", "fail() takes text here, not int", 6, 1, "str() turns it into text" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct help h;

		if (help_compile(&h, rows[i].text, REC))
			fail_msg("%s was accepted", rows[i].text);
		assert_int_equal(h.e.kind, ST_DATA);
		if (strcmp(h.e.text, rows[i].want) != 0)
			fail_msg("%s: %s", rows[i].text, h.e.text);
		if (strcmp(h.e.help, rows[i].help) != 0)
			fail_msg("%s: help: %s", rows[i].text, h.e.help);
		if (h.e.col != rows[i].col || h.e.width != rows[i].width)
			fail_msg("%s: carets at %u, %u wide", rows[i].text, h.e.col, h.e.width);
		help_clear(&h);
	}
}

static void
names_that_do_not_exist_here_are_explained(void **state)
{
	static const struct { const char *text, *want, *help; } rows[] = {
		{ "x + 1", "there is no `x` here",
		  "there is no element here: a constant is expected" },
		{ ".a", "there is no `x` here",
		  "there is no element here: a constant is expected" },
		{ "s", "there is no `s` here", "s is the state, which only scan and reduce have" },
		{ "i", "there is no `i` here",
		  "i is the element's number, which is not at hand here" },
		{ "xx.a", "there is no `xx` here",
		  "xx is the outer element, which only inner pipelines have" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct expr_src src = { .text = rows[i].text, .len = strlen(rows[i].text) };
		struct types *arena = types_new();
		struct expr_env env = { .arena = arena };
		struct err e = { 0 };
		struct expr_ast *a = expr_parse(&src, &e);

		assert_non_null(a);
		assert_null(expr_compile(a, &env, &e));
		assert_string_equal(e.text, rows[i].want);
		assert_string_equal(e.help, rows[i].help);
		assert_int_equal(e.line, 0);
		expr_ast_free(&a);
		types_free(&arena);
	}
}

static void
constants_are_known_and_costly_ones_left_for_later(void **state)
{
	static const struct { const char *text, *want; } rows[] = {
		{ "1 + 2 * 3", "7" },
		{ "[1, {a: \"b\" ++ \"c\"}]", "[1,{\"a\":\"bc\"}]" },
		{ "true ? 1 : 2", "1" },
		{ "upper(\"a\")", "\"A\"" },
		{ "1 // 0 ?? 5", "5" },
		{ "map(range(3), it * 2)", "[0,2,4]" },
		{ "\"abc\" ~ /b/", "true" },
		{ "replace(\"aXb\", /x/i, \"-\")", "\"a-b\"" },
		{ "parse_json('[1]')", "[1]" },
		{ "false and 1 // 0 > 1", "false" },
		{ "sum(map(range(10), sum(range(it))))", "120" },
		{ "x", NULL },
		{ "i", NULL },
		{ "rand()", NULL },
		{ "now()", NULL },
		{ "1 // 0", NULL },
		{ "fail(\"a\")", NULL },
		{ "skip()", NULL },
		{ "len(range(10_000))", "10000" },
		{ "len(range(1_000_000))", NULL },
		{ "range(1_000_000)", NULL },
		{ "map(range(1_000_000), it)", NULL },
		{ "map([1], x)", NULL },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct help h;
		struct buf value = { 0 }, text = { 0 };

		if (!help_compile(&h, rows[i].text, NULL))
			fail_msg("%s: %s", rows[i].text, h.e.text);
		bool constant = expr_constant(h.code, &value);
		if (constant != (rows[i].want != NULL))
			fail_msg("%s", rows[i].text);
		if (constant) {
			json_print(value.data, value.len, &text);
			assert_string_equal((char *)text.data, rows[i].want);
		}
		buf_clear(&value);
		buf_clear(&text);
		help_clear(&h);
	}
}

static void
the_fields_it_reads_are_known(void **state)
{
	static const struct { const char *text; int n; const char *names[3]; } rows[] = {
		{ ".a == 1 and .b.c > .a", 2, { "a", "b" } },
		{ "{a, n: len(.b), c: x.c}", 3, { "a", "b", "c" } },
		{ "x", -1, { 0 } },
		{ "x == 1", -1, { 0 } },
		{ "len(x)", -1, { 0 } },
		{ "x[.a]", -1, { 0 } },
		{ "1", 0, { 0 } },
		{ "s.a + i", 0, { 0 } },
		{ "x[\"a b\"]", 1, { "a b" } },
		{ "map(.l, it.k)", 1, { "l" } },
		{ "[.a, .b, .c, .d]", -1, { 0 } },
		{ ".a ?? x", -1, { 0 } },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct help h;
		const char *names[3];

		assert_true(help_compile(&h, rows[i].text, NULL));
		assert_int_equal(expr_fields(h.code, names, 3), rows[i].n);
		for (int k = 0; k < rows[i].n; k++)
			assert_string_equal(names[k], rows[i].names[k]);
		help_clear(&h);
	}
}

static void
what_it_may_do_is_read_from_the_code_and_not_from_its_text(void **state)
{
	static const struct { const char *text; unsigned traits; } rows[] = {
		{ "x + 1", 0 },
		{ "\"rand( now( skip( i\"", 0 },
		{ "x ~ /skip(now)(rand)/", 0 },
		{ ".i.rand", 0 },
		{ "rand()", EXPR_VARIES | EXPR_DRAWS },
		{ "rand (3) + 1", EXPR_VARIES | EXPR_DRAWS },
		{ "map(x, it + now())", EXPR_VARIES | EXPR_TIMED },
		{ "x > 1 ? x : skip()", EXPR_SKIPS },
		{ "skip() ?? 1", EXPR_SKIPS },
		{ "[1, {a: i}]", EXPR_COUNTS },
		{ "i % 2 == 0 ? rand() : skip()", EXPR_COUNTS | EXPR_VARIES | EXPR_DRAWS | EXPR_SKIPS },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct help h;

		assert_true(help_compile(&h, rows[i].text, NULL));
		assert_int_equal(expr_traits(h.code), rows[i].traits);
		help_clear(&h);
	}
}
