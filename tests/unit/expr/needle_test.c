/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/rng.h"
#include "expr/needle.h"

static bool
all_of(const char *pattern)
{
	struct needles k;

	needles_find(pattern, strlen(pattern), &k);
	assert_true(k.n > 0);
	return k.all;
}

static void
tells_whether_a_needle_is_a_match(void **state)
{
	(void)state;
	assert_true(all_of("ERROR"));
	assert_true(all_of("WARN|ERROR"));
	assert_true(all_of("a\\.b"));
	assert_false(all_of("^2026-11"));
	assert_false(all_of("ERROR$"));
	assert_false(all_of("WARN|ERROR.*x"));
	assert_false(all_of("status=50[0-4]"));
	assert_false(all_of("lines?"));
	assert_false(all_of("lines+"));
	assert_false(all_of("(?:ab)?cd"));
	assert_false(all_of("\\bword"));
	assert_false(all_of("gr\xc3\xbc\xc3\x9f"));
	assert_false(all_of("0123456789012345678901234567890123456789012345678901234567890123456789"));
}

/* Each needle is found where memmem finds it, in memory that ends right behind the text. */
static void
is_found_where_it_is_first(void **state)
{
	static const char *const patterns[] = { "ab", "aba", "b-", "aaaaaaaa", "a-b:a-b:a-b:a-b:a-b:a-b:a-b:a-b:" };
	struct rng r = { 3, 0 };

	(void)state;
	for (size_t i = 0; i < 4000; i++) {
		const char *s = patterns[i % 5];
		size_t n = rng_below(&r, 200);
		uint8_t *text = mem_alloc(n);
		struct needles k;

		for (size_t at = 0; at < n; at++)
			text[at] = (uint8_t)(i % 2 ? "ab"[rng_below(&r, 2)] : "a-b:"[at % 4]);
		if (n && i % 3 == 0)
			text[rng_below(&r, n)] = 'x';
		needles_find(s, strlen(s), &k);
		const uint8_t *want = memmem(text, n, s, strlen(s));
		assert_ptr_equal(needle_next(&k.v[0], text, text + n), want);
		assert_ptr_equal(needle_search((const uint8_t *)s, strlen(s), text, text + n), want);
		mem_free(text);
	}
}
