/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/rng.h"
#include "value/json/json.h"

#define GROUP_SETUP setup
#define GROUP_TEARDOWN teardown
#include "value/mp.h"

static struct json *json;

static int
compare_json(const char *a, const char *b)
{
	struct buf x = { 0 }, y = { 0 };
	struct err e;
	int c;

	assert_int_equal(json_value(json, (const uint8_t *)a, strlen(a), &x, &e), ST_OK);
	assert_int_equal(json_value(json, (const uint8_t *)b, strlen(b), &y, &e), ST_OK);
	c = mp_compare(x.data, x.len, y.data, y.len);
	assert_int_equal(mp_compare(y.data, y.len, x.data, x.len), -c);
	buf_clear(&x);
	buf_clear(&y);
	return c;
}

static void
values_have_one_order(void **state)
{
	/* each smaller than the next */
	static const char *const row[] = {
		"null", "false", "true", "-9223372036854775808", "-9223372036854775807", "-1.5", "-1",
		"0", "0.5", "1", "1.0000000000000002", "2", "9007199254740992", "9007199254740993",
		"9007199254740994.0", "9223372036854775807", "9223372036854775808",
		"18446744073709549568.0", "18446744073709551615", "18446744073709551616.0", "1e300",
		"\"\"", "\"a\"", "\"aa\"", "\"b\"", "[]", "[1]", "[1,2]", "[2]", "[[]]",
		"{}", "{\"a\":1}", "{\"a\":2}", "{\"a\":1,\"b\":0}", "{\"b\":0}"
	};

	(void)state;
	for (size_t i = 0; i < sizeof row / sizeof *row; i++)
		for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
			int want = i < k ? -1 : i > k;

			if (compare_json(row[i], row[k]) != want)
				fail_msg("%s against %s is not %d", row[i], row[k], want);
		}
}

static void
ints_equal_floats_of_the_same_value(void **state)
{
	(void)state;
	assert_int_equal(compare_json("1", "1.0"), 0);
	assert_int_equal(compare_json("-0.0", "0"), 0);
	assert_int_equal(compare_json("9223372036854775808", "9223372036854775808.0"), 0);
	assert_int_equal(compare_json("-9223372036854775808", "-9223372036854775808.0"), 0);
	assert_int_equal(compare_json("[1,[2]]", "[1.0,[2.0]]"), 0);
	assert_int_equal(compare_json("9223372036854775807", "9223372036854775808.0"), -1);
}

static void
order_of_fields_does_not_matter(void **state)
{
	(void)state;
	assert_int_equal(compare_json("{\"a\":1,\"b\":2}", "{\"b\":2,\"a\":1}"), 0);
	assert_int_equal(compare_json("{\"b\":1,\"a\":2}", "{\"a\":1,\"b\":2}"), 1);
	assert_int_equal(compare_json("[{\"b\":1,\"a\":2},1]", "[{\"a\":2,\"b\":1},2]"), -1);
	assert_int_equal(compare_json(
		"{\"a\":1,\"b\":2,\"c\":3,\"d\":4,\"e\":5,\"f\":6,\"g\":7,\"h\":8,\"i\":{\"x\":1,\"y\":2}}",
		"{\"i\":{\"y\":2,\"x\":1},\"h\":8,\"g\":7,\"f\":6,\"e\":5,\"d\":4,\"c\":3,\"b\":2,\"a\":1}"), 0);
}

static void
forms_of_a_number_do_not_matter(void **state)
{
	static const uint8_t wide[] = { 0xd3, 0, 0, 0, 0, 0, 0, 0, 5 }, f32[] = { 0xca, 0x40, 0xa0, 0, 0 };
	uint8_t five = 5, m[9];

	(void)state;
	assert_int_equal(mp_compare(wide, sizeof wide, &five, 1), 0);
	assert_int_equal(mp_compare(f32, sizeof f32, &five, 1), 0);
	mp_put_float(m, NAN);
	assert_int_equal(mp_compare(m, 9, &five, 1), 1);
	assert_int_equal(mp_compare(&five, 1, m, 9), -1);
	assert_int_equal(mp_compare(m, 9, m, 9), 0);
}

/* Truncated and random bytes do no harm (for the sanitizers). */
static void
malformed_values_compare_somehow(void **state)
{
	struct rng r = { 5, 0 };

	(void)state;
	for (int i = 0; i < 20000; i++) {
		uint8_t a[24], b[24];

		for (size_t k = 0; k < sizeof a; k++) {
			a[k] = (uint8_t)(rng_next(&r) | (k < 3 ? 0x80 : 0));
			b[k] = k < 4 ? a[k] : (uint8_t)rng_next(&r);
		}
		mp_compare(a, 1 + rng_below(&r, sizeof a), b, 1 + rng_below(&r, sizeof b));
	}
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
