/* SPDX-License-Identifier: MIT
 * The formats of rows, arrays, frames and archives. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <archive.h>
#include <archive_entry.h>
#include <cmocka.h>

#include "base/mem.h"
#include "value/crc32c.h"
#include "value/format/example.h"
#include "value/format/format.h"
#include "value/json/json.h"
#include "value/mp.h"
#include "value/format/npy.h"
#include "value/tensor.h"

/* A run of the values of NDJSON text. */
static void
kin_run(struct run *r, const char *text)
{
	struct json *j = json_new();
	size_t n = strlen(text), used;
	uint8_t *p = mem_alloc(n + json_padding());
	uint32_t lines;
	struct err e;

	memcpy(p, text, n);
	run_init(r);
	assert_int_equal(json_lines(j, p, n, NULL, 1000, 0, r, &used, &lines, &e), ST_OK);
	assert_int_equal(used, n);
	mem_free(p);
	json_free(&j);
}

static void
kin_tensor(struct run *r, enum dtype d, uint64_t rows, uint64_t cols, const void *data)
{
	struct tensor t = { .dtype = d, .n_dims = cols ? 2 : 1, .dims = { rows, cols } };
	size_t n = dtype_size(d) * rows * (cols ? cols : 1);
	uint8_t *w = tensor_put_head(run_room(r, TENSOR_HEAD_MAX + n), &t);

	memcpy(w, data, n);
	run_done(r, w + n, 0);
}

static enum status
kin_write(enum format_kind kind, bool seekable, const struct run *r, struct buf *out, struct err *e)
{
	struct format *f = format_new(kind, NULL);
	struct buf patch = { 0 };

	buf_str(out, "");
	if (seekable)
		format_seekable(f);
	enum status st = format_run(f, r, out, e);
	if (st == ST_OK)
		st = format_end(f, out, e);
	if (format_patch(f, &patch))
		memcpy(out->data, patch.data, patch.len);
	buf_clear(&patch);
	format_free(&f);
	return st;
}

static void
rows(enum format_kind kind, const char *json, const char *want)
{
	struct buf out = { 0 };
	struct err e = { 0 };
	struct run r;

	kin_run(&r, json);
	assert_int_equal(kin_write(kind, false, &r, &out, &e), ST_OK);
	assert_string_equal((char *)out.data, want);
	buf_clear(&out);
	run_clear(&r);
}

static void
refused(enum format_kind kind, const char *json, const char *before, const char *words)
{
	struct buf out = { 0 };
	struct err e = { 0 };
	struct run r;

	kin_run(&r, json);
	assert_int_equal(kin_write(kind, true, &r, &out, &e), ST_DATA);
	if (before)
		assert_string_equal((char *)out.data, before);
	if (!strstr(e.text, words))
		assert_string_equal(e.text, words);
	buf_clear(&out);
	run_clear(&r);
}

static void
csv_is_as_other_programs_write_it(void **state)
{
	(void)state;
	rows(FORMAT_CSV, "{\"a\":1,\"b\":\"x\"}\n{\"b\":\"y\",\"a\":2.5}\n", "a,b\n1,x\n2.5,y\n");
	rows(FORMAT_CSV, "{\"a,b\":null,\"c\":true}\n", "\"a,b\",c\n,true\n");
	rows(FORMAT_CSV, "{\"a\":\"x\\\"y\",\"b\":\"l1\\nl2\",\"c\":\"p,q\",\"d\":\"\"}\n",
	     "a,b,c,d\n\"x\"\"y\",\"l1\nl2\",\"p,q\",\n");
	rows(FORMAT_CSV, "{\"a\":[1,\"x\"],\"b\":{\"c\":null}}\n", "a,b\n\"[1,\"\"x\"\"]\",\"{\"\"c\"\":null}\"\n");
	rows(FORMAT_CSV, "[1,\"x\"]\n[]\n[null]\n", "1,x\n\n\"\"\n");
	rows(FORMAT_CSV, "1\n\"x,y\"\nnull\n", "1\n\"x,y\"\n\"\"\n");
	rows(FORMAT_CSV, "{\"a\":null}\n{\"a\":\"\"}\n", "a\n\"\"\n\"\"\n");
	rows(FORMAT_TSV, "{\"a\\tb\":\"x\\ty\\n\\r\\\\\\\"\",\"c\":1}\n", "a\\tb\tc\nx\\ty\\n\\r\\\\\"\t1\n");
	rows(FORMAT_CSV, "", "");
}

static void
rows_must_be_alike(void **state)
{
	(void)state;
	refused(FORMAT_CSV, "{\"a\":1,\"b\":2}\n{\"a\":1}\n", "a,b\n1,2\n",
		"element 2: it lacks a field `b`, which the first record has");
	refused(FORMAT_CSV, "{\"a\":1}\n{\"a\":1,\"c\":2}\n", "a\n1\n",
		"element 2: it has a field `c`, which the first record has not");
	refused(FORMAT_CSV, "{\"a\":1}\n[1]\n", "a\n1\n", "element 2: it is a list, and the first one was a record");
	refused(FORMAT_TSV, "1\n{\"a\":1}\n", "1\n", "it is a record, and the first one was a single value");
}

/* Reads the header, and gives where the data begins. */
static const uint8_t *
array_is(const struct buf *b, enum dtype d, int n_dims, uint64_t d0, uint64_t d1, size_t size)
{
	struct npy a;
	struct err e = { 0 };

	assert_int_equal(npy_head(b->data, b->len, &a, &e), ST_OK);
	assert_int_equal(a.dtype, d);
	assert_int_equal(a.n_dims, n_dims);
	assert_int_equal(a.head % 64, 0);
	if (n_dims > 0)
		assert_int_equal(a.dims[0], d0);
	if (n_dims > 1)
		assert_int_equal(a.dims[1], d1);
	assert_true(b->len >= a.head + size);
	return b->data + a.head;
}

static void
npy_is_one_array_where_it_can_be(void **state)
{
	static const int64_t ints[] = { 1, -2, 3 };
	static const double floats[] = { 1, 2.5, -3 };
	static const float f32[] = { 1, 2, 3, 4, 5, 6 };
	struct buf out = { 0 };
	struct err e = { 0 };
	struct run r;

	(void)state;
	kin_run(&r, "1\n-2\n3\n");
	assert_int_equal(kin_write(FORMAT_NPY, true, &r, &out, &e), ST_OK);
	assert_memory_equal(array_is(&out, DTYPE_I64, 1, 3, 0, 24), ints, 24);
	run_clear(&r);
	buf_reset(&out);
	kin_run(&r, "[1,2.5,-3]\n[1,2,3]\n");
	assert_int_equal(kin_write(FORMAT_NPY, true, &r, &out, &e), ST_OK);
	assert_memory_equal(array_is(&out, DTYPE_F64, 2, 2, 3, 48), floats, 24);
	run_clear(&r);
	buf_reset(&out);
	run_init(&r);
	kin_tensor(&r, DTYPE_F32, 2, 0, f32);
	kin_tensor(&r, DTYPE_F32, 2, 0, f32 + 2);
	kin_tensor(&r, DTYPE_F32, 2, 0, f32 + 4);
	assert_int_equal(kin_write(FORMAT_NPY, true, &r, &out, &e), ST_OK);
	assert_memory_equal(array_is(&out, DTYPE_F32, 2, 3, 2, 24), f32, 24);
	buf_reset(&out);
	r.n = 0;
	assert_int_equal(kin_write(FORMAT_NPY, true, &r, &out, &e), ST_OK);
	array_is(&out, DTYPE_F64, 1, 0, 0, 0);
	run_clear(&r);
	buf_clear(&out);
}

static void
npy_is_an_array_each_in_a_pipe(void **state)
{
	static const uint8_t bytes[] = { 1, 2, 3, 4 };
	struct buf out = { 0 }, rest;
	struct err e = { 0 };
	struct run r;

	(void)state;
	run_init(&r);
	kin_tensor(&r, DTYPE_U8, 2, 2, bytes);
	kin_tensor(&r, DTYPE_U8, 4, 0, bytes);
	assert_int_equal(kin_write(FORMAT_NPY, false, &r, &out, &e), ST_OK);
	const uint8_t *p = array_is(&out, DTYPE_U8, 2, 2, 2, 4);
	assert_memory_equal(p, bytes, 4);
	rest = (struct buf){ (uint8_t *)(uintptr_t)p + 4, out.len - (size_t)(p + 4 - out.data), 0 };
	assert_memory_equal(array_is(&rest, DTYPE_U8, 1, 4, 0, 4), bytes, 4);
	run_clear(&r);
	buf_clear(&out);
}

static void
arrays_have_one_shape(void **state)
{
	(void)state;
	refused(FORMAT_NPY, "[1,2]\n[1]\n", NULL, "element 2: it is i64[1], and the first one was i64[2]");
	refused(FORMAT_NPY, "1\n1.5\n", NULL, "element 2: it is f64[], and the first one was i64[]");
	refused(FORMAT_NPY, "[[1],[2,3]]\n", NULL, "its lists have different lengths");
	refused(FORMAT_NPY, "[[1],2]\n", NULL, "its lists have different depths");
	refused(FORMAT_NPY, "[1,[2]]\n", NULL, "lists");
	refused(FORMAT_NPY, "[1,true]\n", NULL, "it mixes i64 and bool");
	refused(FORMAT_NPY, "\"x\"\n", NULL, "an array has no place for text");
	refused(FORMAT_NPY, "{\"a\":1}\n", NULL, "no place for a record");
}

/* The frame at *at; goes behind it. */
static const uint8_t *
frame(const struct buf *b, size_t *at, size_t *n)
{
	const uint8_t *p = b->data + *at;
	uint32_t crc;

	assert_true(b->len - *at >= 16);
	memcpy(n, p, 8);
	memcpy(&crc, p + 8, 4);
	assert_int_equal(crc, crc32c_masked(p, 8));
	memcpy(&crc, p + 12 + *n, 4);
	assert_int_equal(crc, crc32c_masked(p + 12, *n));
	*at += *n + 16;
	return p + 12;
}

static void
tfrecord_frames_have_checksums(void **state)
{
	static const char json[] = "{\"a\":[1,-2],\"b\":[\"x\",\"y\"],\"c\":2.5,\"d\":[],\"e\":\"\",\"f\":[1,0.5],"
		"\"g\":9223372036854775807}";
	struct buf out = { 0 }, record = { 0 }, text = { 0 };
	struct example_conf conf = { 0 };
	struct err e = { 0 };
	size_t at = 0, n;
	struct run r;

	(void)state;
	kin_run(&r, "\"one\"\n\"\"\n");
	assert_int_equal(kin_write(FORMAT_TFRECORD, false, &r, &out, &e), ST_OK);
	assert_memory_equal(frame(&out, &at, &n), "one", 3);
	frame(&out, &at, &n);
	assert_int_equal(n, 0);
	assert_int_equal(at, out.len);
	run_clear(&r);
	buf_reset(&out);
	at = 0;
	char *line = mem_printf("%s\n", json);
	kin_run(&r, line);
	assert_int_equal(kin_write(FORMAT_TFRECORD, false, &r, &out, &e), ST_OK);
	const uint8_t *p = frame(&out, &at, &n);
	assert_int_equal(example_decode(&conf, p, n, &record, &e), ST_OK);
	json_print(record.data, record.len, &text);
	assert_string_equal((char *)text.data,
			    "{\"a\":[1,-2],\"b\":[\"x\",\"y\"],\"c\":2.5,\"d\":[],\"e\":\"\",\"f\":[1.0,0.5],"
			    "\"g\":9223372036854775807}");
	mem_free(line);
	run_clear(&r);
	buf_clear(&out);
	buf_clear(&record);
	buf_clear(&text);
	refused(FORMAT_TFRECORD, "1\n", "", "tfrecord holds bytes, text, and records");
	refused(FORMAT_TFRECORD, "{\"a\":{\"b\":1}}\n", "", "field `a`: a tf.train.Example has no place for a record");
	refused(FORMAT_TFRECORD, "{\"a\":[1,\"x\"]}\n", "", "field `a`: a list of different kinds");
	refused(FORMAT_TFRECORD, "{\"a\":18446744073709551615}\n", "", "does not fit an int64");
}

/* The result that protoc and tf.io.parse_example give for messages that come in parts. */
static void
an_example_in_parts_is_merged(void **state)
{
	static const struct { const char *p; size_t n; const char *want; } rows[] = {
#define ROW(bytes, want) { bytes, sizeof bytes - 1, want }
		/* int64_list twice in a feature: 1, then 2 and 3 */
		ROW("\x0a\x14\x0a\x12\x0a\x01" "a" "\x12\x0d\x1a\x03\x0a\x01\x01\x1a\x06\x0a\x04\x02\x03\x04\x05",
		    "{\"a\":[1,2,3,4,5]}"),
		/* the value twice in an entry */
		ROW("\x0a\x13\x0a\x11\x0a\x01" "a" "\x12\x05\x1a\x03\x0a\x01\x01\x12\x05\x1a\x03\x0a\x01\x02",
		    "{\"a\":[1,2]}"),
		/* bytes_list, then int64_list: the last of the oneof */
		ROW("\x0a\x11\x0a\x0f\x0a\x01" "a" "\x12\x0a\x0a\x03\x0a\x01" "x" "\x1a\x03\x0a\x01\x07",
		    "{\"a\":7}"),
		/* the features in two messages, a in both: the last, and not merged */
		ROW("\x0a\x0c\x0a\x0a\x0a\x01" "a" "\x12\x05\x1a\x03\x0a\x01\x01"
		    "\x0a\x18\x0a\x0a\x0a\x01" "b" "\x12\x05\x1a\x03\x0a\x01\x02"
		    "\x0a\x0a\x0a\x01" "a" "\x12\x05\x1a\x03\x0a\x01\x09",
		    "{\"b\":2,\"a\":9}"),
		/* an entry without a value, and one without a key */
		ROW("\x0a\x05\x0a\x03\x0a\x01" "a", "{\"a\":[]}"),
		ROW("\x0a\x02\x0a\x00", "{\"\":[]}"),
		ROW("", "{}"),
	};
	struct example_conf conf = { 0 };
	struct buf record = { 0 }, text = { 0 };
	struct err e;

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		buf_reset(&record);
		buf_reset(&text);
		assert_int_equal(example_decode(&conf, (const uint8_t *)rows[i].p, rows[i].n, &record, &e), ST_OK);
		json_print(record.data, record.len, &text);
		assert_string_equal((char *)text.data, rows[i].want);
	}
	buf_clear(&record);
	buf_clear(&text);
}

/* Above a few features keys are found by hash. */
static void
the_last_of_many_features_with_one_name_counts(void **state)
{
	struct example_conf conf = { 0 };
	struct buf wire = { 0 }, map = { 0 }, record = { 0 };
	struct err e;
	struct mp m;

	(void)state;
	for (int i = 0; i < 100; i++) {
		uint8_t entry[] = { 0x0a, 10, 0x0a, 1, (uint8_t)('A' + i % 40), 0x12, 5, 0x1a, 3, 0x0a, 1, (uint8_t)i };

		buf_put(&map, entry, sizeof entry);
	}
	buf_byte(&wire, 0x0a);
	buf_byte(&wire, (uint8_t)(map.len | 0x80));
	buf_byte(&wire, (uint8_t)(map.len >> 7));
	buf_put(&wire, map.data, map.len);
	assert_int_equal(example_decode(&conf, wire.data, wire.len, &record, &e), ST_OK);
	const uint8_t *end = record.data + record.len, *p = mp_head(record.data, end, &m);
	assert_int_equal(m.n, 40);
	for (int i = 60; i < 100; i++) {
		struct mp value;

		p = mp_head(p, end, &m);
		p = mp_head(p, end, &value);
		assert_int_equal(*m.p, 'A' + i % 40);
		assert_int_equal(value.i, i);
	}
	assert_ptr_equal(p, end);
	buf_clear(&wire);
	buf_clear(&map);
	buf_clear(&record);
}

static void
tar_holds_a_file_for_each_field(void **state)
{
	struct buf out = { 0 }, got = { 0 };
	struct archive_entry *entry;
	struct err e = { 0 };
	char body[600];
	struct run r;

	(void)state;
	kin_run(&r, "{\"__key__\":\"d/0\",\"txt\":\"hello\",\"cls\":3,\"none\":null,\"json\":{\"a\":[1]}}\n"
		    "{\"__key__\":\"d/1\",\"txt\":\"\"}\n");
	assert_int_equal(kin_write(FORMAT_TAR, false, &r, &out, &e), ST_OK);
	struct archive *a = archive_read_new();
	archive_read_support_format_tar(a);
	assert_int_equal(archive_read_open_memory(a, out.data, out.len), ARCHIVE_OK);
	while (archive_read_next_header(a, &entry) == ARCHIVE_OK) {
		la_ssize_t n = archive_read_data(a, body, sizeof body);
		buf_printf(&got, "%s=%.*s\n", archive_entry_pathname(entry), (int)n, body);
	}
	assert_string_equal((char *)got.data, "d/0.txt=hello\nd/0.cls=3\nd/0.json={\"a\":[1]}\nd/1.txt=\n");
	archive_read_free(a);
	run_clear(&r);
	buf_clear(&out);
	buf_clear(&got);
	refused(FORMAT_TAR, "{\"txt\":\"hello\"}\n", NULL, "no text `__key__`");
	refused(FORMAT_TAR, "1\n", NULL, "it is not a record");
	refused(FORMAT_TAR, "{\"__key__\":\"a\",\"b/c\":\"\"}\n", NULL, "`b/c` cannot");
}
