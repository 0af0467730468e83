/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "op/digest.h"
#include "op/keys.h"

static void
keys_are_numbered_as_they_come(void **state)
{
	struct keys k = { 0 };
	char text[20];
	bool fresh;
	uint32_t len;

	(void)state;
	for (uint32_t pass = 0; pass < 2; pass++)
		for (uint32_t i = 0; i < 5000; i++) {
			int n = snprintf(text, sizeof text, "key %u", i);

			assert_int_equal(keys_add(&k, (uint8_t *)text, (size_t)n, &fresh), i);
			assert_int_equal(fresh, pass == 0);
			assert_int_equal(keys_find(&k, (uint8_t *)text, (size_t)n), i);
		}
	assert_int_equal(keys_find(&k, (const uint8_t *)"none", 4), KEYS_NONE);
	assert_memory_equal(keys_at(&k, 42, &len), "key 42", 6);
	assert_int_equal(len, 6);
	keys_reset(&k);
	assert_int_equal(keys_find(&k, (const uint8_t *)"key 1", 5), KEYS_NONE);
	assert_int_equal(keys_add(&k, (const uint8_t *)"key 1", 5, &fresh), 0);
	keys_clear(&k);
	keys_clear(&k);
}

static void
quantiles_are_exact_while_there_are_few_numbers(void **state)
{
	struct digest d = { 0 };

	(void)state;
	assert_true(digest_quantile(&d, 0.5) == 0);
	for (int i = 100; i >= 0; i--)
		digest_add(&d, i);
	assert_true(digest_quantile(&d, 0) == 0);
	assert_true(digest_quantile(&d, 0.25) == 25);
	assert_true(digest_quantile(&d, 0.995) == 99.5);
	assert_true(digest_quantile(&d, 1) == 100);
	digest_clear(&d);
}

static void
quantiles_of_many_numbers_are_near(void **state)
{
	struct digest d = { 0 }, back = { 0 };
	struct buf b = { 0 };

	(void)state;
	for (int i = 0; i < 1000000; i++)
		digest_add(&d, (i * 7919LL) % 1000003);
	for (int q = 1; q < 1000; q++) {
		double off = digest_quantile(&d, q / 1000.0) - q * 1000.0;

		assert_true(off > -2000 && off < 2000);
	}
	assert_true(d.n <= DIGEST_CENTROIDS / 2);
	digest_save(&d, &b);
	struct state_in in = state_begin(b.data, b.len);
	digest_restore(&back, &in);
	assert_true(state_ended(&in));
	assert_true(digest_quantile(&back, 0.37) == digest_quantile(&d, 0.37));
	in = state_begin(b.data, b.len / 2);
	digest_restore(&back, &in);
	assert_true(in.bad);
	digest_clear(&d);
	digest_clear(&back);
	buf_clear(&b);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keys_are_numbered_as_they_come),
		cmocka_unit_test(quantiles_are_exact_while_there_are_few_numbers),
		cmocka_unit_test(quantiles_of_many_numbers_are_near),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
