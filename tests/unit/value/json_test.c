/* SPDX-License-Identifier: MIT */
#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "value/format/format.h"
#include "value/json/json.h"
#include "value/json/json_fault.h"
#include "value/mp.h"

#define GROUP_SETUP setup
#define GROUP_TEARDOWN teardown

static struct json *json;

/* The text as one document, printed again. */
static void
reads(const char *text, const char *want)
{
	struct buf b = { 0 }, out = { 0 };
	struct err e = { 0 };
	struct json_fault f;

	if (json_value(json, (const uint8_t *)text, strlen(text), &b, &e))
		fail_msg("%s: %s", text, e.text);
	assert_true(mp_check(b.data, b.len));
	assert_false(json_fault((const uint8_t *)text, strlen(text), &f));
	json_print(b.data, b.len, &out);
	assert_string_equal((char *)out.data, want);
	buf_clear(&b);
	buf_clear(&out);
}

static void
refuses_bytes(const char *text, size_t n, const char *want)
{
	struct buf b = { 0 };
	struct err e = { 0 };

	if (json_value(json, (const uint8_t *)text, n, &b, &e) != ST_DATA)
		fail_msg("taken: %s", text);
	assert_string_equal(e.text, want);
	assert_int_equal(b.len, 0);
	buf_clear(&b);
}

static void
refuses(const char *text, const char *want)
{
	refuses_bytes(text, strlen(text), want);
}

static void
documents_are_read(void **state)
{
	(void)state;
	reads("null", "null");
	reads(" [ true , false ] \n", "[true,false]");
	reads("{\"b\":1,\"a\":[],\"c\":{}}", "{\"b\":1,\"a\":[],\"c\":{}}");
	reads("\"\\u00e9\\ud83d\\ude00\\n\"", "\"\xc3\xa9\xf0\x9f\x98\x80\\n\"");
	reads("18446744073709551615", "18446744073709551615");
	reads("[18446744073709551615,-9223372036854775808,9223372036854775807]",
	      "[18446744073709551615,-9223372036854775808,9223372036854775807]");
	reads("[-0,0,1e2,0.1,1.0,1E-7,1e-400]", "[0,0,100.0,0.1,1.0,1e-07,0.0]");
	reads("-12", "-12");
	reads(" 2.50 ", "2.5");
	reads("\"\"", "\"\"");
}

static void
of_a_key_given_twice_the_last_counts(void **state)
{
	struct buf text = { 0 }, want = { 0 };

	(void)state;
	reads("{\"a\":1,\"b\":2,\"a\":[3]}", "{\"a\":[3],\"b\":2}");
	reads("{\"a\":{\"x\":1,\"x\":2},\"a\":{\"y\":1,\"y\":{\"z\":1,\"z\":2}}}", "{\"a\":{\"y\":{\"z\":2}}}");
	reads("{\"\":1,\"\":2}", "{\"\":2}");
	/* more fields than are compared each with each */
	for (int i = 0; i < 3000; i++)
		buf_printf(&text, "%c\"k%d\":%d", i ? ',' : '{', i % 1000, i);
	buf_str(&text, "}");
	for (int i = 0; i < 1000; i++)
		buf_printf(&want, "%c\"k%d\":%d", i ? ',' : '{', i, i + 2000);
	buf_str(&want, "}");
	reads((char *)text.data, (char *)want.data);
	buf_clear(&text);
	buf_clear(&want);
}

static void
faults_are_named_with_their_byte(void **state)
{
	(void)state;
	refuses("", "not JSON: there is nothing");
	refuses(" \n", "not JSON: there is nothing");
	refuses("{\"a\":1", "not JSON at byte 7: unexpected end");
	refuses("{\"a\" 1}", "not JSON at byte 6: expected ':'");
	refuses("{a:1}", "not JSON at byte 2: expected a field name in quotes");
	refuses("{\"a\":1,}", "not JSON at byte 8: expected a field name in quotes");
	refuses("[1,2,]", "not JSON at byte 6: expected a JSON value");
	refuses("[1 2]", "not JSON at byte 4: expected ',' or ']'");
	refuses("{\"a\":1]", "not JSON at byte 7: expected ',' or '}'");
	refuses("[nul]", "not JSON at byte 2: expected a JSON value");
	refuses("nullx", "not JSON at byte 1: expected a JSON value");
	refuses("[01]", "not JSON at byte 2: this is not a number as JSON writes them");
	refuses("1.", "not JSON at byte 1: this is not a number as JSON writes them");
	refuses("[-]", "not JSON at byte 2: this is not a number as JSON writes them");
	refuses("[1e400]", "not JSON at byte 2: this number is too large for a float");
	refuses("{\"n\":18446744073709551616}", "not JSON at byte 6: this integer does not fit into 64 bits");
	refuses("-9223372036854775809", "not JSON at byte 1: this integer does not fit into 64 bits");
	refuses("\"ab", "not JSON at byte 1: the text that begins here has no closing quote");
	refuses("[\"a\tb\"]", "not JSON at byte 4: a control character within a text must be escaped");
	refuses("[\"a\\x\"]", "not JSON at byte 4: there is no such escape");
	refuses("\"\\u12g4\"", "not JSON at byte 2: \\u wants four hexadecimal digits");
	refuses("\"\\ud800x\"", "not JSON at byte 2: lone surrogate");
	refuses("\"\\udc00\"", "not JSON at byte 2: lone surrogate");
	refuses("[\"caf\xe9\"]", "not JSON at byte 6: this is not UTF-8");
	refuses("1 2", "not JSON at byte 3: something follows the value");
	refuses("{} {}", "not JSON at byte 4: something follows the value");
	refuses("{}x", "not JSON at byte 3: something follows the value");
	refuses_bytes("[1\0]", 4, "not JSON at byte 3: expected ',' or ']'");
}

static void
depth_is_bounded(void **state)
{
	char text[2 * MP_DEPTH_MAX + 8];
	struct buf b = { 0 };

	(void)state;
	memset(text, '[', MP_DEPTH_MAX);
	text[MP_DEPTH_MAX] = '1';
	memset(text + MP_DEPTH_MAX + 1, ']', MP_DEPTH_MAX);
	assert_int_equal(json_value(json, (uint8_t *)text, 2 * MP_DEPTH_MAX + 1, &b, NULL), ST_OK);
	assert_true(mp_check(b.data, b.len));
	buf_clear(&b);
	memset(text, '[', MP_DEPTH_MAX + 1);
	text[MP_DEPTH_MAX + 1] = '1';
	memset(text + MP_DEPTH_MAX + 2, ']', MP_DEPTH_MAX + 1);
	refuses_bytes(text, 2 * MP_DEPTH_MAX + 3, "not JSON at byte 129: this is nested deeper than 128");
}

/* NDJSON as an operator reads it: goes on behind faults, which are printed as
 * `line:col`, elements as `pos=json`. */
static void
lines_give_before(char behind, const char *text, const struct json_fields *fields, uint32_t max,
		  const char *want)
{
	size_t n = strlen(text), at = 0, used;
	uint8_t *copy = mem_zalloc(n + json_padding());
	struct run r = { 0 };
	struct buf out = { 0 };
	struct err e = { 0 };
	uint32_t line = 0, lines;

	memcpy(copy, text, n);
	memset(copy + n, behind, json_padding());
	while (at < n) {
		run_reset(&r);
		enum status st = json_lines(json, copy + at, n - at, fields, max, line, &r, &used, &lines, &e);
		assert_true(used > 0 && r.n <= max);
		for (uint32_t i = 0; i < r.n; i++) {
			assert_true(mp_check(r.e[i].p, r.e[i].len));
			buf_printf(&out, "%u=", r.e[i].pos);
			json_print(r.e[i].p, r.e[i].len, &out);
			buf_byte(&out, ' ');
		}
		at += used;
		line += lines;
		if (st)
			buf_printf(&out, "%u:%u ", line - 1, e.col);
	}
	assert_int_equal(at, n);
	assert_string_equal((char *)out.data, want);
	run_clear(&r);
	buf_clear(&out);
	mem_free(copy);
}

/* Bytes after the text must not matter. */
static void
lines_give(const char *text, const struct json_fields *fields, uint32_t max, const char *want)
{
	for (const char *behind = "x[]{}\",:1"; *behind; behind++)
		lines_give_before(*behind, text, fields, max, want);
}

static void
lines_are_elements(void **state)
{
	(void)state;
	for (uint32_t max = 1; max < 5; max++) {
		lines_give("{\"a\":1}\n[2]\n\"x\"\n", NULL, max, "0={\"a\":1} 1=[2] 2=\"x\" ");
		lines_give("1\n-2\n3.5\ntrue", NULL, max, "0=1 1=-2 2=3.5 3=true ");
		lines_give("\n \r\n{}\r\n\n\n[]\n \n", NULL, max, "2={} 5=[] ");
		lines_give("1\n{\"a\":2}\n3\n[4]\n", NULL, max, "0=1 1={\"a\":2} 2=3 3=[4] ");
	}
}

static void
faults_are_those_of_their_line(void **state)
{
	(void)state;
	for (uint32_t max = 1; max < 5; max++) {
		lines_give("[1]\n[2,\n[3]\n", NULL, max, "0=[1] 1:4 2=[3] ");
		lines_give("{\"a\":1} {\"b\":2}\n[3]\n", NULL, max, "0:9 1=[3] ");
		lines_give("{\"a\":\n1}\n[3]\n", NULL, max, "0:6 1:2 2=[3] ");
		lines_give("{\"a\":\n1} {\"b\":2}\n[3]\n", NULL, max, "0:6 1:2 2=[3] ");
		lines_give("[1]\n\"a\n[2]\nb\"\n[3]", NULL, max, "0=[1] 1:1 2=[2] 3:1 4=[3] ");
		lines_give("[1]\n[\"\xff\"]\n[2]\n[\"\xff\"]\n[3]", NULL, max, "0=[1] 1:3 2=[2] 3:3 4=[3] ");
		lines_give("[1]\n{} {", NULL, max, "0=[1] 1:4 ");
		lines_give("1 2\n3x\n4", NULL, max, "0:3 1:1 2=4 ");
		lines_give("]\n}\n:\n,\n[5]\n", NULL, max, "0:1 1:1 2:1 3:1 4=[5] ");
		lines_give("[99999999999999999999]\n[1]", NULL, max, "0:2 1=[1] ");
	}
}

static void
a_projection_keeps_fields_in_document_order(void **state)
{
	const char *names[] = { "c", "a", "long_name_of_a_field" };
	const uint32_t lens[] = { 1, 1, 20 };
	struct json_fields f = { names, lens, 3 }, none = { names, lens, 0 };

	(void)state;
	lines_give("{\"a\":{\"c\":0},\"b\":1,\"c\":[1]}\n{\"b\":1}\n[1]\n7\n", &f, 9,
		   "0={\"a\":{\"c\":0},\"c\":[1]} 1={} 2=[1] 3=7 ");
	lines_give("{\"a\":1,\"c\":2,\"a\":3,\"b\":4,\"b\":5}\n", &f, 9, "0={\"a\":3,\"c\":2} ");
	lines_give("{\"long_name_of_a_field\":1,\"long_name_of_a_fielx\":2,\"a\":3}", &f, 9,
		   "0={\"long_name_of_a_field\":1,\"a\":3} ");
	/* fields that are not wanted are checked, too */
	lines_give("{\"a\":1,\"b\":tru}\n", &f, 9, "0:12 ");
	lines_give("{\"a\":1}\n", &none, 9, "0={} ");
}

/* The parser has not read anything yet, so what lies behind the places it finds is
 * memory as it came; M_PERTURB makes that a place far from the text. */
static void
open_brackets_at_the_end_stay_within_the_text(void **state)
{
	const char *names[] = { "a" };
	const uint32_t lens[] = { 1 };
	struct json_fields f = { names, lens, 1 };
	static const struct {
		const char *text, *want;
	} t[] = {
		{ "[\n[", "0:2 1:2 " }, { "[[[[\n[[[[[[[[", "0:5 1:9 " }, { "{\n{", "0:2 1:2 " },
		{ "{\"a\":\n[", "0:6 1:2 " }, { "\"x\"\n[\n{\"b\":[", "0=\"x\" 1:2 2:7 " },
		{ "[]\n[1,\n{\"a\":[[", "0=[] 1:4 2:8 " }, { "[", "0:2 " }, { "]\n[", "0:1 1:2 " },
	};

	(void)state;
	mallopt(M_PERTURB, 65);
	for (size_t k = 0; k < 2 * sizeof t / sizeof *t; k++)
		for (const char *behind = "x[]{}\",:1"; *behind; behind++) {
			json_free(&json);
			json = json_new();
			lines_give_before(*behind, t[k / 2].text, k % 2 ? &f : NULL, 5, t[k / 2].want);
		}
	mallopt(M_PERTURB, 0);
}

static void
a_wide_projection_is_kept_too(void **state)
{
	const char *names[40];
	uint32_t lens[40];
	char text[40][8];
	struct json_fields f = { names, lens, 40 };
	struct buf line = { 0 }, want = { 0 };

	(void)state;
	buf_str(&line, "{");
	buf_str(&want, "0={");
	for (int i = 0; i < 40; i++) {
		lens[i] = (uint32_t)snprintf(text[i], sizeof text[i], "f%d", 39 - i);
		names[i] = text[i];
		buf_printf(&line, "%s\"f%d\":%d,\"g%d\":0", i ? "," : "", i, i, i);
		buf_printf(&want, "%s\"f%d\":%d", i ? "," : "", i, i);
	}
	buf_str(&line, "}\n");
	buf_str(&want, "} ");
	lines_give((char *)line.data, &f, 10, (char *)want.data);
	buf_clear(&line);
	buf_clear(&want);
}

/* Lines of very different sizes, over the ends of batches and blocks. */
static void
sizes_of_lines_do_not_matter(void **state)
{
	struct buf text = { 0 };
	struct run r = { 0 };
	size_t at = 0, used;
	uint32_t line = 0, lines, seen = 0;

	(void)state;
	for (int i = 0; i < 4000; i++) {
		size_t n = i % 1000 == 999 ? 3000000 : i % 100 == 99 ? 70000 : (size_t)i % 50;

		buf_printf(&text, "{\"i\":%d,\"s\":\"", i);
		memset(buf_room(&text, n), 'a' + i % 26, n);
		text.len += n;
		buf_str(&text, "\"}\n");
	}
	memset(buf_room(&text, json_padding()), 0, json_padding());
	while (at < text.len) {
		run_reset(&r);
		assert_int_equal(json_lines(json, text.data + at, text.len - at, NULL, 512, line, &r, &used,
					    &lines, NULL), ST_OK);
		for (uint32_t i = 0; i < r.n; i++, seen++) {
			const uint8_t *v;
			size_t n;
			struct mp h;

			assert_true(mp_field(r.e[i].p, r.e[i].p + r.e[i].len, "i", 1, &v, &n));
			mp_head(v, v + n, &h);
			assert_int_equal(h.i, seen);
			assert_int_equal(r.e[i].pos, seen);
		}
		at += used;
		line += lines;
	}
	assert_int_equal(seen, 4000);
	run_clear(&r);
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
	json_free(&json);
	return 0;
}
