/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "value/json/json.h"
#include "value/mp.h"
#include "value/normal.h"

static void
assert_one(const uint8_t *a, size_t a_len, const uint8_t *b, size_t b_len, bool same)
{
	struct buf x = { 0 }, y = { 0 };

	assert_int_equal(!mp_compare(a, a_len, b, b_len), same);
	a = normal_key(a, &a_len, &x);
	b = normal_key(b, &b_len, &y);
	assert_int_equal(a_len == b_len && !memcmp(a, b, a_len), same);
	buf_clear(&x);
	buf_clear(&y);
}

static void
assert_json(const char *a, const char *b, bool same)
{
	struct json *j = json_new();
	struct buf x = { 0 }, y = { 0 };

	assert_int_equal(json_value(j, (const uint8_t *)a, strlen(a), &x, NULL), ST_OK);
	assert_int_equal(json_value(j, (const uint8_t *)b, strlen(b), &y, NULL), ST_OK);
	assert_one(x.data, x.len, y.data, y.len, same);
	buf_clear(&x);
	buf_clear(&y);
	json_free(&j);
}

#define ASSERT_BYTES(a, b) assert_one((const uint8_t *)(a), sizeof(a) - 1, (const uint8_t *)(b), sizeof(b) - 1, true)

static void
equal_numbers_are_one_key(void **state)
{
	(void)state;
	assert_json("7", "7.0", true);
	assert_json("0", "-0.0", true);
	assert_json("7", "7.5", false);
	assert_json("1152921504606846976", "1152921504606846976.0", true);
	assert_json("9223372036854775808", "9223372036854775808.0", true);
	assert_json("9223372036854775807", "9223372036854775808.0", false);
	assert_json("18446744073709551615", "18446744073709551616.0", false);
	assert_json("-9223372036854775808", "-9223372036854775808.0", true);
	assert_json("1e300", "1e300", true);
	ASSERT_BYTES("\7", "\xd3\0\0\0\0\0\0\0\7");
	ASSERT_BYTES("\7", "\xca\x40\xe0\0\0");
	ASSERT_BYTES("\xcb\x7f\xf8\0\0\0\0\0\0", "\xcb\xff\xf8\0\0\0\0\0\1");
	ASSERT_BYTES("\xca\x3f\0\0\0", "\xcb\x3f\xe0\0\0\0\0\0\0"); /* 0.5 */
}

static void
long_heads_make_no_other_key(void **state)
{
	(void)state;
	ASSERT_BYTES("\xa1x", "\xd9\1x");
	ASSERT_BYTES("\xa1x", "\xdb\0\0\0\1x");
	ASSERT_BYTES("\xc4\1x", "\xc5\0\1x");
	ASSERT_BYTES("\x91\1", "\xdc\0\1\xcc\1");
	ASSERT_BYTES("\x81\xa1x\1", "\xdf\0\0\0\1\xd9\1x\xd1\0\1");
	ASSERT_BYTES("\xd4\1x", "\xc7\1\1x");
	ASSERT_BYTES("\x91\x91\x90", "\x91\xdc\0\1\x90");
}

static void
the_order_of_fields_does_not_count(void **state)
{
	(void)state;
	assert_json("{\"a\": 1, \"b\": [2]}", "{\"b\": [2.0], \"a\": 1}", true);
	assert_json("[{\"b\": {\"d\": 1, \"c\": 2}, \"a\": 3}]", "[{\"a\": 3, \"b\": {\"c\": 2, \"d\": 1}}]", true);
	assert_json("{\"a\": 1, \"b\": 2}", "{\"a\": 2, \"b\": 1}", false);
	assert_json("[1, 2]", "[2, 1]", false);
	assert_json("{\"a\": 1}", "{\"a\": 1, \"b\": null}", false);
}

static void
a_normal_value_is_lent(void **state)
{
	static const char *const values[] = { "\xa1x", "\x05", "\xc0", "\xcb\x3f\xe0\0\0\0\0\0\0" };
	struct buf b = { 0 };

	(void)state;
	for (size_t k = 0; k < 4; k++) {
		const uint8_t *p = (const uint8_t *)values[k];
		size_t n = (size_t)(mp_skip(p, p + 9) - p);

		assert_ptr_equal(normal_key(p, &n, &b), p);
	}
	assert_int_equal(b.len, 0);
	buf_clear(&b);
}

/* Ints in all forms, around each limit, inside a list too. */
static void
ints_have_one_form(void **state)
{
	static const uint32_t values[] = { 0, 127, 128, 255, 256, 65535, 65536, 0xffffff, 0x1000000, UINT32_MAX };

	(void)state;
	for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
		uint32_t v = values[i];
		uint8_t form[4][10] = { { 0x91, 0xcc, (uint8_t)v }, { 0x91, 0xcd }, { 0x91, 0xce }, { 0x91, 0xcf } };
		uint8_t plain[10];
		size_t n = (size_t)(mp_put_uint(plain, v) - plain);
		static const size_t sizes[] = { 2, 3, 5, 9 };

		mp_put_u16(form[1] + 2, (uint16_t)v);
		mp_put_u32(form[2] + 2, v);
		mp_put_u32(form[3] + 6, v);
		for (size_t k = v > UINT16_MAX ? 2 : v > UINT8_MAX; k < 4; k++) {
			assert_one(form[k] + 1, sizes[k], plain, n, true);
			uint8_t list[11] = { 0x91 };

			memcpy(list + 1, plain, n);
			assert_one(form[k], 1 + sizes[k], list, 1 + n, true);
		}
	}
}
