/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/secret.h"

static void
a_derived_secret_follows_from_its_key_and_numbers(void **state)
{
	const uint64_t v[] = { 1, 2, 3 }, other[] = { 1, 2, 4 };
	struct secret key = secret_new(), second = secret_new();

	(void)state;
	assert_false(secret_none(key));
	assert_false(secret_same(key, second));
	assert_true(secret_same(secret_derive(key, v, 3), secret_derive(key, v, 3)));
	assert_false(secret_same(secret_derive(key, v, 3), secret_derive(key, other, 3)));
	assert_false(secret_same(secret_derive(key, v, 3), secret_derive(key, v, 2)));
	assert_false(secret_same(secret_derive(key, v, 3), secret_derive(second, v, 3)));
}

/* A dispatcher that was started again makes the tickets of before: BLAKE2b with a key,
 * numbers most significant byte first. */
static void
a_derived_secret_is_the_same_in_every_process(void **state)
{
	const uint64_t v[] = { 1, 2 };
	struct secret s = secret_derive((struct secret){ 5, 6 }, v, 2);

	(void)state;
	assert_true(s.high == 0x0630d6f56d4ec551);
	assert_true(s.low == 0xa1d221c3b630767f);
}
