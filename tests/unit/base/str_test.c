/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/str.h"

#define GOOD(f, text, want) do { \
	int64_t got_ = -12345; \
	if (!f(text, strlen(text), &got_) || got_ != (want)) \
		fail_msg("%s(\"%s\") gives %lld", #f, text, (long long)got_); \
} while (0)
#define BAD(f, text) do { \
	int64_t got_ = -12345; \
	if (f(text, strlen(text), &got_) || got_ != -12345) \
		fail_msg("%s(\"%s\") gives %lld", #f, text, (long long)got_); \
} while (0)

static void
integers(void **state)
{
	(void)state;
	GOOD(str_int, "0", 0);
	GOOD(str_int, "-3", -3);
	GOOD(str_int, "10_000", 10000);
	GOOD(str_int, "0x40", 64);
	GOOD(str_int, "-0xFF", -255);
	GOOD(str_int, "64k", 65536);
	GOOD(str_int, "64Ki", 65536);
	GOOD(str_int, "64kB", 64000);
	GOOD(str_int, "9223372036854775807", INT64_MAX);
	GOOD(str_int, "-9223372036854775808", INT64_MIN);
	GOOD(str_int, "0x7fffffffffffffff", INT64_MAX);
	GOOD(str_int, "-0x8000000000000000", INT64_MIN);
}

static void
integers_that_are_none(void **state)
{
	(void)state;
	BAD(str_int, "");
	BAD(str_int, "-");
	BAD(str_int, "+1");
	BAD(str_int, " 1");
	BAD(str_int, "1 ");
	BAD(str_int, "12x");
	BAD(str_int, "1__0");
	BAD(str_int, "_1");
	BAD(str_int, "1_");
	BAD(str_int, "0x");
	BAD(str_int, "0xg");
	BAD(str_int, "1.5");
	BAD(str_int, "9223372036854775808");
	BAD(str_int, "-9223372036854775809");
	BAD(str_int, "0x8000000000000000");
	BAD(str_int, "90000000000000000k");
	BAD(str_int, "99999999999999999999999999");
}

static void
sizes(void **state)
{
	(void)state;
	GOOD(str_size, "512", 512);
	GOOD(str_size, "1M", 1 << 20);
	GOOD(str_size, "1MiB", 1 << 20);
	GOOD(str_size, "1MB", 1000000);
	GOOD(str_size, "1.5G", 3LL << 29);
	GOOD(str_size, "0x10", 16);
	BAD(str_size, "-1");
	BAD(str_size, "1X");
	BAD(str_size, ".");
	BAD(str_size, "1.");
	BAD(str_size, "9999999999T");
}

static void
durations(void **state)
{
	(void)state;
	GOOD(str_duration_ns, "5", 5000000000);
	GOOD(str_duration_ns, "0.5s", 500000000);
	GOOD(str_duration_ns, ".5", 500000000);
	GOOD(str_duration_ns, "100ms", 100000000);
	GOOD(str_duration_ns, "3us", 3000);
	GOOD(str_duration_ns, "7ns", 7);
	GOOD(str_duration_ns, "2m", 120000000000);
	GOOD(str_duration_ns, "1h", 3600000000000);
	GOOD(str_duration_ns, "1d", 86400000000000);
	BAD(str_duration_ns, "");
	BAD(str_duration_ns, "s");
	BAD(str_duration_ns, "1 s");
	BAD(str_duration_ns, "-1s");
	BAD(str_duration_ns, "1y");
	BAD(str_duration_ns, "9999999999d");
}

static void
floats(void **state)
{
	double x = 42;

	(void)state;
	assert_true(str_float("1_000.5", 7, &x) && x == 1000.5);
	assert_true(str_float("-2e3", 4, &x) && x == -2000);
	assert_true(str_float("inf", 3, &x) && isinf(x));
	x = 42;
	assert_false(str_float("nan", 3, &x));
	assert_false(str_float("", 0, &x));
	assert_false(str_float("+1", 2, &x));
	assert_false(str_float("1e999", 5, &x));
	assert_false(str_float("0x1p3", 5, &x));
	assert_false(str_float("1 ", 2, &x));
	assert_false(str_float("-", 1, &x));
	assert_true(x == 42);
}

static void
booleans(void **state)
{
	bool b = false;

	(void)state;
	assert_true(str_bool("yes", 3, &b) && b);
	assert_true(str_bool("off", 3, &b) && !b);
	assert_false(str_bool("Yes", 3, &b));
	assert_false(str_bool("ye", 2, &b));
}

static const char *
word_next(void *arg, size_t i)
{
	const char **words = arg;

	return words[i];
}

static void
suggestions_are_near_and_few(void **state)
{
	const char *words[] = { "count", "cont", "batch", "map", "counts", "mount", "filter", NULL };
	char out[128];

	(void)state;
	assert_true(str_suggest("cuont", word_next, words, out, sizeof out));
	assert_string_equal(out, "`count`, `cont`, `counts`");
	assert_true(str_suggest("fitler", word_next, words, out, sizeof out));
	assert_string_equal(out, "`filter`");
	assert_true(str_suggest("MAP", word_next, words, out, sizeof out)); /* large and small letters are the same */
	assert_string_equal(out, "`map`");
	assert_true(str_suggest("Fitler", word_next, words, out, sizeof out));
	assert_string_equal(out, "`filter`");
	assert_false(str_suggest("zzz", word_next, words, out, sizeof out));
	assert_string_equal(out, "");
	assert_false(str_suggest("", word_next, words, out, sizeof out));
	assert_false(str_suggest("x", word_next, words, out, sizeof out));
}

static void
utf8(void **state)
{
	(void)state;
	assert_int_equal(str_utf8_valid("plain ascii text", 16), 16);
	assert_int_equal(str_utf8_valid("\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80", 9), 9);
	assert_int_equal(str_utf8_valid("ab\xff", 3), 2);
	assert_int_equal(str_utf8_valid("a\xc3", 2), 1);             /* cut off */
	assert_int_equal(str_utf8_valid("\xc0\x80", 2), 0);          /* overlong */
	assert_int_equal(str_utf8_valid("\xe0\x80\x80", 3), 0);      /* overlong */
	assert_int_equal(str_utf8_valid("\xed\xa0\x80", 3), 0);      /* surrogate */
	assert_int_equal(str_utf8_valid("\xf4\x90\x80\x80", 4), 0);  /* past the end */
	assert_int_equal(str_utf8_valid("12345678\x80", 9), 8);
	assert_int_equal(str_utf8_valid("", 0), 0);
}

static void
ends(void **state)
{
	(void)state;
	assert_true(str_starts("tcp://x", "tcp://"));
	assert_false(str_starts("tc", "tcp"));
	assert_true(str_ends("a.gz", ".gz"));
	assert_false(str_ends("z", ".gz"));
}

static void
a_text_that_is_taken_is_never_null(void **state)
{
	char *owner = NULL, *taken;

	(void)state;
	assert_string_equal(str_or_empty(NULL), "");
	assert_string_equal(str_or_empty("a"), "a");
	taken = str_take(&owner);
	assert_string_equal(taken, "");
	owner = taken;
	assert_ptr_equal(str_take(&owner), taken);
	assert_null(owner);
	mem_free(taken);
}
