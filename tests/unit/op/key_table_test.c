/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

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
