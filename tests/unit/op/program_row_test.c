/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "op/program_row.h"
#include "value/format/format.h"
#include "value/json/json.h"
#include "value/mp.h"

static const char record[] =
	"{\"number\":3,\"worker\":\"w1\",\"start\":1700000000.25,\"seconds\":0.013,\"sent\":5,\"received\":4,"
	"\"code\":7,\"signal\":9,\"command\":\"wc a\",\"argument\":\"a\",\"key\":\"0a1b\",\"answers\":[1,\"two\"]}";

static void
parse(const char *json, struct buf *out)
{
	struct err e = { 0 };

	struct json *j = json_new();

	buf_reset(out);
	assert_int_equal(json_value(j, (const uint8_t *)json, strlen(json), out, &e), ST_OK);
	json_free(&j);
}

static enum status
get(const struct buf *b, struct program_row *row, uint32_t *many)
{
	const uint8_t *at, *end;
	struct err e = { 0 };

	return program_row_get(b->data, b->len, row, &at, &end, many, &e);
}

/* The record of what was read from this one. */
static void
again(const char *json, struct buf *out)
{
	struct buf own = { 0 };
	struct program_row row;
	const uint8_t *at, *end;
	uint32_t many;
	struct err e = { 0 };

	parse(json, &own);
	assert_int_equal(program_row_get(own.data, own.len, &row, &at, &end, &many, &e), ST_OK);
	buf_reset(out);
	program_row_put(&row, at, (size_t)(end - at), many, out);
	buf_clear(&own);
}

static void
a_record_is_read_as_it_was_written(void **state)
{
	struct buf b = { 0 }, text = { 0 };

	(void)state;
	again(record, &b);
	text_print(b.data, (uint32_t)b.len, &text);
	buf_byte(&text, '\0');
	assert_string_equal((char *)text.data, record);
	buf_clear(&b);
	buf_clear(&text);
}

/* Reads the record, and compares its columns. */
static void
columns_are(const char *json, uint32_t answers, const char *wanted)
{
	struct buf b = { 0 }, text = { 0 };
	struct program_row row;
	uint32_t many;

	parse(json, &b);
	assert_int_equal(get(&b, &row, &many), ST_OK);
	assert_int_equal(many, answers);
	program_row_print(&row, &text);
	buf_byte(&text, '\0');
	assert_string_equal((char *)text.data, wanted);
	buf_clear(&b);
	buf_clear(&text);
}

static void
the_columns_are_those_of_the_head(void **state)
{
	(void)state;
	columns_are(record, 2, "3\tw1\t1700000000.250\t0.013\t5\t4\t7\t9\twc a\ta\t0a1b");
}

/* Whoever made the record: a row stays one line with so many columns. */
static void
texts_from_elsewhere_cannot_make_rows(void **state)
{
	(void)state;
	columns_are("{\"number\":1,\"worker\":\"a\\tb\",\"start\":0,\"seconds\":1,\"sent\":0,\"received\":0,"
		    "\"code\":0,\"signal\":0,\"command\":\"x\\ny\\u001b[0m\",\"argument\":\"\",\"key\":\"\\n\",\"answers\":[]}", 0,
		    "1\ta\\tb\t0.000\t1.000\t0\t0\t0\t0\tx\\ny\\033[0m\t\t\\n");
}

static void
other_values_are_no_records(void **state)
{
	static const char *const bad[] = { "1", "\"x\"", "[]", "{}", "null", "{\"number\":1}" };
	struct buf b = { 0 };
	struct program_row row;
	uint32_t many;

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		parse(bad[i], &b);
		assert_int_equal(get(&b, &row, &many), ST_DATA);
	}
	buf_clear(&b);
}

/* Each field of the record left out, or of another kind. */
static void
a_record_that_lacks_anything_is_refused(void **state)
{
	struct buf b = { 0 }, json = { 0 };
	struct program_row row;
	uint32_t many;
	unsigned refused = 0;

	(void)state;
	for (const char *c = record; (c = strchr(c, '"')); c = strchr(c + 1, '"') + 1) {
		if (strchr(c + 1, '"')[1] != ':')
			continue;
		buf_reset(&json);
		buf_put(&json, record, (size_t)(c + 1 - record));
		buf_byte(&json, '_');
		buf_str(&json, c + 1);
		buf_byte(&json, '\0');
		parse((char *)json.data, &b);
		assert_int_equal(get(&b, &row, &many), ST_DATA);
		const char *value = strchr(c, ':') + 1;
		size_t n = *value == '[' ? strcspn(value, "]") + 1 : strcspn(value, ",}");
		buf_reset(&json);
		buf_put(&json, record, (size_t)(value - record));
		buf_str(&json, "true");
		buf_str(&json, value + n);
		buf_byte(&json, '\0');
		parse((char *)json.data, &b);
		assert_int_equal(get(&b, &row, &many), ST_DATA);
		refused++;
	}
	assert_int_equal(refused, 12);
	parse("{\"number\":-1,\"worker\":\"\",\"start\":0,\"seconds\":0,\"sent\":0,\"received\":0,\"code\":0,\"signal\":0,"
	      "\"command\":\"\",\"argument\":\"\",\"key\":\"\",\"answers\":[]}", &b);
	assert_int_equal(get(&b, &row, &many), ST_DATA);
	buf_clear(&b);
	buf_clear(&json);
}

/* Times that none can have count as none. */
static void
impossible_times_are_no_trouble(void **state)
{
	struct buf b = { 0 }, text = { 0 };

	(void)state;
	again("{\"number\":1,\"worker\":\"\",\"start\":1e300,\"seconds\":-4,\"sent\":0,\"received\":0,\"code\":0,\"signal\":0,"
	      "\"command\":\"\",\"argument\":\"\",\"key\":\"\",\"answers\":[]}", &b);
	text_print(b.data, (uint32_t)b.len, &text);
	buf_byte(&text, '\0');
	assert_non_null(strstr((char *)text.data, "\"start\":0.0,\"seconds\":0.0,"));
	buf_clear(&b);
	buf_clear(&text);
}

static void
the_type_of_records_and_that_of_answers_are_inverse(void **state)
{
	static const char *const other[] = { "any", "int", "{answers: [int]}", "[int]" };
	struct types *t = types_new();
	struct buf text = { 0 };

	(void)state;
	const struct type *type = program_row_type(t, type_scalar(TYPE_TEXT));
	assert_ptr_equal(program_row_answer(type), type_scalar(TYPE_TEXT));
	program_row_print_type(type_scalar(TYPE_TEXT), true, &text);
	const struct type *parsed = type_parse(t, (char *)text.data, text.len, NULL);
	assert_true(type_equal(parsed, type) && type_equal(program_row_answer(parsed), type_scalar(TYPE_TEXT)));
	buf_reset(&text);
	program_row_print_type(type_scalar(TYPE_TEXT), false, &text);
	assert_memory_equal(text.data, "text", text.len);
	for (size_t i = 0; i < sizeof other / sizeof *other; i++)
		assert_null(program_row_answer(type_parse(t, other[i], strlen(other[i]), NULL)));
	buf_clear(&text);
	types_free(&t);
}
