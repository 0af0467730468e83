/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "op/kit/key_table.h"

static void
keys_are_numbered_as_they_come(void **state)
{
	struct key_table k = { 0 };
	char text[20];
	bool fresh;
	uint32_t len;

	(void)state;
	for (uint32_t pass = 0; pass < 2; pass++)
		for (uint32_t i = 0; i < 5000; i++) {
			int n = snprintf(text, sizeof text, "key %u", i);

			assert_int_equal(key_table_add(&k, (uint8_t *)text, (size_t)n, &fresh), i);
			assert_int_equal(fresh, pass == 0);
			assert_int_equal(key_table_find(&k, (uint8_t *)text, (size_t)n), i);
		}
	assert_int_equal(key_table_find(&k, (const uint8_t *)"none", 4), KEY_TABLE_NONE);
	assert_memory_equal(key_table_at(&k, 42, &len), "key 42", 6);
	assert_int_equal(len, 6);
	key_table_reset(&k);
	assert_int_equal(key_table_find(&k, (const uint8_t *)"key 1", 5), KEY_TABLE_NONE);
	assert_int_equal(key_table_add(&k, (const uint8_t *)"key 1", 5, &fresh), 0);
	key_table_clear(&k);
	key_table_clear(&k);
}

/* The slots of a table are what is said of its number of keys, below and above each step. */
static void
size_of_slots_is_that_of_a_table(void **state)
{
	struct key_table k = { 0 };
	bool fresh;

	(void)state;
	assert_int_equal(key_table_slots_size(0), 0);
	for (uint32_t i = 0; i < 100000; i++) {
		assert_int_equal(key_table_add(&k, (const uint8_t *)&i, sizeof i, &fresh), i);
		if (key_table_slots_size(k.n) != k.n_slots * sizeof *k.slots)
			fail_msg("%u keys: %zu bytes, not %zu", i + 1, key_table_slots_size(k.n),
				 (size_t)k.n_slots * sizeof *k.slots);
	}
	key_table_clear(&k);
}

/* Keys that differ in one byte are different keys, and one is the beginning of another, in memory that ends right
 * behind them. */
static void
each_byte_of_a_key_counts(void **state)
{
	struct key_table k = { 0 };
	uint32_t n_keys = 0;

	(void)state;
	for (int pass = 0; pass < 2; pass++) {
		uint32_t number = 0;

		for (size_t n = 0; n < 40; n++) {
			uint8_t *key = mem_zalloc(n ? n : 1);

			for (size_t at = 0; at <= n; at++) {
				bool fresh;

				if (at < n)
					key[at] = 7;
				uint8_t *exact = mem_dup(key, n);
				/* all with one code, so that it is the bytes that tell them apart */
				assert_int_equal(key_table_add_code(&k, exact, n, 1, &fresh), number++);
				assert_int_equal(fresh, pass == 0);
				mem_free(exact);
				key[at < n ? at : 0] = 0;
			}
			mem_free(key);
		}
		assert_true(pass == 0 || k.n == n_keys);
		n_keys = k.n;
	}
	key_table_clear(&k);
}
