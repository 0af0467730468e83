/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/rng.h"

static void *
num(uintptr_t n)
{
	return (void *)n;
}

static void
put_get_and_replace(void **state)
{
	struct hash h = { 0 };

	(void)state;
	assert_null(hash_get_str(&h, "a"));
	assert_null(hash_del_str(&h, "a"));
	assert_null(hash_put_str(&h, "a", num(1)));
	assert_null(hash_put_str(&h, "b", num(2)));
	assert_ptr_equal(hash_put_str(&h, "a", num(3)), num(1));
	assert_ptr_equal(hash_get_str(&h, "a"), num(3));
	assert_ptr_equal(hash_get(&h, "b\0", 1), num(2));
	assert_null(hash_get(&h, "b\0", 2));
	assert_null(hash_put(&h, NULL, 0, num(9)));
	assert_ptr_equal(hash_get(&h, "", 0), num(9));
	hash_clear(&h);
	hash_clear(&h);
	assert_null(hash_get_str(&h, "a"));
}

static void
order_is_that_of_insertion(void **state)
{
	struct hash h = { 0 };
	char key[16];

	(void)state;
	for (uintptr_t i = 0; i < 100; i++) {
		snprintf(key, sizeof key, "k%zu", (size_t)i);
		hash_put_str(&h, key, num(i + 1));
	}
	for (uintptr_t i = 0; i < 100; i++)
		assert_ptr_equal(h.items[i].value, num(i + 1));
	assert_ptr_equal(hash_del_str(&h, "k10"), num(11));
	assert_ptr_equal(h.items[10].value, num(100));
	assert_string_equal((char *)h.items[10].key, "k99");
	hash_clear(&h);
}

/* Against a plain array, a long walk of random puts and removals. */
static void
agrees_with_a_plain_array(void **state)
{
	enum { KEYS = 500 };
	uintptr_t want[KEYS] = { 0 };
	struct hash h = { 0 };
	struct rng r = { .key = 7 };

	(void)state;
	for (int step = 1; step < 50000; step++) {
		uint16_t k = (uint16_t)rng_below(&r, KEYS);
		void *before = rng_below(&r, 3) ? hash_put(&h, &k, sizeof k, num((uintptr_t)step)) :
						  hash_del(&h, &k, sizeof k);
		assert_ptr_equal(before, num(want[k]));
		want[k] = (uintptr_t)hash_get(&h, &k, sizeof k);
		assert_true(want[k] == 0 || want[k] == (uintptr_t)step);
	}
	size_t n = 0;
	for (uint16_t k = 0; k < KEYS; k++) {
		assert_ptr_equal(hash_get(&h, &k, sizeof k), num(want[k]));
		n += want[k] != 0;
	}
	assert_int_equal(h.n, n);
	hash_clear(&h);
}

static void
near_keys_have_far_codes(void **state)
{
	uint64_t seen = 0;

	(void)state;
	for (uint32_t i = 0; i < 64; i++)
		seen |= 1ull << (hash_bytes(&i, sizeof i) & 63);
	assert_true(__builtin_popcountll(seen) > 25);
	assert_true(hash_bytes("\0", 1) != hash_bytes("\0\0", 2));
}

/* Each byte of a key counts, at each length, and nothing behind the key is read. */
static void
each_byte_of_a_key_counts(void **state)
{
	(void)state;
	for (size_t n = 1; n < 70; n++) {
		uint8_t *key = mem_zalloc(n);
		uint64_t code = hash_bytes(key, n);

		for (size_t k = 0; k < n; k++) {
			key[k] = 1;
			assert_true(hash_bytes(key, n) != code);
			key[k] = 0;
		}
		assert_true(hash_bytes(key, n) == code);
		mem_free(key);
	}
}

/* There is no beginning, of those that the source code suggests, with which the rest of a key has no weight. */
static void
no_known_beginning_makes_all_codes_equal(void **state)
{
	static const uint64_t known[] = { 0xa0761d6478bd642fu, 0xe7037ed1a0b428dbu,
					  0xa0761d6478bd642fu ^ 0xe7037ed1a0b428dbu, 0 };
	uint64_t key[3];

	(void)state;
	for (size_t k = 0; k < sizeof known / sizeof *known; k++)
		for (size_t at = 0; at < 2; at++) {
			memset(key, 0, sizeof key);
			key[at] = known[k];
			uint64_t code = hash_bytes(key, sizeof key), two = hash_bytes(key, 16);

			key[1 - at] = 1;
			assert_true(hash_bytes(key, 16) != two);
			key[1 - at] = 0;
			key[2] = 1;
			assert_true(hash_bytes(key, sizeof key) != code);
		}
}
