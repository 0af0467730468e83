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

static bool
starts_of(const char *pattern)
{
	struct needles k;

	needles_find(pattern, strlen(pattern), &k);
	return k.n && k.starts;
}

static void
tells_whether_a_needle_is_a_match_at_the_start_alone(void **state)
{
	(void)state;
	assert_true(starts_of("^2026-11"));
	assert_true(starts_of("^WARN|^ERROR"));
	assert_true(starts_of("^a\\.b"));
	assert_false(starts_of("ERROR"));
	assert_false(starts_of("^WARN|ERROR"));
	assert_false(starts_of("a^b"));
	assert_false(starts_of("^^ab"));
	assert_false(starts_of("^ab$"));
	assert_false(starts_of("^ab+"));
	assert_false(starts_of("^abc?"));
	assert_false(starts_of("^ab*"));
	assert_false(starts_of("^.ab"));
	assert_false(starts_of("^ab[cd]"));
	assert_false(starts_of("^(?:c)?ab"));
	assert_false(starts_of("^gr\xc3\xbc\xc3\x9f"));
	assert_false(starts_of("^0123456789012345678901234567890123456789012345678901234567890123456789"));
}

/* The nearest of several needles is found, and all line ends before it are counted, in memory that
 * ends right behind. */
static void
the_nearest_of_several_is_found(void **state)
{
	static const char *const patterns[] = {
		"ab", "aba|b-", "ba|a-b|--", "ab|ba|bb|aa-", "aaaaaaaa|a-b:a-b:a-b:a-b:a-b:a-b:a-b:a-b:", "ab|abab|aba",
		"^ab|^b:", "b\n|\na",
	};
	struct rng r = { 4, 0 };

	(void)state;
	for (size_t i = 0; i < 20000; i++) {
		const char *s = patterns[i % 8];
		size_t n = i % 500 ? rng_below(&r, 400) : 70000;
		uint8_t *text = mem_alloc(n + 1);
		const uint8_t *want = NULL;
		uint64_t lines = 5, ends = 5;
		struct needles k;

		for (size_t at = 0; at < n; at++)
			text[at] = (uint8_t)(i % 3 ? "xyz\n"[rng_below(&r, 4)] : "ab-:\n"[rng_below(&r, 5)]);
		if (n > 100)
			memcpy(text + n - 1 - rng_below(&r, 100), "ab-b:a\n", 1);
		for (size_t at = rng_below(&r, n + 1), m = 0; at + 3 < n && m < 3; at++, m++)
			text[at] = (uint8_t)"ab-"[m];
		uint8_t *exact = mem_dup(text, n);
		needles_find(s, strlen(s), &k);
		assert_true(k.n > 0);
		for (size_t m = 0; m < k.n; m++) {
			const uint8_t *at = memmem(exact, n, k.v[m].s, k.v[m].n);

			want = at && (!want || at < want) ? at : want;
		}
		for (const uint8_t *p = exact; p < (want ? want : exact + n); p++)
			ends += *p == '\n';
		assert_ptr_equal(needles_next(&k, exact, exact + n, '\n', &lines), want);
		assert_int_equal(lines, ends);
		mem_free(exact);
		mem_free(text);
	}
}

static void
places_of_a_byte_are_bits(void **state)
{
	struct rng r = { 4, 0 };

	(void)state;
	for (size_t i = 0; i < 2000; i++) {
		size_t n = rng_below(&r, NEEDLE_PLACES + 1);
		uint8_t *text = mem_alloc(n);
		uint64_t want = 0;

		for (size_t at = 0; at < n; at++) {
			text[at] = "ab\xe2"[rng_below(&r, 3)];
			want |= (uint64_t)(text[at] == 0xe2) << at;
		}
		assert_true(needle_places(text, n, 0xe2) == want);
		mem_free(text);
	}
}
