/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "value/csv/csv.h"
#include "value/format/format.h"
#include "value/num.h"

static const struct csv_conf comma = { .delim = ',', .quote = '"', .header = true };
static const struct csv_conf tabs = { .delim = '\t', .quote = CSV_NO_QUOTE, .escapes = true, .header = true };

/* Reads text in pieces of `step` bytes more each time; JSON lines, and what went wrong. */
static char *
csv_read(const struct csv_conf *conf, const char *const *names, size_t n_names, const char *text,
	 size_t step)
{
	struct csv *c = csv_new(conf, names, n_names);
	size_t size = strlen(text), have = 0, at = 0;
	uint8_t *p = mem_alloc(size + CSV_PAD);
	struct buf out = { 0 };
	struct err e = { 0 };
	struct run r;
	uint64_t line = 1;

	run_init(&r);
	buf_str(&out, "");
	memset(p, ',', size + CSV_PAD); /* bytes after the end must not matter */
	while (at < size || have < size) {
		size_t used = 0;
		uint32_t lines = 0;

		have = have + step < size ? have + step : size;
		memcpy(p, text, have);
		for (;;) {
			run_reset(&r);
			enum status st = !csv_ready(c)
				? csv_header(c, p + at, have - at, have == size, &used, &lines, &e)
				: csv_rows(c, p + at, have - at, have == size, 2, &r, &used, &lines, &e);
			for (uint32_t i = 0; i < r.n; i++) {
				buf_printf(&out, "%llu ", (unsigned long long)(line + r.e[i].pos));
				json_print(r.e[i].p, r.e[i].len, &out);
				buf_byte(&out, '\n');
			}
			if (st == ST_DATA)
				buf_printf(&out, "%llu %s\n", (unsigned long long)line, e.text);
			if (st == ST_END)
				break;
			assert_true(used > 0 || !csv_ready(c));
			at += used;
			line += lines;
			if (!csv_ready(c))
				goto out;
		}
		if (have == size)
			break;
	}
out:
	run_clear(&r);
	mem_free(p);
	csv_free(&c);
	return buf_take(&out);
}

/* In one piece and in pieces of every size. */
static void
reads(const struct csv_conf *conf, const char *const *names, size_t n, const char *text,
      const char *want)
{
	for (size_t step = 1; step <= strlen(text) + 1; step++) {
		char *got = csv_read(conf, names, n, text, step);

		assert_string_equal(got, want);
		mem_free(got);
	}
}

static void
rows_are_records_of_the_header(void **state)
{
	(void)state;
	reads(&comma, NULL, 0, "a,b\n1,x\n2,y\n", "2 {\"a\":1,\"b\":\"x\"}\n3 {\"a\":2,\"b\":\"y\"}\n");
	reads(&comma, NULL, 0, "a,b\r\n1,x\r\n2,y", "2 {\"a\":1,\"b\":\"x\"}\n3 {\"a\":2,\"b\":\"y\"}\n");
	reads(&comma, NULL, 0, "\xef\xbb\xbf" "a\n1\n\n\n2\n", "2 {\"a\":1}\n5 {\"a\":2}\n");
	reads(&comma, NULL, 0, "", "");
	reads(&comma, NULL, 0, "\n\n", "");
	reads(&comma, NULL, 0, "a,b\n", "");
	reads(&comma, NULL, 0, "a,,a,a_2,a\n1,2,3,4,5\n",
	      "2 {\"a\":1,\"2\":2,\"a_2\":3,\"a_2_2\":4,\"a_3\":5}\n");
}

static void
quotes_hold_anything(void **state)
{
	(void)state;
	reads(&comma, NULL, 0, "a,b\n\"1\",\"x,\"\"y\"\"\nz\"\n\"\",3\n",
	      "2 {\"a\":\"1\",\"b\":\"x,\\\"y\\\"\\nz\"}\n4 {\"a\":\"\",\"b\":3}\n");
	reads(&comma, NULL, 0, "\"a\nb\",c\n1,2\r\n\"\r\n\",\"\"\"\"\r\n",
	      "3 {\"a\\nb\":1,\"c\":2}\n4 {\"a\\nb\":\"\\r\\n\",\"c\":\"\\\"\"}\n");
	/* a quote in the middle of a field is a quote */
	reads(&comma, NULL, 0, "a,b\n5\" disk,x\"\"\n", "2 {\"a\":\"5\\\" disk\",\"b\":\"x\\\"\\\"\"}\n");
	reads(&comma, NULL, 0, "a\n\"x\"", "2 {\"a\":\"x\"}\n");
	struct csv_conf none = comma;
	none.quote = CSV_NO_QUOTE;
	reads(&none, NULL, 0, "a,b\n\"1,2\"\n", "2 {\"a\":\"\\\"1\",\"b\":\"2\\\"\"}\n");
}

static void
numbers_are_exact_or_text(void **state)
{
	static const struct { const char *text, *json; } v[] = {
		{ "0", "0" }, { "7", "7" }, { "12345678", "12345678" }, { "123456789", "123456789" },
		{ "-1", "-1" }, { "-9223372036854775808", "-9223372036854775808" },
		{ "18446744073709551615", "18446744073709551615" },
		{ "18446744073709551616", "\"18446744073709551616\"" },
		{ "-9223372036854775809", "\"-9223372036854775809\"" },
		{ "007", "\"007\"" }, { "00", "\"00\"" }, { "-01", "\"-01\"" }, { "+1", "\"+1\"" },
		{ "-0", "-0.0" }, { "0.1", "0.1" }, { "-2.50", "-2.5" }, { ".5", "\".5\"" },
		{ "1.", "\"1.\"" }, { ".", "\".\"" }, { "-", "\"-\"" }, { "1e3", "1000.0" },
		{ "1E-2", "0.01" }, { "1e", "\"1e\"" }, { "e5", "\"e5\"" }, { "1e999", "\"1e999\"" },
		{ "3.141592653589793238462643", "3.141592653589793" }, { "0.30000000000000004", "0.30000000000000004" },
		{ "9007199254740993.0", "9007199254740992.0" },
		{ "1 ", "\"1 \"" }, { "1:2", "\"1:2\"" }, { "12/3", "\"12/3\"" }, { "1_0", "\"1_0\"" },
		{ "true", "true" }, { "false", "false" }, { "True", "\"True\"" }, { "truex", "\"truex\"" },
		{ "", "null" }, { "null", "\"null\"" }, { "nan", "\"nan\"" }, { "inf", "\"inf\"" },
		{ "1234567x", "\"1234567x\"" }, { "99999999", "99999999" }, { "4294967296", "4294967296" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof v / sizeof *v; i++) {
		char *text = mem_printf("a,b\n%s,0\n", v[i].text);
		char *want = mem_printf("2 {\"a\":%s,\"b\":0}\n", v[i].json);

		reads(&comma, NULL, 0, text, want);
		mem_free(text);
		mem_free(want);
	}
	struct csv_conf text = comma;
	text.text = true;
	reads(&text, NULL, 0, "a,b\n1,\n", "2 {\"a\":\"1\",\"b\":\"\"}\n");
}

static void
bad_rows_are_told_and_passed(void **state)
{
	(void)state;
	reads(&comma, NULL, 0, "a,b\n1,2\n3\n4,5\n6,7,8\n9,9\n",
	      "2 {\"a\":1,\"b\":2}\n3 a row of 1 field, where there are 2 columns\n"
	      "4 {\"a\":4,\"b\":5}\n5 a row of 3 fields, where there are 2 columns\n"
	      "6 {\"a\":9,\"b\":9}\n");
	reads(&comma, NULL, 0, "a,b\n1,\"x\"y\n2,3\n",
	      "2 field 2 has text after its closing quote\n3 {\"a\":2,\"b\":3}\n");
	reads(&comma, NULL, 0, "a,b\n1,\"x\n2,3\n",
	      "2 the quote that opens field 2 is never closed\n3 {\"a\":2,\"b\":3}\n");
}

static void
columns_are_named_or_chosen(void **state)
{
	static const char *const names[] = { "c", "a" };
	struct csv_conf bare = comma;

	(void)state;
	reads(&comma, names, 2, "a,b,c\n1,2,3\n", "2 {\"c\":3,\"a\":1}\n");
	reads(&comma, names, 2, "a,b,C\n1,2,3\n", "1 there is no column `c`\n");
	bare.header = false;
	reads(&bare, names, 2, "1,x\n2,\n", "1 {\"c\":1,\"a\":\"x\"}\n2 {\"c\":2,\"a\":null}\n");
	reads(&bare, NULL, 0, "1,x\n2,,3\n", "1 [1,\"x\"]\n2 [2,null,3]\n");
}

static void
lines_may_be_comments_and_rows_ragged(void **state)
{
	static const char *const names[] = { "c", "a" };
	struct csv_conf odd = comma;

	(void)state;
	odd.comment = "//";
	odd.n_comment = 2;
	reads(&odd, NULL, 0, "//a,b\na,b\n1,//2\n//\n\"\n//\",3\n/,/\n//x",
	      "3 {\"a\":1,\"b\":\"//2\"}\n5 {\"a\":\"\\n//\",\"b\":3}\n7 {\"a\":\"/\",\"b\":\"/\"}\n");
	reads(&odd, NULL, 0, "//a,b\n//", "");
	odd.ragged = true;
	reads(&odd, NULL, 0, "a,b\n1\n//\n1,2,3,\"\"\n", "2 {\"a\":1,\"b\":null}\n4 {\"a\":1,\"b\":2,\"3\":3,\"4\":\"\"}\n");
	reads(&odd, names, 2, "a,b,c\n1,2\n1,2,3,4\n", "2 {\"c\":null,\"a\":1}\n3 {\"c\":3,\"a\":1}\n");
	reads(&odd, NULL, 0, "a,4\n1\n", "1 ragged=true calls further fields by their number, but there is a column `4`\n");
	odd.header = false;
	reads(&odd, names, 2, "1\n1,2,3\n", "1 {\"c\":1,\"a\":null}\n2 {\"c\":1,\"a\":2,\"3\":3}\n");
}

static void
only_fields_that_are_used_are_made(void **state)
{
	const char *names[] = { "b" };
	uint32_t lens[] = { 1 };
	struct json_fields fields = { names, lens, 1 };
	struct csv *c = csv_new(&comma, NULL, 0);
	uint8_t text[20 + CSV_PAD] = "a,b,c\n1,2,3\n";
	struct buf out = { 0 };
	size_t used;
	uint32_t lines;
	struct run r;
	struct err e;

	(void)state;
	run_init(&r);
	csv_project(c, &fields);
	assert_int_equal(csv_header(c, text, 12, true, &used, &lines, &e), ST_OK);
	assert_int_equal(csv_rows(c, text + used, 12 - used, true, 9, &r, &used, &lines, &e), ST_OK);
	json_print(r.e[0].p, r.e[0].len, &out);
	assert_string_equal((char *)out.data, "{\"b\":2}");
	fields.n = 0;
	csv_project(c, &fields);
	run_reset(&r);
	assert_int_equal(csv_rows(c, text + 6, 6, true, 9, &r, &used, &lines, &e), ST_OK);
	assert_int_equal(r.e[0].len, 1);
	buf_clear(&out);
	run_clear(&r);
	csv_free(&c);
}

static void
tsv_has_escapes_and_no_quotes(void **state)
{
	(void)state;
	reads(&tabs, NULL, 0, "a\\tx\tb\n\"1\"\tx\\ty\\n\\r\\\\z\\q\\\n1\t\n",
	      "2 {\"a\\tx\":\"\\\"1\\\"\",\"b\":\"x\\ty\\n\\r\\\\z\\\\q\\\\\"}\n"
	      "3 {\"a\\tx\":1,\"b\":null}\n");
}

/* Fields around the lengths at which the code changes: 16, 31, 64, 256. */
static void
every_length_of_field(void **state)
{
	(void)state;
	for (size_t n = 1; n < 300; n += n < 70 ? 1 : 37) {
		char *field = mem_alloc(n + 1);

		memset(field, 'x', n);
		field[n] = 0;
		char *text = mem_printf("%s,k\n%s,\"%s\"\n7,%s\n", field, field, field, field);
		char *want = mem_printf("2 {\"%s\":\"%s\",\"k\":\"%s\"}\n3 {\"%s\":7,\"k\":\"%s\"}\n",
					field, field, field, field, field);
		char *got = csv_read(&comma, NULL, 0, text, 7);
		assert_string_equal(got, want);
		mem_free(got);
		mem_free(want);
		mem_free(text);
		mem_free(field);
	}
}
