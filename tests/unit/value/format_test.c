/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/str.h"
#include "value/format/format.h"
#include "value/json/json.h"
#include "value/mp.h"

#define GROUP_SETUP setup
#define GROUP_TEARDOWN teardown
#include "value/tensor.h"

static struct json *json;

/* Adds a JSON document as an element. */
static void
add(struct run *r, const char *text)
{
	struct buf b = { 0 };
	struct err e;

	assert_int_equal(json_value(json, (const uint8_t *)text, strlen(text), &b, &e), ST_OK);
	uint8_t *w = run_room(r, b.len);
	memcpy(w, b.data, b.len);
	run_done(r, w + b.len, 0);
	buf_clear(&b);
}

/* Prints the run, as a run and as a chunk, and compares both. */
static void
gives(enum format_kind kind, const struct type *type, const struct run *r, const char *want, size_t want_len)
{
	for (int chunk = 0; chunk < 2; chunk++) {
		struct format *f = format_new(kind, type);
		struct buf out = { 0 };
		struct err e;

		if (!chunk)
			assert_int_equal(format_run(f, r, &out, &e), ST_OK);
		else if (r->n)
			assert_int_equal(format_bytes(f, r->e[0].p, run_bytes(r), r->n, &out, &e), ST_OK);
		assert_int_equal(format_end(f, &out, NULL), ST_OK);
		if (out.len != want_len || (want_len && memcmp(out.data, want, want_len)))
			fail_msg("got %s", out.len ? (char *)out.data : "nothing");
		buf_clear(&out);
		format_free(&f);
	}
}

static void
each_format_as_documented(void **state)
{
	struct run r = { 0 };

	(void)state;
	add(&r, "1");
	add(&r, "\"a\\nb\"");
	add(&r, "null");
	add(&r, "true");
	add(&r, "[0,1,4,9]");
	add(&r, "{\"id\":1,\"n\":-2.5}");
	add(&r, "{}");
#define WANT(s) s, sizeof s - 1
	gives(FORMAT_TEXT, NULL, &r, WANT("1\na\nb\nnull\ntrue\n[0,1,4,9]\n{\"id\":1,\"n\":-2.5}\n{}\n"));
	gives(FORMAT_NUL, NULL, &r, WANT("1\0a\nb\0null\0true\0[0,1,4,9]\0{\"id\":1,\"n\":-2.5}\0{}\0"));
	gives(FORMAT_NDJSON, NULL, &r, WANT("1\n\"a\\nb\"\nnull\ntrue\n[0,1,4,9]\n{\"id\":1,\"n\":-2.5}\n{}\n"));
	gives(FORMAT_JSON, NULL, &r,
	      WANT("[\n1,\n\"a\\nb\",\nnull,\ntrue,\n[0,1,4,9],\n{\"id\":1,\"n\":-2.5},\n{}\n]\n"));
	gives(FORMAT_RAW, NULL, &r, WANT("1a\nbnulltrue[0,1,4,9]{\"id\":1,\"n\":-2.5}{}"));
	gives(FORMAT_COUNT, NULL, &r, WANT("7\n"));
	gives(FORMAT_NONE, NULL, &r, WANT(""));
	gives(FORMAT_MSGPACK, NULL, &r, (const char *)r.e[0].p, run_bytes(&r));
	run_clear(&r);
}

static void
nothing_is_printed_validly_too(void **state)
{
	struct run r = { 0 };

	(void)state;
	gives(FORMAT_JSON, NULL, &r, WANT("[]\n"));
	gives(FORMAT_COUNT, NULL, &r, WANT("0\n"));
	gives(FORMAT_AUTO, NULL, &r, WANT(""));
	run_clear(&r);
}

static void
json_goes_on_over_runs(void **state)
{
	struct format *f = format_new(FORMAT_JSON, NULL);
	struct run r = { 0 };
	struct buf out = { 0 };

	(void)state;
	add(&r, "1");
	format_run(f, &r, &out, NULL);
	format_run(f, &r, &out, NULL);
	assert_int_equal(format_end(f, &out, NULL), ST_OK);
	assert_string_equal((char *)out.data, "[\n1,\n1\n]\n");
	format_free(&f);
	run_clear(&r);
	buf_clear(&out);
}

static void
auto_is_text_for_scalars(void **state)
{
	struct types *t = types_new();
	struct run r = { 0 };

	(void)state;
	add(&r, "\"a b\"");
	gives(FORMAT_AUTO, NULL, &r, WANT("a b\n"));
	gives(FORMAT_AUTO, type_scalar(TYPE_ANY), &r, WANT("a b\n"));
	gives(FORMAT_AUTO, type_scalar(TYPE_TEXT), &r, WANT("a b\n"));
	gives(FORMAT_AUTO, type_nullable(t, type_scalar(TYPE_TEXT)), &r, WANT("a b\n"));
	gives(FORMAT_AUTO, type_list(t, type_scalar(TYPE_TEXT)), &r, WANT("\"a b\"\n"));
	run_reset(&r);
	add(&r, "[]");
	add(&r, "\"a b\"");
	gives(FORMAT_AUTO, NULL, &r, WANT("[]\n\"a b\"\n")); /* decided by the first */
	run_clear(&r);
	types_free(&t);
}

static void
json_is(const void *p, size_t n, const char *want)
{
	struct buf out = { 0 };
	/* an own copy of the very size, so that reading past it is noticed */
	uint8_t *copy = mem_dup(p, n);

	json_print(copy, n, &out);
	assert_string_equal((char *)out.data, want);
	buf_clear(&out);
	mem_free(copy);
}

static void
json_text_is(const void *s, uint32_t n, const char *want)
{
	uint8_t m[1000];
	uint8_t *end = mp_put_text(m, s, n);

	json_is(m, (size_t)(end - m), want);
}

static void
texts_are_escaped(void **state)
{
	(void)state;
	json_text_is("", 0, "\"\"");
	json_text_is("plain text of more than sixteen", 31, "\"plain text of more than sixteen\"");
	json_text_is("a\"b\\c/d", 7, "\"a\\\"b\\\\c/d\"");
	json_text_is("\b\f\n\r\t\x01\x1f\x7f", 8, "\"\\b\\f\\n\\r\\t\\u0001\\u001f\x7f\"");
	json_text_is("\0", 1, "\"\\u0000\"");
	json_text_is("h\xc3\xa9llo \xe2\x82\xac \xf0\x9f\x98\x80!", 16, "\"h\xc3\xa9llo \xe2\x82\xac \xf0\x9f\x98\x80!\"");
	json_text_is("12345678\"", 9, "\"12345678\\\"\"");
	json_text_is("1234567\"", 8, "\"1234567\\\"\"");
}

static void
what_is_not_utf8_is_replaced(void **state)
{
#define FFFD "\xef\xbf\xbd"
	(void)state;
	json_text_is("a\xff" "b", 3, "\"a" FFFD "b\"");
	json_text_is("\xc3", 1, "\"" FFFD "\"");
	json_text_is("\xe2\x82", 2, "\"" FFFD FFFD "\"");
	json_text_is("\xc0\x80", 2, "\"" FFFD FFFD "\"");                 /* overlong */
	json_text_is("\xed\xa0\x80", 3, "\"" FFFD FFFD FFFD "\"");       /* surrogate */
	json_text_is("\xf4\x90\x80\x80", 4, "\"" FFFD FFFD FFFD FFFD "\""); /* above U+10FFFF */
	json_text_is("12345678\xe2\x82", 10, "\"12345678" FFFD FFFD "\"");
}

static void
long_texts_are_escaped_piece_by_piece(void **state)
{
	size_t n = 100000;
	uint8_t *m = mem_alloc(n + 10);
	struct buf out = { 0 }, back = { 0 };
	struct err e;

	(void)state;
	for (int step = 1; step < 9; step++) {
		uint8_t *w = mp_put_text_head(m, (uint32_t)n);

		for (size_t i = 0; i < n; i++)
			w[i] = (uint8_t)((i % (size_t)step == 0) ? '\n' : 'a' + i % 26);
		for (size_t i = 4090; i + 4 < n; i += 4095)
			memcpy(w + i, "\xf0\x9f\x98\x80", 4); /* over the ends of pieces */
		buf_reset(&out);
		buf_reset(&back);
		json_print(m, n + 5, &out);
		assert_int_equal(json_value(json, out.data, out.len, &back, &e), ST_OK);
		assert_int_equal(back.len, n + 5);
		assert_memory_equal(back.data, m, n + 5);
	}
	mem_free(m);
	buf_clear(&out);
	buf_clear(&back);
}

static void
other_kinds_as_json(void **state)
{
	uint8_t m[64], *w;

	(void)state;
	w = mp_put_bytes_head(m, 4);
	memcpy(w, "\xff\0ab", 4);
	json_is(m, 6, "\"/wBhYg==\"");
	mp_put_float(m, NAN);
	json_is(m, 9, "null");
	mp_put_float(m, 3);
	json_is(m, 9, "3.0");
	json_is("\xcf\xff\xff\xff\xff\xff\xff\xff\xff", 9, "18446744073709551615");
	json_is("\xd3\x80\0\0\0\0\0\0\0", 9, "-9223372036854775808");
	json_is("\xd4\x05\x41", 3, "\"QQ==\"");
	/* keys that are no text; one that is a list */
	json_is("\x84\x01\x02\xc0\x03\x91\x01\x04\xc4\x01\x61\xc3", 12,
		"{\"1\":2,\"null\":3,\"kQE=\":4,\"YQ==\":true}");
}

static void
text_form_of_floats_and_bytes(void **state)
{
	struct buf out = { 0 };
	uint8_t m[16], *w;

	(void)state;
	mp_put_float(m, NAN);
	text_print(m, 9, &out);
	mp_put_float(m, -INFINITY);
	text_print(m, 9, &out);
	w = mp_put_bytes_head(m, 2);
	memcpy(w, "\xff\n", 2);
	text_print(m, 4, &out);
	assert_string_equal((char *)out.data, "nan-inf\xff\n");
	buf_clear(&out);
}

static void
deep_values_do_not_overrun(void **state)
{
	uint8_t m[2 * MP_DEPTH_MAX + 8];
	struct buf out = { 0 }, back = { 0 };
	struct err e;

	(void)state;
	for (int shift = 0; shift < 100; shift++) { /* so that the end of the room is met everywhere */
		buf_clear(&out);
		for (int i = 0; i < 950 + shift; i++)
			buf_byte(&out, ' ');
		memset(m, 0x91, MP_DEPTH_MAX - 1);
		m[MP_DEPTH_MAX - 1] = 7;
		json_print(m, MP_DEPTH_MAX, &out);
		buf_reset(&back);
		assert_int_equal(json_value(json, out.data, out.len, &back, &e), ST_OK);
		assert_int_equal(back.len, MP_DEPTH_MAX);
	}
	buf_clear(&out);
	buf_clear(&back);
}

static void
tensors_print_as_nested_lists(void **state)
{
	struct tensor t = { .dtype = DTYPE_I16, .n_dims = 3, .dims = { 2, 1, 3 } };
	static const int16_t data[] = { 1, -2, 3, 4, 5, -6 };
	uint8_t m[200], *w = tensor_put_head(m, &t);
	struct mp h;

	(void)state;
	memcpy(w, data, sizeof data);
	json_is(m, (size_t)(w - m) + sizeof data, "[[[1,-2,3]],[[4,5,-6]]]");
	mp_head(m, m + sizeof m, &h);
	assert_true(h.kind == MP_EXT && h.ext == MP_EXT_TENSOR && tensor_read(h.p, h.n, &t));
	assert_int_equal((t.data - h.p) % 8, 0);
	assert_int_equal(t.count, 6);

	t = (struct tensor){ .dtype = DTYPE_F32, .n_dims = 0 };
	w = tensor_put_head(m, &t);
	memcpy(w, &(float){ 0.5f }, 4);
	json_is(m, (size_t)(w - m) + 4, "0.5");
	t = (struct tensor){ .dtype = DTYPE_BOOL, .n_dims = 1, .dims = { 2 } };
	w = tensor_put_head(m, &t);
	memcpy(w, "\1\0", 2);
	json_is(m, (size_t)(w - m) + 2, "[true,false]");
	t = (struct tensor){ .dtype = DTYPE_U64, .n_dims = 2, .dims = { 1u << 30, 0 } };
	w = tensor_put_head(m, &t);
	json_is(m, (size_t)(w - m), "[]");
}

static void
false_tensors_are_not_read(void **state)
{
	struct tensor t = { .dtype = DTYPE_U8, .n_dims = 2, .dims = { 2, 2 } };
	uint8_t m[200], *w = tensor_put_head(m, &t), keep[200];
	struct mp h;

	(void)state;
	memset(w, 0, 4);
	mp_head(m, m + sizeof m, &h);
	size_t at = (size_t)(h.p - m);
	memcpy(keep, m, sizeof m);
	for (size_t n = 0; n < h.n; n++)
		assert_false(tensor_read(h.p, n, &t));
	assert_true(tensor_read(h.p, h.n, &t));
	static const struct { size_t at; uint8_t v; } bad[] = {
		{ 0, 2 }, { 1, DTYPE_COUNT }, { 2, 17 }, { 2, 1 }, { 3, 255 }, { 3, 5 }, { 4, 3 }, { 11, 0x80 }
	};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		memcpy(m, keep, sizeof m);
		m[at + bad[i].at] = bad[i].v;
		assert_false(tensor_read(h.p, h.n, &t));
	}
	/* products that wrap */
	t = (struct tensor){ .dtype = DTYPE_F64, .n_dims = 3, .dims = { 1ull << 62, 4, 2 } };
	assert_null(tensor_put_head(m, &t));
	t = (struct tensor){ .dtype = DTYPE_U8, .n_dims = 1, .dims = { 0xffffffff } };
	assert_null(tensor_put_head(m, &t));
}

static void
malformed_chunks_are_refused(void **state)
{
	static const uint8_t good[] = { 1, 0x92, 2, 3, 0xa1, 'x' };
	struct format *f = format_new(FORMAT_TEXT, NULL);
	struct buf out = { 0 };
	struct err e;

	(void)state;
	assert_int_equal(format_bytes(f, good, 6, 3, &out, &e), ST_OK);
	assert_string_equal((char *)out.data, "1\n[2,3]\nx\n");
	assert_int_equal(format_bytes(f, good, 5, 3, &out, &e), ST_PROTO);
	assert_string_equal(e.text, "element 3 of 3 is malformed");
	assert_int_equal(format_bytes(f, good, 6, 4, &out, &e), ST_PROTO);
	assert_int_equal(format_bytes(f, good, 6, 2, &out, &e), ST_PROTO);
	assert_string_equal(e.text, "2 bytes follow the last of 2 elements");
	assert_int_equal(format_bytes(f, good, 6, UINT64_MAX, &out, &e), ST_PROTO);
	assert_int_equal(out.len, 10); /* nothing of the bad ones */
	format_free(&f);
	buf_clear(&out);
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
	return 0;
}
