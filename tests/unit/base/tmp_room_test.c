/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/tmp_room.h"

static void
a_share_of_what_is_free_and_ours(void **state)
{
	(void)state;
	assert_true(tmp_room_fits(-75, 0, 75, 100));
	assert_false(tmp_room_fits(-75, 0, 76, 100));
	/* our own bytes are not free any more, and count */
	assert_true(tmp_room_fits(-75, 70, 5, 30));
	assert_false(tmp_room_fits(-75, 70, 6, 30));
	assert_false(tmp_room_fits(-75, 80, 0, 20));
	assert_true(tmp_room_fits(-100, 0, UINT64_MAX / 2, UINT64_MAX / 2));
	assert_false(tmp_room_fits(-1, 0, 1, 99));
	assert_true(tmp_room_fits(-1, 0, 1, 100));
}

static void
a_number_of_bytes(void **state)
{
	(void)state;
	assert_true(tmp_room_fits(10, 4, 6, 0));
	assert_false(tmp_room_fits(10, 4, 7, UINT64_MAX));
	assert_false(tmp_room_fits(10, 11, 0, 0));
	assert_false(tmp_room_fits(10, 4, UINT64_MAX, 0));
}

static void
files_share_the_limit_and_give_back(void **state)
{
	struct tmp_room a = { 0 }, b = { 0 };
	struct err e;

	(void)state;
	tmp_room_limit(100);
	assert_int_equal(tmp_room_take(&a, 60, -1, "/here", &e), ST_OK);
	assert_int_equal(tmp_room_take(&b, 41, -1, "/here", &e), ST_IO);
	assert_non_null(strstr(e.text, "/here"));
	assert_non_null(strstr(e.help, "--tmp-max"));
	assert_int_equal(tmp_room_take(&b, 40, -1, "/here", &e), ST_OK);
	tmp_room_give_back(&a);
	assert_int_equal(tmp_room_take(&b, 60, -1, "/here", &e), ST_OK);
	assert_int_equal(tmp_room_take(&b, 1, -1, "/here", &e), ST_IO);
	tmp_room_give_back(&b);
	tmp_room_limit(0);
	/* a file system that gives no answer has room */
	assert_int_equal(tmp_room_take(&b, 1, -1, "/here", &e), ST_OK);
	tmp_room_give_back(&b);
}
