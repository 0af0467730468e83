/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "value/columns.h"
#include "value/json/json.h"
#include "value/json/json_print.h"
#include "value/mp.h"
#include "value/tensor.h"

/* A value from JSON text. Gives. */
static struct buf
value_of(const char *text)
{
	struct json *j = json_new();
	struct buf b = { 0 };
	struct err e;

	assert_int_equal(json_value(j, (const uint8_t *)text, strlen(text), &b, &e), ST_OK);
	json_free(&j);
	return b;
}

static enum status
put(struct columns *c, uint8_t *slot, uint64_t row, const char *text, struct err *e)
{
	struct buf b = value_of(text);
	uint64_t rows;
	enum status st = columns_put(c, slot, row, c->rows - row, b.data, b.len, &rows, e);

	buf_clear(&b);
	return st;
}

static struct columns *
record(const char *text, bool batches, const char *mask, uint64_t rows)
{
	struct buf b = value_of(text);
	struct columns *c;
	uint64_t n;
	struct err e;

	assert_int_equal(columns_record(b.data, b.len, NULL, batches, NULL, mask, &c, &n, &e), ST_OK);
	assert_true(columns_lay(c, rows, 0, 1 << 20));
	buf_clear(&b);
	return c;
}

static void
taken(const struct columns *c, const uint8_t *slot, uint64_t first, uint64_t n, const char *want)
{
	struct buf b = { 0 }, text = { 0 };

	assert_true(columns_take(c, slot, first, n, &b));
	assert_true(mp_check(b.data, b.len));
	json_print(b.data, b.len, &text);
	assert_string_equal((char *)text.data, want);
	buf_clear(&b);
	buf_clear(&text);
}

static void
rows_come_out_of_a_slot_as_they_went_in(void **state)
{
	const char *row[] = { "{\"a\":1,\"t\":\"xy\",\"r\":{\"f\":0.5,\"l\":[1,2]},\"v\":null}",
			      "{\"r\":{\"l\":[],\"f\":2},\"a\":-3,\"t\":\"\",\"v\":[1,\"z\"]}" };
	struct columns *c = record(row[0], false, NULL, 3);
	uint8_t *slot = mem_alloc(c->bytes);
	struct err e;

	(void)state;
	assert_int_equal(put(c, slot, 0, row[0], &e), ST_OK);
	assert_int_equal(put(c, slot, 1, row[1], &e), ST_OK);
	assert_true(columns_pad(c, slot, 2, 1, false));
	taken(c, slot, 0, 2,
	      "{\"a\":[1,-3],\"t\":[\"xy\",\"\"],\"r\":{\"f\":[0.5,2.0],\"l\":[[1,2],[]]},\"v\":[null,[1,\"z\"]]}");
	taken(c, slot, 1, 2, "{\"a\":[-3,0],\"t\":[\"\",\"\"],\"r\":{\"f\":[2.0,0.0],\"l\":[[],[]]},\"v\":[[1,\"z\"],null]}");
	for (size_t i = 0; i < c->n; i++)
		assert_int_equal(c->v[i].at % COLUMN_ALIGN, 0);
	mem_free(slot);
	columns_free(&c);
}

static void
another_structure_is_refused_with_the_name_of_the_field(void **state)
{
	struct columns *c = record("{\"a\":1,\"r\":{\"t\":\"x\"}}", false, NULL, 4);
	uint8_t *slot = mem_alloc(c->bytes);
	struct err e;

	(void)state;
	assert_int_equal(put(c, slot, 0, "{\"a\":1.5,\"r\":{\"t\":\"x\"}}", &e), ST_DATA);
	assert_string_equal(e.text, "field `a` is float, and was int from the start");
	assert_int_equal(put(c, slot, 0, "{\"a\":1,\"r\":{\"t\":7}}", &e), ST_DATA);
	assert_string_equal(e.text, "field `r.t` is int, and was text from the start");
	assert_int_equal(put(c, slot, 0, "{\"a\":1,\"r\":7}", &e), ST_DATA);
	assert_string_equal(e.text, "field `r` is not a record, as the first one was");
	assert_int_equal(put(c, slot, 0, "{\"a\":1}", &e), ST_DATA);
	assert_string_equal(e.text, "field `r` is missing, and was there from the start");
	assert_int_equal(put(c, slot, 0, "{\"a\":1,\"r\":{\"t\":\"x\"},\"z\":1}", &e), ST_DATA);
	assert_string_equal(e.text, "field `z` was not there from the start");
	assert_int_equal(put(c, slot, 0, "{\"a\":null,\"r\":{\"t\":\"x\"}}", &e), ST_DATA);
	assert_string_equal(e.text, "field `a` is nil, and was int from the start");
	mem_free(slot);
	columns_free(&c);
}

static void
batches_fill_as_many_rows_as_they_have(void **state)
{
	struct columns *c = record("{\"a\":[1,2,3],\"t\":[\"x\",\"y\",\"z\"]}", true, "real", 6);
	uint8_t *slot = mem_alloc(c->bytes);
	struct buf b = value_of("{\"a\":[4,5],\"t\":[\"v\",\"w\"]}");
	uint64_t rows;
	struct err e;

	(void)state;
	assert_false(c->whole);
	assert_int_equal(put(c, slot, 0, "{\"a\":[1,2,3],\"t\":[\"x\",\"y\",\"z\"]}", &e), ST_OK);
	assert_int_equal(columns_put(c, slot, 3, 3, b.data, b.len, &rows, &e), ST_OK);
	assert_int_equal(rows, 2);
	assert_true(columns_pad(c, slot, 5, 1, true));
	taken(c, slot, 3, 3, "{\"a\":[4,5,5],\"t\":[\"v\",\"w\",\"w\"],\"real\":[true,true,false]}");
	assert_true(columns_pad(c, slot, 5, 1, false));
	taken(c, slot, 3, 3, "{\"a\":[4,5,0],\"t\":[\"v\",\"w\",\"\"],\"real\":[true,true,false]}");
	assert_int_equal(columns_put(c, slot, 3, 1, b.data, b.len, &rows, &e), ST_DATA);
	assert_int_equal(put(c, slot, 0, "{\"a\":[1,2],\"t\":[\"x\"]}", &e), ST_DATA);
	assert_string_equal(e.text, "field `t` has 1 row, and the fields before it have 2");
	buf_clear(&b);
	mem_free(slot);
	columns_free(&c);
}

static void
elements_without_a_common_axis_are_one_row(void **state)
{
	struct columns *c = record("{\"a\":[1,2,3],\"t\":\"x\"}", true, NULL, 2);
	uint8_t *slot = mem_alloc(c->bytes);
	struct err e;

	(void)state;
	assert_true(c->whole);
	assert_int_equal(put(c, slot, 0, "{\"a\":[1],\"t\":\"x\"}", &e), ST_OK);
	assert_int_equal(put(c, slot, 1, "{\"a\":[],\"t\":\"y\"}", &e), ST_OK);
	taken(c, slot, 1, 1, "{\"a\":[],\"t\":\"y\"}");
	mem_free(slot);
	columns_free(&c);
}

static struct buf
tensor_of(uint64_t rows, uint64_t wide)
{
	struct tensor t = { .dtype = DTYPE_U8, .n_dims = 2, .dims = { rows, wide } };
	struct buf b = { 0 };
	uint8_t *p = buf_room(&b, TENSOR_HEAD_MAX + rows * wide), *data = tensor_put_head(p, &t);

	for (size_t i = 0; i < t.size; i++)
		data[i] = (uint8_t)i;
	b.len = (size_t)(data + t.size - p);
	return b;
}

static void
tensors_are_rows_or_hold_them(void **state)
{
	struct buf a = tensor_of(2, 3), wider = tensor_of(2, 4);
	struct columns *c;
	uint64_t rows;
	struct err e;

	(void)state;
	for (int batches = 0; batches < 2; batches++) {
		assert_int_equal(columns_record(a.data, a.len, NULL, batches, NULL, NULL, &c, &rows, &e), ST_OK);
		assert_int_equal(rows, batches ? 2 : 1);
		assert_int_equal(c->v[0].size, batches ? 3 : 6);
		assert_true(columns_lay(c, 2 * rows, 0, 1 << 20));
		uint8_t *slot = mem_alloc(c->bytes);
		assert_int_equal(columns_put(c, slot, 0, 2 * rows, a.data, a.len, &rows, &e), ST_OK);
		assert_int_equal(columns_put(c, slot, rows, rows, a.data, a.len, &rows, &e), ST_OK);
		taken(c, slot, 0, 1, batches ? "[[0,1,2]]" : "[[[0,1,2],[3,4,5]]]");
		assert_int_equal(columns_put(c, slot, 0, 2 * rows, wider.data, wider.len, &rows, &e), ST_DATA);
		mem_free(slot);
		columns_free(&c);
	}
	buf_clear(&a);
	buf_clear(&wider);
}

/* Put into the column of a 2 x 3 tensor. */
static enum status
put_tensor_of(struct columns *c, uint8_t *slot, uint64_t row, uint64_t rows, uint64_t wide)
{
	struct buf b = tensor_of(rows, wide);
	uint64_t n;
	struct err e;
	enum status st = columns_put(c, slot, row, 1, b.data, b.len, &n, &e);

	buf_clear(&b);
	return st;
}

static void
a_tensor_of_the_same_size_is_not_taken_for_one_of_the_same_shape(void **state)
{
	struct buf a = tensor_of(2, 3);
	struct columns *c;
	uint8_t slot[256] = { 0 };
	uint64_t n;
	struct err e;

	(void)state;
	assert_int_equal(columns_record(a.data, a.len, NULL, false, NULL, NULL, &c, &n, &e), ST_OK);
	assert_true(columns_lay(c, 4, 0, 256));
	for (uint64_t row = 0; row < 3; row++)
		assert_int_equal(put_tensor_of(c, slot, row, 2, 3), ST_OK);
	assert_int_equal(put_tensor_of(c, slot, 3, 3, 2), ST_DATA);
	assert_int_equal(put_tensor_of(c, slot, 3, 2, 2), ST_DATA);
	assert_int_equal(put_tensor_of(c, slot, 3, 2, 3), ST_OK);
	assert_memory_equal(slot, slot + 18, 6);
	columns_free(&c);
	buf_clear(&a);
}

/* Rows of a large slot, which are written past the cache. */
static void
large_rows_come_out_as_they_went_in(void **state)
{
	enum { ROWS = 5, WIDE = 500001 };
	struct buf a = tensor_of(1, WIDE);
	struct columns *c;
	uint64_t n;
	struct err e;

	(void)state;
	assert_int_equal(columns_record(a.data, a.len, NULL, false, NULL, NULL, &c, &n, &e), ST_OK);
	assert_true(columns_lay(c, ROWS, 0, 1 << 24));
	assert_true(c->v[0].far);
	uint8_t *slot = mem_alloc(c->bytes);
	for (uint64_t row = 0; row < ROWS; row++)
		assert_int_equal(put_tensor_of(c, slot, row, 1, WIDE), ST_OK);
	for (uint64_t row = 0; row < ROWS; row++)
		assert_memory_equal(slot + c->v[0].at + row * WIDE, a.data + a.len - WIDE, WIDE);
	mem_free(slot);
	columns_free(&c);
	buf_clear(&a);
}

static void
rows_may_lie_along_another_axis(void **state)
{
	const struct column_axis last = { "", 1 }, none = { "x", 1 }, far = { "", 2 };
	const struct column_axes on_last = { &last, 1 }, on_none = { &none, 1 }, on_far = { &far, 1 };
	struct buf a = tensor_of(2, 3), less = tensor_of(2, 1), taller = tensor_of(3, 3);
	struct columns *c;
	uint64_t rows, dims[TYPE_DIMS_MAX];
	uint8_t turned[6];
	struct err e;

	(void)state;
	assert_int_equal(columns_record(a.data, a.len, NULL, true, &on_last, NULL, &c, &rows, &e), ST_OK);
	assert_int_equal(rows, 3);
	assert_int_equal(c->v[0].size, 2);
	assert_true(columns_lay(c, 4, 0, 1 << 20));
	uint8_t *slot = mem_alloc(c->bytes);
	assert_int_equal(columns_put(c, slot, 0, 3, a.data, a.len, &rows, &e), ST_OK);
	assert_int_equal(columns_put(c, slot, 3, 1, less.data, less.len, &rows, &e), ST_OK);
	assert_memory_equal(slot + c->v[0].at, "\0\3\1\4\2\5\0\1", 8); /* row after row */
	taken(c, slot, 0, 3, "[[0,1,2],[3,4,5]]");
	taken(c, slot, 1, 3, "[[1,2,0],[4,5,1]]");
	assert_int_equal(column_shape(&c->v[0], 3, dims), 2);
	assert_int_equal(dims[0], 2);
	assert_int_equal(dims[1], 3);
	column_rows(&c->v[0], slot, 0, 3, turned);
	assert_memory_equal(turned, "\0\1\2\3\4\5", 6);
	assert_int_equal(columns_put(c, slot, 0, 4, taller.data, taller.len, &rows, &e), ST_DATA);
	mem_free(slot);
	columns_free(&c);
	assert_int_equal(columns_record(a.data, a.len, NULL, true, &on_none, NULL, &c, &rows, &e), ST_DATA);
	assert_int_equal(columns_record(a.data, a.len, NULL, true, &on_far, NULL, &c, &rows, &e), ST_OK);
	assert_true(c->whole);
	columns_free(&c);
	buf_clear(&a);
	buf_clear(&less);
	buf_clear(&taller);
}

static void
a_heap_that_is_full_is_told_and_widened(void **state)
{
	struct columns *c = record("\"x\"", false, NULL, 2), *wide;
	uint8_t *slot = mem_alloc(c->bytes), *other;
	char text[6000];
	struct err e;

	(void)state;
	memset(text, 'y', sizeof text);
	text[0] = text[sizeof text - 2] = '"';
	text[sizeof text - 1] = 0;
	assert_int_equal(put(c, slot, 0, "\"x\"", &e), ST_OK);
	assert_int_equal(put(c, slot, 1, text, &e), ST_AGAIN);
	wide = columns_copy(c);
	columns_widen(wide, 1 << 20);
	assert_true(columns_lay(wide, 2, 0, 1 << 20));
	other = mem_alloc(wide->bytes);
	columns_move(c, slot, wide, other, 1);
	assert_int_equal(put(wide, other, 1, text, &e), ST_OK);
	taken(wide, other, 0, 1, "[\"x\"]");
	assert_false(columns_lay(wide, 2, 0, 100));
	mem_free(slot);
	mem_free(other);
	columns_free(&c);
	columns_free(&wide);
}

/* Room follows from what each column had in the first element, and only the one that is full gets more. */
static void
heaps_are_as_large_as_their_columns_need(void **state)
{
	char text[2100];
	struct columns *c;
	uint64_t rows;
	struct err e;

	(void)state;
	snprintf(text, sizeof text, "{\"a\": \"%02000d\", \"b\": \"x\", \"c\": [1, 2]}", 0);
	struct buf b = value_of(text);
	assert_int_equal(columns_record(b.data, b.len, NULL, false, NULL, NULL, &c, &rows, &e), ST_OK);
	assert_true(columns_lay(c, 100, 1, 1 << 20));
	assert_in_range(c->v[0].room, 400000, 402000);
	assert_in_range(c->v[1].room + c->v[2].room, 4096, 3 * 4096);
	size_t was = c->bytes;
	uint8_t *slot = mem_alloc(c->bytes);
	uint64_t row = 0;
	snprintf(text, sizeof text, "{\"a\": \"\", \"b\": \"%0900d\", \"c\": []}", 0);
	while (put(c, slot, row, text, &e) == ST_OK)
		row++;
	assert_in_range(row, 1, 9);
	columns_widen(c, 1 << 20);
	assert_true(columns_lay(c, 100, 0, 1 << 20));
	assert_in_range(c->bytes - was, 4096, 4096 + 64);
	/* Not beyond the limit, as long as the row fits. */
	was = c->bytes;
	c->v[0].lack = 1000;
	columns_widen(c, was + 4096);
	assert_true(columns_lay(c, 100, 0, was + 4096));
	assert_in_range(c->bytes - was, 1000, 4096);
	mem_free(slot);
	columns_free(&c);
	buf_clear(&b);
}
