/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "value/json/json.h"
#include "value/origin.h"
#include "value/tensor.h"
#include "value/mp.h"
#include "value/type.h"

#define GROUP_SETUP setup
#define GROUP_TEARDOWN teardown

static struct types *types;

static const struct type *
parse(const char *text)
{
	struct err e = { 0 };
	const struct type *a = type_parse(types, text, strlen(text), &e);

	if (!a)
		fail_msg("%s: %s", text, e.text);
	return a;
}

static void
prints(const struct type *a, const char *want)
{
	struct buf b = { 0 };

	type_print(a, &b);
	assert_string_equal((char *)b.data, want);
	buf_clear(&b);
}

static void
types_print_as_they_parse(void **state)
{
	static const char *const same[] = {
		"any", "null", "bool", "int", "float", "text", "bytes", "never", "int?", "[int]", "[[text?]]?",
		"{}", "{...}", "{id: int, tags: [text]}", "{id: int, ...}", "{\"a b\": {c: any}?}",
		"{\"\": int, \"q\\\"\\\\\": null}", "u8[224,224,3]", "f32[?,10]", "bool[2]", "f64[]", "i64[...]", "f16[3]",
		"bf16[2,?]",
		"{img: u8[?,?,3], label: int}", "[u16[3]?]"
	};

	(void)state;
	for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
		prints(parse(same[i]), same[i]);
		assert_true(type_equal(parse(same[i]), parse(same[i])));
		for (size_t k = 0; k < i; k++)
			assert_false(type_equal(parse(same[i]), parse(same[k])));
	}
	prints(parse(" { id:int,\n tags :[ text ] , ... } "), "{id: int, tags: [text], ...}");
	prints(parse("any?"), "any");
}

static void
false_types_are_refused(void **state)
{
	static const char *const bad[] = {
		"", "in", "[int", "{id}", "{id:}", "{id: int", "{id: int,}", "{a: int, a: int}", "int int", "u8[3",
		"u8[x]", "u8[-1]", "u8", "f32[1,,2]", "{..., a: int}", "[]", "{\"a: int}", "u8[99999999999999999999]",
		"u8[1,2,3,4,5,6,7,8,9,0,1,2,3,4,5,6,7]"
	};
	char deep[1000];
	struct err e;

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		memset(&e, 0, sizeof e);
		if (type_parse(types, bad[i], strlen(bad[i]), &e))
			fail_msg("taken: %s", bad[i]);
		assert_int_equal(e.kind, ST_DATA);
		assert_true(e.text[0] != '\0');
	}
	memset(deep, '[', sizeof deep);
	assert_null(type_parse(types, deep, sizeof deep, &e));
	assert_string_equal(e.text, "the type is nested deeper than 160");
	assert_null(type_parse(types, "{a\0: int}", 9, &e));
}

static void
joins(const char *a, const char *b, const char *want)
{
	prints(type_join(types, parse(a), parse(b)), want);
	if (!strchr(want, '{'))
		prints(type_join(types, parse(b), parse(a)), want);
}

static void
joins_are_the_narrowest_that_hold_both(void **state)
{
	(void)state;
	joins("int", "int", "int");
	joins("int", "never", "int");
	joins("int", "null", "int?");
	joins("int?", "int", "int?");
	joins("int", "float", "any");
	joins("int", "text", "any");
	joins("null", "never", "null");
	joins("[int]", "[int?]", "[int?]");
	joins("[never]", "[text]", "[text]");
	joins("{a: int, b: text}", "{b: text, a: null}", "{a: int?, b: text}");
	joins("{a: int}", "{a: int, b: int}", "{a: int, ...}");
	joins("{a: int}", "{b: int}", "{...}");
	joins("u8[2,3]", "u8[2,4]", "u8[2,?]");
	joins("u8[2]", "u8[2,4]", "u8[...]");
	joins("u8[2]", "i8[2]", "any");
	joins("f16[2]", "bf16[2]", "any");
	joins("any", "null", "any");
}

static void
holds(const char *wide, const char *a, int want)
{
	assert_int_equal(type_holds(parse(wide), parse(a)), want);
}

static void
fits(const char *a, const char *b, int forth, int back)
{
	assert_int_equal(type_fits(parse(a), parse(b)), forth);
	assert_int_equal(type_fits(parse(b), parse(a)), back);
}

static void
types_fit_where_they_can_stand(void **state)
{
	(void)state;
	fits("int", "any", 1, 1);
	fits("int", "float", 1, 0);
	fits("int", "int?", 1, 0);
	fits("null", "int?", 1, 0);
	fits("int", "text", 0, 0);
	fits("[int]", "[any]", 1, 1);
	fits("[int]", "[text]", 0, 0);
	fits("{a: int, b: int}", "{a: int}", 0, 0);
	fits("{a: int, b: int}", "{a: int, ...}", 1, 1);
	fits("{a: int}", "{a: text, ...}", 0, 0);
	fits("u8[2,3]", "u8[2,?]", 1, 1);
	fits("u8[2,3]", "u8[2]", 0, 0);
	fits("u8[2,3]", "u8[...]", 1, 1);
	fits("never", "int", 1, 0);
}

static void
a_wider_type_holds_a_narrower_one(void **state)
{
	(void)state;
	holds("any", "int", 1);
	holds("int", "any", 0);
	holds("int", "int", 1);
	holds("int?", "int", 1);
	holds("int?", "null", 1);
	holds("int", "int?", 0);
	holds("float", "int", 0);
	holds("[any]", "[int]", 1);
	holds("[int]", "[any]", 0);
	holds("{a: int, ...}", "{a: int, b: text}", 1);
	holds("{a: any, b: text}", "{a: int, b: text}", 1);
	holds("{a: int}", "{a: int, ...}", 0);
	holds("{a: int, ...}", "{...}", 0);
	holds("u8[?,3]", "u8[2,3]", 1);
	holds("u8[2,3]", "u8[?,3]", 0);
}

static void
fields_of_records(void **state)
{
	const struct type *r = parse("{id: int, tag: text}");

	(void)state;
	prints(type_field_get(r, "tag", 3), "text");
	assert_null(type_field_get(r, "ta", 2));
	assert_null(type_field_get(r, "tags", 4));
	prints(type_field_get(parse("{id: int, ...}"), "x", 1), "any");
	prints(type_field_get(parse("any"), "x", 1), "any");
	assert_null(type_field_get(parse("int"), "x", 1));
}

static void
value_is(const char *text, const char *want)
{
	struct json *j = json_new();
	struct buf b = { 0 };
	struct err e;

	assert_int_equal(json_value(j, (const uint8_t *)text, strlen(text), &b, &e), ST_OK);
	prints(type_of_value(types, b.data, b.len), want);
	buf_clear(&b);
	json_free(&j);
}

static void
values_have_types(void **state)
{
	struct tensor t = { .dtype = DTYPE_U8, .n_dims = 2, .dims = { 2, 1 } };
	uint8_t m[64], *w = tensor_put_head(m, &t);
	struct buf many = { 0 };

	(void)state;
	value_is("1", "int");
	value_is("1.5", "float");
	value_is("null", "null");
	value_is("[]", "[never]");
	value_is("[1,null,2]", "[int?]");
	value_is("[1,\"a\",2]", "[any]");
	value_is("[[1],[\"a\"],2]", "[any]");
	value_is("{\"id\":1,\"tags\":[\"a\",\"b\"],\"sub\":{\"x\":true}}", "{id: int, tags: [text], sub: {x: bool}}");
	value_is("[{\"a\":1,\"b\":2},{\"a\":1}]", "[{a: int, ...}]");
	memcpy(w, "ab", 2);
	prints(type_of_value(types, m, (size_t)(w - m) + 2), "u8[2,1]");
	for (int i = 0; i < 1000; i++)
		buf_printf(&many, "%c%s", i ? ',' : '[', i % 2 ? "-100000" : "1");
	buf_str(&many, "]");
	value_is((char *)many.data, "[int]");
	buf_clear(&many);
	assert_int_equal(type_of_value(types, (const uint8_t *)"\x92\x01", 2)->kind, TYPE_ANY);
	assert_int_equal(type_of_value(types, (const uint8_t *)"\x81\x01\x02", 3)->open, true);
}

static void
names_of_files_are_interned(void **state)
{
	char name[] = "/tmp/a";
	const char *a = origin_name(name);

	(void)state;
	name[5] = 'b';
	assert_string_equal(a, "/tmp/a");
	assert_ptr_equal(origin_name("/tmp/a"), a);
	assert_ptr_not_equal(origin_name(name), a);
}

static int
setup(void **state)
{
	(void)state;
	types = types_new();
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	types_free(&types);
	types_free(&types);
	return 0;
}
