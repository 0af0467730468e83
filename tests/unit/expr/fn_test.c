/* SPDX-License-Identifier: MIT */
#include "base/rng.h"
#include "expr_help.h"

static void
each_example_in_the_manual_gives_its_output(void **state)
{
	const struct expr_fn_doc *f = expr_functions();
	size_t n = 0;

	(void)state;
	for (; f->name; f++, n++) {
		struct help h;
		struct buf out = { 0 };
		const uint8_t *p;
		size_t len;

		assert_non_null(f->args);
		assert_true(f->brief && f->example && f->output);
		if (!help_compile(&h, f->example, NULL))
			fail_msg("%s: %s", f->name, h.e.text);
		struct expr_vm *vm = expr_vm_new(h.code, 1);
		struct elem e = { (const uint8_t *)"\xc0", NULL, 1, 0 };
		if (expr_value(vm, &e, &p, &len, &h.e))
			fail_msg("%s: %s", f->name, h.e.text);
		text_print(p, len, &out);
		if (strcmp((char *)out.data, f->output) != 0)
			fail_msg("%s gives %s, not %s", f->example, (char *)out.data, f->output);
		if (n && strcmp(f[-1].name, f->name) >= 0)
			fail_msg("%s is out of order", f->name);
		expr_vm_free(&vm);
		buf_clear(&out);
		help_clear(&h);
	}
	assert_in_range(n, 60, 100);
}

static void
conversions(void **state)
{
	static const struct help_row rows[] = {
		{ "int(x)", "\" -12 \"", "-12" },
		{ "int(x)", "\"+7\"", "7" },
		{ "int(x)", "\"1_000\"", "1000" },
		{ "int(x)", "\"0xFF\"", "255" },
		{ "int(x)", "\"18446744073709551615\"", "18446744073709551615" },
		{ "int(x)", "\"-9223372036854775808\"", "-9223372036854775808" },
		{ "int(x)", "\"-9223372036854775809\"",
		  "error: int(): \"-9223372036854775809\" is not an int" },
		{ "int(x)", "\"\"", "error: int(): \"\" is not an int" },
		{ "int(x)", "\"1.5\"", "error: int(): \"1.5\" is not an int" },
		{ "int(x)", "\"_1\"", "error: int(): \"_1\" is not an int" },
		{ "int(x)", "\"1_\"", "error: int(): \"1_\" is not an int" },
		{ "int(x)", "\"-\"", "error: int(): \"-\" is not an int" },
		{ "int(x)", "\"0x\"", "error: int(): \"0x\" is not an int" },
		{ "int(x)", "-3.99", "-3" },
		{ "int(x)", "1.8e19", "18000000000000000000" },
		{ "int(x)", "1e30", "error: int(): 1e+30 does not fit 64 bits" },
		{ "int(float(\"nan\") + x)", "1", "error: int(): nan does not fit 64 bits" },
		{ "int(x)", "null", "error: int() takes text, a number or a bool, not null" },
		{ "float(x)", "\"-1e-3\"", "-0.001" },
		{ "float(x)", "\" 5\"", "5.0" },
		{ "float(x)", "\"inf\"", "null" },
		{ "float(x)", "\"5x\"", "error: float(): \"5x\" is not a number" },
		{ "float(x)", "3", "3.0" },
		{ "float(x)", "true", "1.0" },
		{ "bool(x)", "\"no\"", "false" },
		{ "bool(x)", "\"maybe\"", "error: bool(): \"maybe\" is neither true nor false" },
		{ "bool(x)", "1", "true" },
		{ "bool(x)", "2", "error: bool() takes 0 and 1, of numbers" },
		{ "str(x)", "1.0", "\"1.0\"" },
		{ "str(x)", "null", "\"null\"" },
		{ "str(x)", "[1, \"a\"]", "\"[1,\\\"a\\\"]\"" },
		{ "str(x)", "true", "\"true\"" },
		{ "str(bytes(x))", "\"é\"", "\"é\"" },
		{ "str(unhex(\"ff\") ++ bytes(x))", "\"\"",
		  "error: str(): these bytes are not UTF-8 (hex() or base64() makes text of any)" },
		{ "map([null, true, 1, 18446744073709551615, 1.5, \"a\", bytes(\"a\"), [], {}, x], type(it))",
		  "1",
		  "[\"null\",\"bool\",\"int\",\"int\",\"float\",\"text\",\"bytes\",\"list\",\"record\",\"int\"]" },
	};

	(void)state;
	help_rows(rows, COUNT(rows));
}

static void
texts(void **state)
{
	static const struct help_row rows[] = {
		{ "len(x)", "\"\"", "0" },
		{ "len(x)", "\"añ😀\"", "3" },
		{ "len(bytes(x))", "\"añ\"", "3" },
		{ "len(x)", "[1, [2, 3]]", "2" },
		{ "len(x)", "{\"a\": 1}", "1" },
		{ "lower(x)", "\"ÄÖ ABC ΣΠ Д\"", "\"äö abc σπ д\"" },
		{ "upper(x)", "\"äöß abc σπ д\"", "\"ÄÖß ABC ΣΠ Д\"" },
		{ "upper(x)", "\"\"", "\"\"" },
		{ "upper(x)", "\"@`az{[AZ 0123456789 @`az{é\"", "\"@`AZ{[AZ 0123456789 @`AZ{É\"" },
		{ "lower(x)", "\"@AZ[`az{~@AZ[`az{~\"", "\"@az[`az{~@az[`az{~\"" },
		{ "trim(x)", "\" \\t a \\n\"", "\"a\"" },
		{ "trim(x)", "\"   \"", "\"\"" },
		{ "trim(x, \"é-\")", "\"-é a-é é\"", "\" a-é \"" },
		{ "trim(x, \"\")", "\" a \"", "\" a \"" },
		{ "join(x)", "[\"a\", \"b\"]", "\"ab\"" },
		{ "join(x, \", \")", "[\"a\", 1.5, true]", "\"a, 1.5, true\"" },
		{ "join(x, \",\")", "[]", "\"\"" },
		{ "join(x, \",\")", "[\"a\", null]", "error: join(): item 1 is null, not text" },
		{ "starts(x, \"\")", "\"abc\"", "true" },
		{ "starts(x, \"abcd\")", "\"abc\"", "false" },
		{ "ends(x, \"bc\")", "\"abc\"", "true" },
		{ "ends(x, \"abcd\")", "\"abc\"", "false" },
		{ "starts(bytes(x), \"a\")", "\"abc\"", "error: starts() of bytes and text" },
		{ "ends(bytes(x), bytes(\"c\"))", "\"abc\"", "true" },
		{ "contains(x, \"b\")", "\"abc\"", "true" },
		{ "contains(x, \"b\")", "{\"b\": 1}", "true" },
		{ "contains(x, [1])", "[[1]]", "true" },
		{ "slice(x, 1)", "\"héé\"", "\"éé\"" },
		{ "slice(x, -2, -1)", "[1, 2, 3]", "[2]" },
		{ "slice(x, 0, 99)", "\"ab\"", "\"ab\"" },
		{ "pad(x, 5)", "\"ab\"", "\"   ab\"" },
		{ "pad(x, -5, \".\")", "\"ab\"", "\"ab...\"" },
		{ "pad(x, 4, \"é\")", "\"é\"", "\"éééé\"" },
		{ "pad(x, 1)", "\"abc\"", "\"abc\"" },
		{ "pad(x, 5)", "-1.5", "\" -1.5\"" },
		{ "pad(x, 5, \"\")", "1", "error: pad() fills with one character" },
		{ "pad(x, 5, \"ab\")", "1", "error: pad() fills with one character" },
		{ "reversed(x)", "\"aéb\"", "\"béa\"" },
		{ "reversed(x)", "[1, [2], {\"a\": 3}]", "[{\"a\":3},[2],1]" },
		{ "reversed(x)", "[]", "[]" },
		{ "hex(reversed(bytes(x)))", "\"az\"", "\"7a61\"" },
	};

	(void)state;
	help_rows(rows, COUNT(rows));
}

static void
searching_and_replacing(void **state)
{
	static const struct help_row rows[] = {
		{ "match(x, /[0-9]+/)", "\"a12b3\"", "\"12\"" },
		{ "match(x, /z/)", "\"a\"", "null" },
		{ "match(x, \"a.\")", "\"zab\"", "\"ab\"" },
		{ "match(x, /$/)", "\"a\"", "\"\"" },
		{ "captures(x, /(.)(z)?(.)/)", "\"ab\"", "[\"a\",null,\"b\"]" },
		{ "captures(x, /(?<a>.)(.)(?<b>.)/)", "\"xyz\"", "{\"a\":\"x\",\"b\":\"z\"}" },
		{ "captures(x, /a/)", "\"a\"", "[]" },
		{ "captures(x, /(q)/)", "\"a\"", "null" },
		{ "captures(x, /(?<k>q)/).k ?? \"no\"", "\"a\"", "\"no\"" },
		{ "find(x, \"é\")", "\"aéé\"", "1" },
		{ "find(x, /[éb]+$/)", "\"éaéb\"", "2" },
		{ "find(x, \"\")", "\"abc\"", "0" },
		{ "find(x, \"z\")", "\"abc\"", "null" },
		{ "find(bytes(x), bytes(\"b\"))", "\"éb\"", "2" },
		{ "find(x, 2.0)", "[1, 2]", "1" },
		{ "find(x, 1)", "\"1\"", "error: find() of int in text" },
		{ "split(x)", "\"  a b\\t\\nc \"", "[\"a\",\"b\",\"c\"]" },
		{ "split(x)", "\"\"", "[]" },
		{ "split(x, \",\")", "\"a,,b,\"", "[\"a\",\"\",\"b\",\"\"]" },
		{ "split(x, \",\")", "\"\"", "[\"\"]" },
		{ "split(x, \"\")", "\"aé\"", "[\"a\",\"é\"]" },
		{ "split(x, /[,;] */)", "\"a, b;c\"", "[\"a\",\"b\",\"c\"]" },
		{ "split(x, / */)", "\"a b\"", "[\"a\",\"b\"]" },
		{ "split(x, /(?=[A-Z])/)", "\"oneTwoThree\"", "[\"one\",\"Two\",\"Three\"]" },
		{ "split(x, /x*/)", "\"\"", "[\"\"]" },
		{ "replace(x, \".\", \"-\")", "\"a.b.c\"", "\"a-b-c\"" },
		{ "replace(x, \"aa\", \"b\")", "\"aaaaa\"", "\"bba\"" },
		{ "replace(x, \"z\", \"b\")", "\"abc\"", "\"abc\"" },
		{ "replace(x, \"\", \"b\")", "\"abc\"", "error: replace() of an empty text" },
		{ "replace(x, \"a\", \"$1\")", "\"ab\"", "\"$1b\"" },
		{ "replace(x, /(\\w+) (\\w+)/, \"$2 $1\")", "\"a b, c d\"", "\"b a, d c\"" },
		{ "replace(x, /(?<y>.)/, \"<${y}${1}$0$$>\")", "\"ab\"", "\"<aaa$><bbb$>\"" },
		{ "replace(x, /a/, \"$1\")", "\"a\"",
		  "error: replace(): no such group after `$` ($$ is the sign itself)" },
		{ "replace(x, /a/, \"$\")", "\"a\"",
		  "error: replace(): no such group after `$` ($$ is the sign itself)" },
		{ "replace(x, /x*/, \"-\")", "\"éb\"", "\"-é-b-\"" },
		{ "replace(x, /$/, \"!\")", "\"ab\"", "\"ab!\"" },
		{ "replace(x, /(a)|b/, \"[$1]\")", "\"ab\"", "\"[a][]\"" },
	};

	(void)state;
	help_rows(rows, COUNT(rows));
}

static void
codes_and_hashes(void **state)
{
	static const struct help_row rows[] = {
		{ "hex(x)", "-255", "\"-ff\"" },
		{ "hex(x)", "18446744073709551615", "\"ffffffffffffffff\"" },
		{ "hex(x)", "-9223372036854775808", "\"-8000000000000000\"" },
		{ "hex(unhex(x))", "\"00FFa0\"", "\"00ffa0\"" },
		{ "unhex(x)", "\"abc\"", "error: unhex() of an odd number of digits" },
		{ "unhex(x)", "\"zz\"", "error: unhex() of a text that is not hex" },
		{ "base64(x)", "\"\"", "\"\"" },
		{ "base64(x)", "\"a\"", "\"YQ==\"" },
		{ "base64(x)", "\"ab\"", "\"YWI=\"" },
		{ "base64(x)", "\"abc\"", "\"YWJj\"" },
		{ "map([\"\", \"YQ==\", \"YWI\", \"YWJj\", \"-_8=\"], hex(unbase64(it)))", "0",
		  "[\"\",\"61\",\"6162\",\"616263\",\"fbff\"]" },
		{ "unbase64(x)", "\"a\"", "error: unbase64() of a text that is not base64" },
		{ "unbase64(x)", "\"a*==\"", "error: unbase64() of a text that is not base64" },
		{ "unbase64(x)", "\"YQ=\"", "error: unbase64() of a text with too little or too much padding" },
		/* part of the language: these must never change */
		{ "[hash(x), hash(x, 1000), hash(null), hash([1, \"a\"], 7)]", "\"abc\"",
		  "[5046024084658498631,263,1504785400141357678,0]" },
		{ "hash(x) == hash(7.0)", "7", "true" },
		{ "hash(x) == hash({b: 2, a: 1.0})", "{\"a\": 1, \"b\": 2}", "true" },
		{ "hash(x, 0)", "1", "error: hash() into 0 parts" },
		{ "all(map(range(1000), hash(it, 10)), it >= 0 and it < 10)", "0", "true" },
	};

	(void)state;
	help_rows(rows, COUNT(rows));
}

static void
numbers(void **state)
{
	static const struct help_row rows[] = {
		{ "abs(x)", "-9223372036854775808",
		  "error: integer overflow: -(-9223372036854775808) does not fit 64 bits" },
		{ "abs(x)", "-1.5", "1.5" },
		{ "abs(x)", "18446744073709551615", "18446744073709551615" },
		{ "min(x)", "[3, 1.5, 2]", "1.5" },
		{ "max(x, 2, 9.5)", "3", "9.5" },
		{ "min(x)", "[\"b\", \"a\"]", "\"a\"" },
		{ "max(x)", "[]", "error: max() of an empty list" },
		{ "max(x, \"a\")", "1", "error: `>` of text and int" },
		{ "max(x)", "[7]", "7" },
		{ "max(x)", "[[1, 2], [1, 3]]", "[1,3]" },
		{ "min(x)", "5", "5" }, { "min(x)", "null", "error: `<` of null and null" },
		{ "floor(x)", "-1.5", "-2" },
		{ "ceil(x)", "-1.5", "-1" },
		{ "round(x)", "-1.5", "-2" },
		{ "round(x)", "0.5", "1" },
		{ "floor(x)", "7", "7" },
		{ "floor(x)", "1e30", "error: floor(): 1e+30 does not fit 64 bits" },
		{ "ceil(x)", "1.8e19", "18000000000000000000" },
		{ "round(x, 2)", "2.675", "2.67" }, /* which is less than it looks */
		{ "round(x, 2)", "0.125", "0.13" }, { "round(x, 2)", "-0.125", "-0.13" },
		{ "round(x, 2)", "1.005", "1.0" }, { "round(x, 10)", "1e300", "1e+300" },
		{ "round(x, 15)", "123456789.12345679", "123456789.12345679" },
		{ "round(x, 1)", "3", "3.0" },
		{ "round(x, 99)", "3", "error: round() to 99 digits: from 0 to 15" },
		{ "sqrt(x)", "2", "1.4142135623730951" },
		{ "sqrt(x)", "-1", "error: sqrt() of a negative number" },
		{ "log(x)", "0", "error: log() of a number that is not above 0" },
		{ "log(x, 10)", "1000", "3.0" },
		{ "log(x, 1)", "5", "error: log() to the base 1" },
		{ "log(exp(x))", "1", "1.0" },
		{ "pow(x, 0.5)", "16", "4.0" },
		{ "pow(x, 10)", "2", "1024.0" },
	};

	(void)state;
	help_rows(rows, COUNT(rows));
}

static void
lists(void **state)
{
	static const struct help_row rows[] = {
		{ "sum(x)", "[]", "0" },
		{ "sum(x)", "[1, 2.5]", "3.5" },
		{ "sum(x)", "[9223372036854775807, 1, -1]", "9223372036854775807" },
		{ "sum(x)", "[9223372036854775807, 1]",
		  "error: integer overflow: this sum does not fit 64 bits" },
		{ "sum(x)", "[9223372036854775807, 9223372036854775807, 2]",
		  "error: integer overflow: this sum does not fit 64 bits" },
		{ "sum(x)", "[18446744073709551615, 1, -1]", "18446744073709551615" },
		{ "sum(x)", "[1, \"2\"]", "error: sum() of a list with text in it" },
		{ "mean(x)", "[1, 2, 4.5]", "2.5" },
		{ "mean(x)", "[]", "error: mean() of an empty list" },
		{ "uniq(x)", "[3, 1, 3.0, \"a\", \"a\", [1], [1.0], null, 1]",
		  "[3,1,\"a\",[1],null]" },
		{ "uniq(x)", "[]", "[]" },
		{ "zip(x, [4, 5])", "[1, 2, 3]", "[[1,4],[2,5]]" },
		{ "zip(x)", "[1]", "[[1]]" },
		{ "zip(x, [])", "[1]", "[]" },
		{ "zip(x, x, x)", "[{\"a\": 1}]", "[[{\"a\":1},{\"a\":1},{\"a\":1}]]" },
		{ "range(x)", "3", "[0,1,2]" },
		{ "range(x, -5, -2)", "0", "[0,-2,-4]" },
		{ "range(x, 9, 4)", "0", "[0,4,8]" },
		{ "range(x)", "-1", "[]" },
		{ "range(5, x)", "1", "[]" },
		{ "range(x, 3, 0)", "1", "error: range() with a step of 0" },
		{ "range(9223372036854775805, x)", "9223372036854775807",
		  "[9223372036854775805,9223372036854775806]" },
		{ "range(x, 9223372036854775807, 9223372036854775807)", "-9223372036854775808",
		  "[-9223372036854775808,-1,9223372036854775806]" },
	};

	(void)state;
	help_rows(rows, COUNT(rows));
}

static void
records(void **state)
{
	static const struct help_row rows[] = {
		{ "keys(x)", "{}", "[]" },
		{ "values(x)", "{\"a\": [1], \"b\": null}", "[[1],null]" },
		{ "has(x, \"b\")", "{\"a\": 1}", "false" },
		{ "merge(x, {b: 9}, {c: 3})", "{\"a\": 1, \"b\": 2}", "{\"a\":1,\"b\":9,\"c\":3}" },
		{ "merge(x, {a: 2}, {a: 3, z: x})", "{\"a\": 1}", "{\"a\":3,\"z\":{\"a\":1}}" },
		{ "merge(x)", "{\"a\": 1}", "{\"a\":1}" },
		{ "merge({}, x, {})", "{\"a\": 1}", "{\"a\":1}" },
		{ "merge(x, 1)", "{}", "error: merge() takes a record here, not int" },
		{ "without(x, \"a\", [\"b\", \"z\"])", "{\"a\": 1, \"b\": 2, \"c\": 3}",
		  "{\"c\":3}" },
		{ "without(x, [])", "{\"a\": 1}", "{\"a\":1}" },
	};

	(void)state;
	help_rows(rows, COUNT(rows));
}

static void
parsing_of_known_forms(void **state)
{
	static const struct help_row rows[] = {
		{ "parse_json(x)", "\"{\\\"a\\\":[1,null,1.5]}\"", "{\"a\":[1,null,1.5]}" },
		{ "parse_json(bytes(x)).a", "\"{\\\"a\\\":7}\"", "7" },
		{ "parse_json(x)", "\" \\\"t\\\" \"", "\"t\"" },
		{ "parse_json(x) ?? x", "\"{oops\"", "\"{oops\"" },
		{ "to_json(x)", "{\"a\": [\"é\", 1.0]}", "\"{\\\"a\\\":[\\\"é\\\",1.0]}\"" },
		{ "parse_json(to_json(x)) == x", "[1, {\"b\": \"\\n\"}]", "true" },
		{ "parse_csv(x)", "\"a,,\\\"b\\\"\\\"c\\\",\"", "[\"a\",null,\"b\\\"c\",null]" },
		{ "parse_csv(x)", "\"\"", "error: parse_csv(): this text is not a row" },
		{ "parse_csv(x)", "\"a\\nb\"", "error: parse_csv(): this text is more than one row" },
		{ "parse_csv(x, \"\\t\")", "\"a\\tb,c\\r\\n\"", "[\"a\",\"b,c\"]" },
		{ "parse_csv(x)", "\"\\\"a\"", "error: parse_csv(): the quote that opens field 1 is never closed" },
		{ "parse_csv(x)", "\"\\\"a\\\"b\"",
		  "error: parse_csv(): field 1 has text after its closing quote" },
		{ "parse_csv(x, \"\")", "\"a\"", "error: parse_csv(): a separator is one byte, and no quote "
		  "or end of line; split() takes any text" },
		{ "parse_csv(x)", "\"\\\"a\\\",\"", "[\"a\",null]" },
		{ "[parse_csv(x), parse_csv(x, \";\"), parse_csv(x, \";\", \"text\")]", "\"1;2,3\"",
		  "[[\"1;2\",3],[1,\"2,3\"],[\"1\",\"2,3\"]]" },
		{ "parse_kv(x)", "\"a=1 b=\\\"x \\\\\\\" y\\\" c d=\"",
		  "{\"a\":1,\"b\":\"x \\\" y\",\"c\":true,\"d\":null}" },
		{ "parse_kv(x)", "\"\"", "{}" },
		{ "parse_kv(x)", "\"a=1 a=2\"", "{\"a\":2}" },
		{ "parse_kv(x, \"&\")", "\"q=a b&r=2&&s\"",
		  "{\"q\":\"a b\",\"r\":2,\"s\":true}" },
		{ "parse_kv(x, \"; \", \": \")", "\"a: 1; b: 2\"", "{\"a\":1,\"b\":2}" },
		{ "parse_kv(x)", "\"a=\\\"b\"", "error: parse_kv(): a quote that is not closed" },
		{ "parse_kv(x)", "\"=b\"", "error: parse_kv(): a value without a name before `=`" },
		{ "parse_kv(x, \"\")", "\"a\"", "error: parse_kv() with an empty separator" },
	};

	(void)state;
	help_rows(rows, COUNT(rows));
}

static void
times_are_utc_and_of_any_zone(void **state)
{
	static const struct help_row rows[] = {
		{ "parse_time(x)", "\"1970-01-01\"", "0.0" },
		{ "parse_time(x)", "\"2024-02-29T12:30:00Z\"", "1709209800.0" },
		{ "parse_time(x)", "\"2024-02-29 12:30:00.25\"", "1709209800.25" },
		{ "parse_time(x)", "\"2024-02-29T12:30-0700\"", "1709235000.0" },
		{ "parse_time(x)", "\"2024-02-29T12:30:00 +05\"", "1709191800.0" },
		{ "parse_time(x)", "\"2023-02-30\"",
		  "error: parse_time(): \"2023-02-30\" is not like 2024-02-29T12:30:00Z" },
		{ "parse_time(x)", "\"2023-13-01\"",
		  "error: parse_time(): \"2023-13-01\" is not like 2024-02-29T12:30:00Z" },
		{ "parse_time(x)", "\"noon\"",
		  "error: parse_time(): \"noon\" is not like 2024-02-29T12:30:00Z" },
		{ "parse_time(x)", "\"1969-12-31T23:59:59\"", "-1.0" },
		{ "parse_time(x)", "\"2024-01-01T00:00:00+99\"",
		  "error: parse_time(): \"2024-01-01T00:00:00+99\" is not like 2024-02-29T12:30:00Z" },
		{ "parse_time(x, \"%d/%b/%Y:%H:%M:%S %z\")", "\"10/Oct/2000:13:55:36 -0700\"",
		  "971211336.0" },
		{ "parse_time(x, \"%s\")", "\"86400\"", "86400.0" },
		{ "parse_time(x, \"%Y\")", "\"1971x\"",
		  "error: parse_time(): \"1971x\" is not of the form \"%Y\"" },
		{ "parse_time(x, \"%Y\")", "\"1971\"", "31536000.0" },
		{ "fmt_time(x)", "1709209800", "\"2024-02-29T12:30:00Z\"" },
		{ "fmt_time(x)", "0.25", "\"1970-01-01T00:00:00.25Z\"" },
		{ "fmt_time(x)", "441128358.008958", "\"1983-12-24T15:39:18.008958Z\"" },
		{ "fmt_time(x)", "59.9999999", "\"1970-01-01T00:01:00Z\"" },
		{ "fmt_time(x)", "-0.5", "\"1969-12-31T23:59:59.5Z\"" },
		{ "fmt_time(x, \"%Y-%j\")", "0", "\"1970-001\"" },
		{ "fmt_time(x)", "1e13", "error: fmt_time() of 1e+13 seconds" },
		{ "fmt_time(parse_time(x))", "\"0099-03-01\"", "\"0099-03-01T00:00:00Z\"" },
		{ "fmt_time(x, \"\")", "0", "\"1970-01-01T00:00:00Z\"" },
	};

	(void)state;
	help_rows(rows, COUNT(rows));
}

static void
file_names(void **state)
{
	static const struct help_row rows[] = {
		{ "map(x, basename(it))",
		  "[\"/a/b\", \"b\", \"/a/b/\", \"/\", \"//\", \"\", \"a//b//\"]",
		  "[\"b\",\"b\",\"b\",\"/\",\"/\",\"\",\"b\"]" },
		{ "map(x, dirname(it))",
		  "[\"/a/b\", \"b\", \"/a/b/\", \"/\", \"/a\", \"\", \"a//b//\", \"../x\"]",
		  "[\"/a\",\".\",\"/a\",\"/\",\"/\",\".\",\"a\",\"..\"]" },
		{ "map(x, [stem(it), ext(it)])",
		  "[\"a.tar.gz\", \".bashrc\", \"dir.d/name\", \"a.\", \"/x/.y.z\", \"..gz\", \"...\", \"..a.b\", \"a..gz\"]",
		  "[[\"a.tar\",\".gz\"],[\".bashrc\",\"\"],[\"name\",\"\"],[\"a\",\".\"],[\".y\",\".z\"],"
		  "[\"..gz\",\"\"],[\"...\",\"\"],[\"..a\",\".b\"],[\"a.\",\".gz\"]]" },
	};

	(void)state;
	help_rows(rows, COUNT(rows));
}

/* Splitting at a byte gives what a pattern of that byte does, in memory that ends right behind the text. */
static void
splits_at_a_byte_as_at_a_pattern(void **state)
{
	struct rng r = { 5, 0 };
	struct help h;

	(void)state;
	assert_true(help_compile(&h, "split(x, \",\") == split(x, /,/)", NULL));
	struct expr_vm *vm = expr_vm_new(h.code, 1);
	for (size_t i = 0; i < 2000; i++) {
		size_t n = rng_below(&r, i % 10 ? 200 : 2000), every = 1 + rng_below(&r, i % 2 ? 4 : 60), len;
		uint8_t *text = mem_alloc(n + MP_HEAD_MAX);
		const uint8_t *p;
		struct elem e = { text, NULL, 0, 0 };
		uint8_t *w = mp_put_text_head(text, (uint32_t)n);

		for (size_t k = 0; k < n; k++)
			*w++ = rng_below(&r, every) ? 'a' : ',';
		e.len = (uint32_t)(w - text);
		e.p = mem_dup(text, e.len);
		assert_int_equal(expr_value(vm, &e, &p, &len, &h.e), ST_OK);
		assert_int_equal(*p, 0xc3);
		mem_free((void *)(uintptr_t)e.p);
		mem_free(text);
	}
	expr_vm_free(&vm);
	help_clear(&h);
}
