/* SPDX-License-Identifier: MIT */
#include "expr_help.h"

#include "expr/ast.h"

/* size: a table. */
static void
one_spelling_for_each_meaning(void **state)
{
	static const struct { const char *text, *want; } rows[] = {
		{ "x*x", "x * x" },
		{ " ( x ) ", "x" },
		{ "x.a.b", ".a.b" },
		{ "x[\"a\"]", ".a" },
		{ "x['odd key'].b", "x[\"odd key\"].b" },
		{ ".a['b']", ".a.b" },
		{ "s.a", "s.a" },
		{ "x matches /a|b/i", "x ~ /a|b/i" },
		{ "x !~ /a\\/b/", "x !~ /a\\/b/" },
		{ "x ~ \"a\"", "x ~ \"a\"" },
		{ "!x", "not x" },
		{ "!x == y.z", "" },
		{ "not .a == 1", "not .a == 1" },
		{ "(not .a) == 1", "(not .a) == 1" },
		{ "!.a == 1", "(not .a) == 1" },
		{ "not (.a and .b)", "not (.a and .b)" },
		{ "not not .a", "not not .a" },
		{ "x not in [1]", "not x in [1]" },
		{ "a_ == 1", "" },
		{ ".a gt 1 and .b le 2 or .c ne 3", ".a > 1 and .b <= 2 or .c != 3" },
		{ ".a||.b&&.c", ".a or .b and .c" },
		{ "(.a or .b) and .c", "(.a or .b) and .c" },
		{ ".a or (.b or .c)", ".a or (.b or .c)" },
		{ "1-(2-3)", "1 - (2 - 3)" },
		{ "(1-2)-3", "1 - 2 - 3" },
		{ "2**3**4", "2 ** 3 ** 4" },
		{ "(2**3)**4", "(2 ** 3) ** 4" },
		{ "-2**2", "-2 ** 2" },
		{ "(-2)**2", "(-2) ** 2" },
		{ "-x**2", "-x ** 2" },
		{ "2**-x", "2 ** -x" },
		{ "- -x", "-(-x)" },
		{ "-(-5)", "-(-5)" },
		{ "3--1", "3 - -1" },
		{ "(1+2)*3//4%5/6", "(1 + 2) * 3 // 4 % 5 / 6" },
		{ "\"a\"++'b'++\"c\"", "\"a\" ++ \"b\" ++ \"c\"" },
		{ ".a?.b:.c", ".a ? .b : .c" },
		{ ".a?.b:.c?.d:.e", ".a ? .b : .c ? .d : .e" },
		{ "(.a?.b:.c)?.d:.e", "(.a ? .b : .c) ? .d : .e" },
		{ ".a ?? .b ?? .c", ".a ?? .b ?? .c" },
		{ "(.a ?? .b) ?? .c", "(.a ?? .b) ?? .c" },
		{ ".a ? .b : .c ?? .d", ".a ? .b : .c ?? .d" },
		{ "(.a ? .b : .c) ?? .d", "(.a ? .b : .c) ?? .d" },
		{ ".a ?? .b ? .c : .d", ".a ?? .b ? .c : .d" },
		{ "(.a ?? .b) ? .c : .d", "(.a ?? .b) ? .c : .d" },
		{ "x[1]", "x[1]" },
		{ "x[-1:]", "x[-1:]" },
		{ "x[:2]", "x[:2]" },
		{ "x[:]", "x[:]" },
		{ "x[.a ? 1 : 2:3]", "x[.a ? 1 : 2:3]" },
		{ "(x++.a)[0]", "(x ++ .a)[0]" },
		{ "[1,[],{}]", "[1, [], {}]" },
		{ "{ts,path}", "{ts, path}" },
		{ "{a:.a, b:x.b, c:s.c}", "{a, b, c: s.c}" },
		{ "{\"a\":1,\"b c\":2,not:3,in:4}", "{a: 1, \"b c\": 2, not: 3, in: 4}" },
		{ "len( x )", "len(x)" }, { "rand()", "rand()" },
		{ "map(x,it*2)", "map(x, it * 2)" },
		{ "10_000", "10000" }, { "0x40", "64" }, { "0XfF", "255" }, { "1e3", "1000.0" },
		{ "1.50", "1.5" }, { "2E-3", "0.002" }, { "1e+22", "1e+22" },
		{ "18446744073709551615", "18446744073709551615" },
		{ "-9223372036854775808", "-9223372036854775808" },
		{ "-9_223_372_036_854_775_809", "-9223372036854775809" },
		{ "-0.0", "-0.0" }, { "-0", "0" },
		{ "true==false!=null", "" },
		{ "null", "null" },
		{ "\"\\n\\t\\r\\\"\\\\\\0\\x7f\\u{1F600}\\u00e9\\ud83d\\ude00\\/\"",
		  "\"\\n\\t\\r\\\"\\\\\\x00\\x7f😀é😀/\"" },
		{ "'a\\n\"b'", "\"a\\\\n\\\"b\"" },
		{ "\"\\@{n}\"", "\"\\@{n}\"" },
		{ "'@{n}'", "\"\\@{n}\"" },
		{ "\"a@b\"", "\"a@b\"" },
		{ "5.e3", "5.e3" },
		{ "(-5).a", "(-5).a" },
		{ "1 # one\n + 2", "1 + 2" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct expr_src src = { .text = rows[i].text, .len = strlen(rows[i].text) };
		struct err e = { 0 };
		struct expr_ast *a = expr_parse(&src, &e), *again;

		if (!*rows[i].want) {
			if (a)
				fail_msg("%s was accepted", rows[i].text);
			continue;
		}
		if (!a)
			fail_msg("%s: %s", rows[i].text, e.text);
		char *text = help_print(a);
		assert_string_equal(text, rows[i].want);
		struct expr_src second = { .text = text, .len = strlen(text) };
		again = expr_parse(&second, &e);
		assert_non_null(again);
		assert_true(expr_ast_equal(a, again));
		mem_free(text);
		expr_ast_free(&a);
		expr_ast_free(&again);
	}
}

static void
it_takes_the_longest_expression_and_no_more(void **state)
{
	static const struct { const char *text; size_t end; } rows[] = {
		{ "x*x parallel=8", 3 }, { "x | take 2", 1 }, { "x ; y", 1 }, { "x)", 1 },
		{ ".a .b", 2 }, { "[0, 0] [s[0] + x]", 6 }, { "x [0]", 1 }, { "0 s + x", 1 },
		{ "x in=3", 1 }, { "x in [1] or=2", 8 }, { "x ~ /a b|c/ on_error=skip", 11 },
		{ "x then take", 1 }, { "  x\n+ 1", 7 }, { "x # note", 1 }, { "x#1", 1 },
		{ "1 2", 1 }, { "x & 3", 1 }, { "x !", 1 }, { "\"a\" \"b\"", 3 }, { "x @n", 1 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct expr_src src = { .text = rows[i].text, .len = strlen(rows[i].text) };
		struct err e = { 0 };
		struct expr_ast *a = expr_parse(&src, &e);

		if (!a || src.at != rows[i].end)
			fail_msg("%s: %s ends at %zu", rows[i].text, e.text, src.at);
		expr_ast_free(&a);
	}
}

static void
a_newline_ends_it_unless_a_blank_follows(void **state)
{
	static const struct { const char *text; size_t end; } rows[] = {
		{ "x\n+ 1", 1 },
		{ "x\n + 1", 6 },
		{ "x\n\t\n\n  + 1", 10 },
		{ "x\n  # note\n + 1", 15 },
		{ "x\n# note\n+ 1", 1 },
		{ "(x\n+ 1)", 7 },
		{ "[1,\n2]\n+ 1", 6 },
		{ "x +\n  1", 7 },
		{ "x\n", 1 }, { "x\n   ", 1 }, { "x\n  | take", 1 }, { "x\r\n  + 1", 8 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct expr_src src = { .text = rows[i].text, .len = strlen(rows[i].text),
					.newline_ends = true };
		struct err e = { 0 };
		struct expr_ast *a = expr_parse(&src, &e);

		if (!a || src.at != rows[i].end)
			fail_msg("row %zu: %s ends at %zu", i, e.text, src.at);
		expr_ast_free(&a);
	}
}

static bool
parse_param(void *arg, const char *name, size_t n, struct buf *out)
{
	const struct help_param *p = arg;

	for (; p->name; p++)
		if (strlen(p->name) == n && !memcmp(p->name, name, n)) {
			help_encode(p->value, out);
			return true;
		}
	return false;
}

static const char *
parse_param_name(void *arg, size_t i)
{
	return ((const struct help_param *)arg)[i].name;
}

static const struct help_param parse_params[] = {
	{ "n", "5" }, { "neg", "-5" }, { "t", "\"a|b\"" }, { "l", "[1, \"a\", {\"k\": -1.5}]" },
	{ "u", "18446744073709551615" }, { "b", "=unhex(\"00ff\")" }, { "nan", "=float(\"nan\")" },
	{ "inf", "=float(\"-inf\")" }, { "yes", "true" }, { "nothing", "null" },
	{ "long_name", "1" }, { NULL, NULL }
};

static struct expr_ast *
parse_with(const char *text, struct err *e)
{
	struct expr_src src = { .file = "<arg>", .text = text, .len = strlen(text),
				.param = parse_param, .param_name = parse_param_name,
				.arg = (void *)(uintptr_t)parse_params };

	err_clear(e);
	return expr_parse(&src, e);
}

static void
parameters_are_values_and_never_text(void **state)
{
	static const struct { const char *text, *want; } rows[] = {
		{ "x > @n + 1", "x > 5 + 1" }, { "@{n}1", "5" }, { "$n", "5" }, { "${n}", "5" },
		{ "x - @neg", "x - -5" }, { "@neg ** 2", "(-5) ** 2" }, { "-@neg", "-(-5)" },
		{ "x ~ @t", "x ~ \"a|b\"" }, { "@l", "[1, \"a\", {k: -1.5}]" },
		{ "@l[0]", "[1, \"a\", {k: -1.5}][0]" },
		{ "@u", "18446744073709551615" }, { "@b", "unhex(\"00ff\")" },
		{ "@nan", "float(\"nan\")" }, { "@inf", "float(\"-inf\")" },
		{ "\"<@{t}|@{n}|@{yes}>\"", "\"<a|b|5|true>\"" }, { "@nothing", "null" },
		{ "x[@t]", "x[\"a|b\"]" }, { "{@t: 1}", "{\"a|b\": 1}" },
	};
	struct err e;

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct expr_ast *a = parse_with(rows[i].text, &e), *again;

		if (!a)
			fail_msg("%s: %s", rows[i].text, e.text);
		char *text = help_print(a);
		assert_string_equal(text, rows[i].want);
		again = parse_with(text, &e);
		assert_true(expr_ast_equal(a, again));
		mem_free(text);
		expr_ast_free(&a);
		expr_ast_free(&again);
	}
}

/* A mistake: text, message, column and width of the carets, help. */
struct parse_fault {
	const char *text, *want;
	unsigned col, width;
	const char *help;
};

#define EMPTIED "an empty place often means the shell expanded a $name inside \"double quotes\"; " \
	"use single quotes, or @name"

static void
mistakes_have_a_place_and_a_remedy(void **state)
{
	static const struct parse_fault rows[] = {
		{ "status > 499", "unknown name `status`", 1, 6,
		  "a field of the element is written .status; text is written \"status\"" },
		{ "x + len", "unknown name `len`", 5, 3,
		  "the function is written len(text|bytes|list|record|tensor)" },
		{ "x >  + 1", "a value is missing after `>`", 3, 3, EMPTIED },
		{ "x and", "a value is missing after `and`", 3, 3, EMPTIED },
		{ "", "an expression is missing here", 1, 1, EMPTIED },
		{ "  | take 3", "an expression is missing here", 3, 1, EMPTIED },
		{ "* 2", "a value is missing before `*`", 1, 1, EMPTIED },
		{ "gt 2", "a value is missing before `gt`", 1, 2, EMPTIED },
		{ "f(x,)", "a value is missing after `,`", 4, 1, EMPTIED },
		{ "[1, , 2]", "a value is missing after `,`", 3, 2, EMPTIED },
		{ ".a ? : 2", "a value is missing after `?`", 4, 2, EMPTIED },
		{ ".a ? 1", "this `?` has no `:`", 4, 1,
		  "as in .n > 0 ? \"some\" : \"none\"; a default is given with ??" },
		{ "x = 3", "`=` does not compare", 3, 1,
		  "== compares; ~ matches a regular expression" },
		{ "x =~ /a/", "`=` does not compare", 3, 1,
		  "== compares; ~ matches a regular expression" },
		{ "1 < x < 3", "comparisons do not chain", 7, 1,
		  "join two with `and`, as in 0 < .n and .n < 9, or use brackets" },
		{ "(x + 1", "this `(` has no `)`", 1, 1, "" },
		{ "len(x | y", "this `(` has no `)`", 4, 1, "the expression ends at `| y`" },
		{ "\"abc", "this text has no end", 1, 1, "a closing \" is missing" },
		{ "'abc", "this text has no end", 1, 1, "a closing ' is missing" },
		{ "\"a\\q\"", "unknown escape `\\q` in a text", 3, 2,
		  "a backslash itself is written \\\\; in '...' nothing is special" },
		{ "\"\\u{110000}\"", "unknown escape `\\u{110000}` in a text", 2, 10,
		  "a backslash itself is written \\\\; in '...' nothing is special" },
		{ "\"\\ud800\"", "unknown escape `\\ud800` in a text", 2, 6,
		  "a backslash itself is written \\\\; in '...' nothing is special" },
		{ "\"\\xff\"", "this text is not valid UTF-8", 1, 6,
		  "bytes are written in hex: unhex(\"ff00\")" },
		{ "x ~ /abc", "this regular expression has no end", 5, 1,
		  "it is written /.../; a slash in it is written \\/" },
		{ "x ~ /a/q", "unknown flag `q` of a regular expression", 8, 1,
		  "flags are i (any case), m (lines), s (. takes newlines), x (blanks ignored), a (classes are ASCII's)" },
		{ "x + // 2", "an empty regular expression", 5, 2,
		  "`//` divides: a value is missing before it" },
		{ "64k", "`64k` is not a number", 1, 3,
		  "units belong to options of operators; here write the number out, as in 64 * 1024" },
		{ "0x", "`0x` is not a number", 1, 2, "" },
		{ ".5 + x", "a number begins with a digit", 1, 2, "write 0.5" },
		{ "18446744073709551616", "this number does not fit 64 bits", 1, 20,
		  "with a fraction (1e20, 1.0) it is a float" },
		{ "1e999", "this number is too large for a float", 1, 5, "" },
		{ "{a: 1, b: 2, a: 3}", "this key is given twice", 14, 1, "" },
		{ "{1: 2}", "a record needs a field's name here", 2, 1,
		  "as in {id, size: len(.body), \"odd name\": 1, (.key): .value}" },
		{ "{\"a b\"}", "a `:` and a value are missing after this name", 2, 5, "" },
		{ "@", "`@` is followed by the name of a parameter", 1, 1,
		  "as in @name or @{name}" },
		{ "@{n", "`@` is followed by the name of a parameter", 1, 1,
		  "as in @name or @{name}" },
		{ "@long_nam", "unknown parameter `long_nam`", 1, 9, "did you mean `long_name`?" },
		{ "@what", "unknown parameter `what`", 1, 5, "give it a value: --set what=VALUE" },
		{ "\"@{l}\"", "`@l` is neither text nor a number", 2, 4, "" },
		{ "\"@{\"", "`@{` in a text begins a parameter, as in @{name}", 2, 2,
		  "for the two characters themselves write \\@{" },
		{ "x\n  and é", "a value is missing after `and`", 3, 4, EMPTIED },
	};
	struct err e;

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct expr_ast *a = parse_with(rows[i].text, &e);

		if (a)
			fail_msg("%s was accepted", rows[i].text);
		assert_int_equal(e.kind, ST_DATA);
		assert_string_equal(e.text, rows[i].want);
		assert_string_equal(e.help, rows[i].help);
		if (e.col != rows[i].col || e.width != rows[i].width)
			fail_msg("%s: carets at %u, %u wide", rows[i].text, e.col, e.width);
	}
}

static char *
parse_repeat(const char *part, size_t n, const char *middle, const char *end)
{
	struct buf b = { 0 };

	for (size_t i = 0; i < n; i++)
		buf_str(&b, part);
	buf_str(&b, middle);
	for (size_t i = 0; end && i < n; i++)
		buf_str(&b, end);
	return buf_take(&b);
}

static void
depth_and_size_are_bounded(void **state)
{
	static const struct { const char *part, *middle, *end; size_t good, bad; } rows[] = {
		{ "(", "x", ")", 190, 100000 }, { "[", "x", "]", 120, 100000 },
		{ "-", "x", NULL, 190, 100000 },
		{ "-!", "x", NULL, 90, 110 },
		{ "not ", "x", NULL, 190, 100000 },
		{ "x + ", "x", NULL, 900, 20000 }, { "2 ** ", "x", NULL, 190, 100000 },
		{ "x ?? ", "x", NULL, 190, 100000 }, { "x ? x : ", "x", NULL, 190, 100000 },
		{ "x[", "x", "]", 190, 100000 }, { "abs(", "x", ")", 190, 100000 },
		{ "{a: ", "x", "}", 120, 100000 },
	};
	struct err e;

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct help h;
		char *text = parse_repeat(rows[i].part, rows[i].good, rows[i].middle, rows[i].end);

		if (!help_compile(&h, text, NULL) && strcmp(h.e.text, "`-` of bool") != 0)
			fail_msg("%s...: %s", rows[i].part, h.e.text);
		char *again = help_print(h.ast);
		struct expr_ast *b = parse_with(again, &e);
		if (!b || !expr_ast_equal(h.ast, b))
			fail_msg("%s: %s", again, e.text);
		expr_ast_free(&b);
		mem_free(again);
		help_clear(&h);
		mem_free(text);
		text = parse_repeat(rows[i].part, rows[i].bad, rows[i].middle, rows[i].end);
		struct expr_ast *a = parse_with(text, &e);
		assert_null(a);
		assert_true(!strcmp(e.text, "this expression is nested too deeply")
			    || !strcmp(e.text, "this expression is too large"));
		mem_free(text);
	}
	char *text = parse_repeat("1,", 60000, "1", NULL), *list = mem_printf("[%s]", text);
	assert_null(parse_with(list, &e));
	assert_string_equal(e.text, "this expression is too large");
	mem_free(text);
	mem_free(list);
}

static void
the_tree_is_printed_with_its_structure(void **state)
{
	static const char want[] =
		"  binary and\n"
		"    binary >\n"
		"      field a\n"
		"        name x\n"
		"      value 1\n"
		"    call any\n"
		"      slice\n"
		"        name x\n"
		"        nothing\n"
		"        value 2\n"
		"      binary ~\n"
		"        name it\n"
		"        regex /e/i\n";
	struct err e;
	struct expr_ast *a = parse_with(".a > 1 and any(x[:2], it ~ /e/i)", &e);
	struct buf out = { 0 };
	size_t at, len;

	(void)state;
	assert_non_null(a);
	expr_print_tree(a, 2, &out);
	assert_string_equal((char *)out.data, want);
	expr_ast_place(a, &at, &len);
	assert_int_equal(at, 0);
	assert_int_equal(len, 32);
	expr_ast_place(a->kids[1], &at, &len);
	assert_int_equal(at, 11);
	assert_int_equal(len, 21);
	buf_clear(&out);
	expr_ast_free(&a);
	expr_ast_free(&a);
}
