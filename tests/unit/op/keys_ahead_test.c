/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "op/kit/keys_ahead.h"
#include "value/mp.h"
#include "value/normal.h"

enum { KEYS = 3000 };

static size_t
key_put(uint8_t *w, uint32_t i)
{
	static const char tail[] = "a tail that does not lie inside the table's items";

	/* every third key is long, every fifth a float that is a whole number */
	if (i % 3 == 0)
		return (size_t)(mp_put_text(w, tail + i % 7, (uint32_t)(sizeof tail - 1 - i % 7)) - w);
	return (size_t)((i % 5 == 0 ? mp_put_float(w, i) : mp_put_uint(w, i)) - w);
}

/* Keys have the same numbers as if each were looked up by itself, wherever they lie. */
static void
keys_looked_up_together_are_those_looked_up_alone(void **state)
{
	struct key_table together = { 0 }, alone = { 0 };
	struct keys_ahead a = { 0 };
	struct buf normal = { 0 };
	uint8_t bytes[KEYS_AHEAD][80];
	struct elem e[KEYS_AHEAD];
	bool fresh, new;

	(void)state;
	for (uint32_t i = 0; i < KEYS; i += KEYS_AHEAD / 2) {
		keys_ahead_begin(&a);
		for (uint32_t k = 0; k < KEYS_AHEAD; k++) {
			size_t n = key_put(bytes[k], i + k);

			/* the element is the key, or the key lies elsewhere */
			e[k] = (struct elem){ .p = bytes[k], .len = k % 2 ? (uint32_t)n : 0 };
			keys_ahead_add(&a, &together, &e[k], k, bytes[k], n);
			if (k % 2 == 0)
				memset(bytes[k], 0, n);
		}
		keys_ahead_fetch(&a, &together);
		for (uint32_t k = 0; k < KEYS_AHEAD; k++) {
			size_t n = key_put(bytes[k], i + k);
			const uint8_t *p = normal_key(bytes[k], &n, &normal);
			uint32_t number = key_table_add(&alone, p, n, &new);

			assert_int_equal(a.v[k].i, k);
			if (k % 3) /* some are passed over */
				assert_ptr_equal(keys_ahead_of(&a, k), &a.v[k]);
			assert_int_equal(a.v[k].len, n);
			assert_memory_equal(keys_ahead_at(&a, k), p, n);
			assert_int_equal(key_table_add_code(&together, keys_ahead_at(&a, k), n, a.v[k].code, &fresh),
					 number);
			assert_int_equal(fresh, new);
			if (k < KEYS_AHEAD / 2 && i)
				assert_int_equal(a.v[k].number, number);
		}
		assert_null(keys_ahead_of(&a, KEYS_AHEAD));
	}
	assert_int_equal(together.n, alone.n);
	keys_ahead_clear(&a);
	key_table_clear(&together);
	key_table_clear(&alone);
	buf_clear(&normal);
}
