/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/mem.h"

static void
text_is_always_ended(void **state)
{
	struct buf b = { 0 };

	(void)state;
	buf_str(&b, "ab");
	buf_byte(&b, 'c');
	buf_printf(&b, "%d-%s", 7, "x");
	assert_string_equal((char *)b.data, "abc7-x");
	assert_int_equal(b.len, 6);
	buf_reset(&b);
	assert_int_equal(b.len, 0);
	assert_string_equal((char *)b.data, "");
	buf_clear(&b);
	buf_clear(&b);
	assert_null(b.data);
}

static void
printf_grows_to_fit(void **state)
{
	struct buf b = { 0 };
	char text[1000];

	(void)state;
	memset(text, 'y', 999);
	text[999] = '\0';
	buf_printf(&b, "<%s>", text);
	assert_int_equal(b.len, 1001);
	assert_int_equal(strlen((char *)b.data), 1001);
	assert_int_equal(b.data[1000], '>');
	buf_clear(&b);
}

static void
room_lends_the_place_and_leaves_the_length(void **state)
{
	struct buf b = { 0 };

	(void)state;
	for (int i = 0; i < 1000; i++) {
		uint8_t *at = buf_room(&b, 100);
		memset(at, i & 0xff, 100);
		b.len += 100;
	}
	assert_int_equal(b.len, 100000);
	assert_int_equal(b.data[99999], 999 & 0xff);
	buf_clear(&b);
}

static void
take_of_nothing_is_an_empty_text(void **state)
{
	struct buf b = { 0 };
	char *s = buf_take(&b);

	(void)state;
	assert_string_equal(s, "");
	mem_free(s);
	buf_str(&b, "given");
	s = buf_take(&b);
	assert_string_equal(s, "given");
	assert_null(b.data);
	assert_int_equal(b.cap, 0);
	mem_free(s);
}

static void
nothing_may_be_put(void **state)
{
	struct buf b = { 0 };

	(void)state;
	buf_put(&b, NULL, 0);
	assert_int_equal(b.len, 0);
	assert_string_equal((char *)b.data, "");
	buf_clear(&b);
}
