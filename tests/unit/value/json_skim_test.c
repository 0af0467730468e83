/* SPDX-License-Identifier: MIT
 * Plain lines under a projection are read without the parser's second half
 * (json_skim.h). A backslash anywhere in a line keeps it from that, so each line is
 * read twice, as it is and with one field more that has one: the answers must be
 * the same, and so must be what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "value/json/json.h"
#include "value/mp.h"

#define GROUP_SETUP setup
#define GROUP_TEARDOWN teardown

static const char *const good[] = {
	"\"cat\"", "\"\"", "\"a, b: {c}\"", "\"\xc3\xa9\"", "\"0123456789012345678901234567890123456789\"",
	"0", "-0", "7", "-1", "123456789012345", "-999999999999999", "1234567890123456",
	"9223372036854775807", "-9223372036854775808", "18446744073709551615", "0.5", "-0.0", "1.10",
	"0.1", "123456.789012345", "99999.9999999999", "0.00000000000001", "3.141592653589793", "1e5",
	"1E-3", "5e-324", "true", "false", "null", "[1,2]", "[]", "{\"a\":1}", "{}",
};
static const char *const bad[] = {
	"01", "-01", "1.", "-", "+1", ".5", "tru", "nulll", "truex", "12a", "1.5.2", "--1", "0x1", "1e",
	"\"a\" \"b\"", "\"a\"b", "1 2", "", "18446744073709551616", "1e999", "'a'", "[1", "{", "}", "]", ":", ",",
};
static const char *const keys[] = { "\"a\"", "\"b\"", "\"c\"", "\"d\"", "\"a_long_name_of_a_field\"", "\"\"",
	"\"ab\"" };
static const char *const spaces[] = { "", "", "", " ", "\t", "  ", "\r" };

#define PICK(r, list) list[rng_below(r, sizeof list / sizeof *list)]

static struct json *json;
static struct run run;

static void
line_make(struct rng *r, struct buf *out)
{
	uint64_t fields = rng_below(r, 6) + 1;
	bool wrong = !rng_below(r, 4);

	buf_reset(out);
	buf_printf(out, "%s{", PICK(r, spaces));
	for (uint64_t i = 0; i < fields; i++)
		buf_printf(out, "%s%s%s%s:%s%s%s", i ? "," : "", PICK(r, spaces), PICK(r, keys),
			   PICK(r, spaces), PICK(r, spaces),
			   wrong && !rng_below(r, 3) ? PICK(r, bad) : PICK(r, good), PICK(r, spaces));
	buf_str(out, "}");
	/* Bytes gone or changed, now and then; the bracket at the end stays. */
	if (!rng_below(r, 4)) {
		size_t at = rng_below(r, out->len - 1);
		out->data[at] = (uint8_t)"{}[]:,\"0-.e t1\x80\x01"[rng_below(r, 16)];
	}
}

/* Reads one line; its element goes to out. */
static enum status
line_read(const struct buf *text, const struct json_fields *f, struct buf *out)
{
	struct buf copy = { 0 };
	uint32_t lines;
	size_t used;
	struct err e;

	buf_put(&copy, text->data, text->len);
	/* bytes after the end may look like more of it */
	memset(buf_room(&copy, json_padding()), '7', json_padding());
	run_reset(&run);
	buf_reset(out);
	enum status st = json_lines(json, copy.data, copy.len, f, 10, 0, &run, &used, &lines, &e);
	assert_true(run.n <= 1);
	if (run.n) {
		assert_true(mp_check(run.e[0].p, run.e[0].len));
		buf_put(out, run.e[0].p, run.e[0].len);
	}
	assert_true(st != ST_OK || used == text->len);
	buf_clear(&copy);
	return st;
}

static void
skimmed_lines_are_as_the_parser_reads_them(void **state)
{
	const char *names[] = { "a", "c", "a_long_name_of_a_field" };
	const uint32_t lens[] = { 1, 1, 22 };
	struct json_fields f = { names, lens, 3 };
	struct buf line = { 0 }, same = { 0 }, a = { 0 }, b = { 0 };
	uint64_t taken = 0, refused = 0;
	struct rng r = { 7, 0 };

	(void)state;
	for (int i = 0; i < 30000; i++) {
		line_make(&r, &line);
		buf_reset(&same);
		buf_put(&same, line.data, line.len - 1);
		buf_str(&same, ",\"zz\":\"\\n\"}");
		enum status st = line_read(&line, &f, &a), st2 = line_read(&same, &f, &b);
		if (st != st2 || a.len != b.len || (a.len && memcmp(a.data, b.data, a.len)))
			fail_msg("%.*s is %s (%zu bytes), the parser says %s (%zu)", (int)line.len,
				 (char *)line.data, status_name(st), a.len, status_name(st2), b.len);
		*(st == ST_OK ? &taken : &refused) += 1;
	}
	assert_true(taken > 5000 && refused > 2000);
	buf_clear(&line);
	buf_clear(&same);
	buf_clear(&a);
	buf_clear(&b);
}

/* Between lines for the parser and lines that are not plain, each in its place. */
static void
lines_of_both_kinds_follow_each_other(void **state)
{
	const char *names[] = { "n" };
	const uint32_t lens[] = { 1 };
	struct json_fields f = { names, lens, 1 };
	struct buf text = { 0 };
	uint32_t lines, seen = 0;
	size_t at = 0, used;
	struct rng r = { 3, 0 };

	(void)state;
	for (uint32_t i = 0; i < 5000; i++) {
		static const char *const rest[] = { "", ",\"s\":\"\\n\"", ",\"s\":[1,{}]", ",\"s\":\"x\"", ",\"s\":1e3" };
		buf_printf(&text, "{\"n\":%u%s}\n%s", i, PICK(&r, rest), rng_below(&r, 9) ? "" : "\n");
	}
	memset(buf_room(&text, json_padding()), 0, json_padding());
	for (; at < text.len; at += used) {
		run_reset(&run);
		assert_int_equal(json_lines(json, text.data + at, text.len - at, &f,
					    1 + (uint32_t)rng_below(&r, 300), 0, &run, &used, &lines, NULL), ST_OK);
		for (uint32_t i = 0; i < run.n; i++) {
			const uint8_t *v;
			struct mp h;
			size_t n;

			assert_true(mp_field(run.e[i].p, run.e[i].p + run.e[i].len, "n", 1, &v, &n));
			mp_head(v, v + n, &h);
			assert_int_equal(h.i, seen++);
		}
	}
	assert_int_equal(seen, 5000);
	buf_clear(&text);
}

static int
setup(void **state)
{
	(void)state;
	json = json_new();
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	json_free(&json);
	run_clear(&run);
	return 0;
}
