/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/rng.h"
#include "op/kit/key_direct.h"
#include "value/mp.h"

static void
add(struct key_table *k, int64_t v)
{
	uint8_t p[MP_INT_MAX];
	bool fresh;

	key_table_add(k, p, (size_t)(mp_put_int(p, v) - p), &fresh);
}

static uint32_t
find(const struct key_direct *d, int64_t v)
{
	uint8_t p[MP_INT_MAX];
	struct buf normal = { 0 };
	uint32_t n = key_direct_find(d, p, (size_t)(mp_put_int(p, v) - p), &normal);

	buf_clear(&normal);
	return n;
}

static void
finds_what_the_table_finds(void **state)
{
	static const int64_t starts[] = { 0, -100, -3000, 120, 250, 65000, UINT32_MAX - 1000ll, INT64_MIN, INT64_MAX - 4000 };

	(void)state;
	for (size_t s = 0; s < sizeof starts / sizeof *starts; s++) {
		struct key_table k = { 0 };
		struct key_direct d = { 0 };
		struct rng r = { s, 0 };
		uint8_t p[MP_INT_MAX];

		for (int i = 0; i < 1000; i++)
			add(&k, starts[s] + (int64_t)rng_below(&r, 3000));
		key_direct_make(&d, &k, SIZE_MAX);
		assert_true(d.n > 2900 && d.n <= 3000);
		for (int64_t i = 0; i < 3500; i++) {
			uint64_t v = (uint64_t)starts[s] + (uint64_t)i - 250;
			size_t len = (size_t)(mp_put_int(p, (int64_t)v) - p);

			assert_int_equal(find(&d, (int64_t)v), key_table_find(&k, p, len));
		}
		key_direct_clear(&d);
		key_table_clear(&k);
	}
}

static void
knows_equal_values_in_other_forms(void **state)
{
	struct key_table k = { 0 };
	struct key_direct d = { 0 };
	struct buf normal = { 0 };
	uint8_t p[32];

	(void)state;
	for (int64_t i = 0; i < 10; i++)
		add(&k, i * 2);
	key_direct_make(&d, &k, SIZE_MAX);
	for (int64_t i = 0; i < 25; i++) {
		uint32_t want = i < 20 && i % 2 == 0 ? (uint32_t)i / 2 : KEY_TABLE_NONE;

		mp_put_float(p, (double)i);
		assert_int_equal(key_direct_find(&d, p, MP_FLOAT_MAX, &normal), want);
		*p = 0xd3;
		mp_put_u64(p + 1, (uint64_t)i);
		assert_int_equal(key_direct_find(&d, p, 9, &normal), want);
		*p = 0xcf;
		assert_int_equal(key_direct_find(&d, p, 9, &normal), want);
		mp_put_float(p, (double)i + 0.5);
		assert_int_equal(key_direct_find(&d, p, MP_FLOAT_MAX, &normal), KEY_TABLE_NONE);
	}
	mp_put_uint(p, UINT64_MAX);
	assert_int_equal(key_direct_find(&d, p, 9, &normal), KEY_TABLE_NONE);
	assert_int_equal(key_direct_find(&d, p, (size_t)(mp_put_text(p, "2", 1) - p), &normal), KEY_TABLE_NONE);
	assert_int_equal(key_direct_find(&d, p, (size_t)(mp_put_nil(p) - p), &normal), KEY_TABLE_NONE);
	assert_int_equal(key_direct_find(&d, p, (size_t)(mp_put_bool(p, true) - p), &normal), KEY_TABLE_NONE);
	buf_clear(&normal);
	key_direct_clear(&d);
	key_table_clear(&k);
}

static void
is_made_where_it_is_small_alone(void **state)
{
	struct key_table k = { 0 };
	struct key_direct d = { 0 };
	uint8_t p[8];
	bool fresh;

	(void)state;
	key_direct_make(&d, &k, SIZE_MAX);
	assert_int_equal(d.n, 0);
	add(&k, 5);
	add(&k, 5 + 1024 + 8 - 1);
	key_direct_make(&d, &k, SIZE_MAX);
	assert_int_equal(d.n, 1024 + 8);
	key_direct_make(&d, &k, 1000 * sizeof *d.numbers);
	assert_int_equal(d.n, 0);
	add(&k, 3000);
	key_direct_make(&d, &k, SIZE_MAX);
	assert_int_equal(d.n, 0);
	key_table_reset(&k);
	add(&k, INT64_MIN);
	add(&k, INT64_MAX);
	key_direct_make(&d, &k, SIZE_MAX);
	assert_int_equal(d.n, 0);
	key_table_reset(&k);
	add(&k, 1);
	key_table_add(&k, p, (size_t)(mp_put_text(p, "a", 1) - p), &fresh);
	key_direct_make(&d, &k, SIZE_MAX);
	assert_int_equal(d.n, 0);
	key_direct_clear(&d);
	key_table_clear(&k);
}
