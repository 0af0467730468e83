/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/json_text.h"

static void
is(const char *text, size_t n, size_t room, const char *want)
{
	char out[256];

	memset(out, '#', sizeof out);
	char *end = json_text(out, out + room, text, n);
	assert_int_equal(*end, '#'); /* nothing is written behind it */
	*end = '\0';
	assert_string_equal(out, want);
}

static void
texts_are_escaped_and_what_is_not_utf8_is_replaced(void **state)
{
	(void)state;
	is("plain text", 10, 99, "plain text");
	is("\"\\\n\t\r\x7f\x01\x1f\0", 9, 99, "\\\"\\\\\\n\\t\\u000d\\u007f\\u0001\\u001f\\u0000");
	is("\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", 9, 99, "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
	/* alone, cut off, too long, a surrogate, beyond the last one */
	is("\x80z", 2, 99, "\xef\xbf\xbdz");
	is("\xe2\x82", 2, 99, "\xef\xbf\xbd\xef\xbf\xbd");
	is("\xc0\xaf", 2, 99, "\xef\xbf\xbd\xef\xbf\xbd");
	is("\xed\xa0\x80", 3, 99, "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
	is("\xf5\x80\x80\x80", 4, 99, "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
	is("", 0, 99, "");
}

static void
what_does_not_fit_is_cut_behind_a_character(void **state)
{
	(void)state;
	is("abc", 3, 2, "ab");
	is("a\x01", 2, 6, "a");
	is("a\x01", 2, 7, "a\\u0001");
	is("a\xe2\x82\xac", 4, 3, "a");
	is("a\xe2\x82\xac", 4, 4, "a\xe2\x82\xac");
	is("a\xff", 2, 3, "a");
	is("abc", 3, 0, "");
}

static void
numbers_to_the_ends_of_their_range(void **state)
{
	static const int64_t v[] = { 0, 7, 10, -1, 99, 100, INT64_MAX, INT64_MIN, -1234567890123 };
	char out[JSON_INT_MOST + 1], want[JSON_INT_MOST + 2];

	(void)state;
	for (size_t i = 0; i < sizeof v / sizeof *v; i++) {
		*json_int(out, v[i]) = '\0';
		snprintf(want, sizeof want, "%lld", (long long)v[i]);
		assert_string_equal(out, want);
	}
	*json_uint(out, UINT64_MAX) = '\0';
	assert_string_equal(out, "18446744073709551615");
}
