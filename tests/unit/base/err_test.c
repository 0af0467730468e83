/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/err.h"

static void
set_returns_its_kind_and_forgets_what_was_there(void **state)
{
	struct err e = { 0 };

	(void)state;
	assert_int_equal(err_set(&e, ST_DATA, "first"), ST_DATA);
	err_help(&e, "try %d", 3);
	err_place(&e, "f", "abc", 3, 1, 1);
	assert_int_equal(err_set(&e, ST_USAGE, "second %d", 2), ST_USAGE);
	assert_string_equal(e.text, "second 2");
	assert_string_equal(e.help, "");
	assert_int_equal(e.line, 0);
	assert_int_equal(err_set(NULL, ST_IO, "nobody listens"), ST_IO);
}

static void
set_may_quote_the_error_it_replaces(void **state)
{
	struct err e = { 0 };

	(void)state;
	err_set(&e, ST_DATA, "inner");
	err_set(&e, ST_DATA, "outer of %s", e.text);
	assert_string_equal(e.text, "outer of inner");
}

static void
wrap_puts_words_in_front(void **state)
{
	struct err e = { 0 };

	(void)state;
	err_set(&e, ST_DATA, "division by zero");
	assert_int_equal(err_wrap(&e, "op %s", "map"), ST_DATA);
	assert_string_equal(e.text, "op map: division by zero");
}

static void
wrap_of_a_full_text_cuts_it_whole_characters_only(void **state)
{
	struct err e = { 0 };
	char text[ERR_TEXT * 2];

	(void)state;
	for (size_t i = 0; i + 2 < sizeof text; i += 2)
		memcpy(text + i, "\xc3\xa4", 3);
	err_set(&e, ST_DATA, "x%s", text);
	assert_true(strlen(e.text) < ERR_TEXT);
	assert_int_equal(strlen(e.text) % 2, 1);
	err_wrap(&e, "ab");
	assert_true(strlen(e.text) < ERR_TEXT);
	assert_memory_equal(e.text, "ab: x", 5);
}

static void
errno_decides_the_kind(void **state)
{
	struct err e = { 0 };

	(void)state;
	errno = ENOENT;
	assert_int_equal(err_errno(&e, "cannot open %s", "f"), ST_NOINPUT);
	assert_string_equal(e.text, "cannot open f: No such file or directory");
	errno = EACCES;
	assert_int_equal(err_errno(&e, "x"), ST_PERM);
	errno = ENOSPC;
	assert_int_equal(err_errno(&e, "x"), ST_IO);
}

static void
place_works_out_line_column_and_width(void **state)
{
	struct err e = { 0 };
	const char *text = "one\ntw\xc3\xb6 three\nfour";

	(void)state;
	err_set(&e, ST_DATA, "bad");
	err_place(&e, "f.dsvc", text, strlen(text), 9, 5);
	assert_int_equal(e.line, 2);
	assert_int_equal(e.col, 5);
	assert_int_equal(e.width, 5);
	assert_string_equal(e.source, "tw\xc3\xb6 three");
	assert_string_equal(e.file, "f.dsvc");
	/* a fault that goes on over the line's end stops there; an empty one is
	 * one caret wide */
	err_place(&e, NULL, text, strlen(text), 9, 100);
	assert_int_equal(e.width, 5);
	assert_string_equal(e.file, "<arg>");
	err_place(&e, NULL, text, strlen(text), 1000, 1000);
	assert_int_equal(e.line, 3);
	assert_int_equal(e.col, 5);
	assert_int_equal(e.width, 1);
}

static void
place_keeps_the_part_of_a_long_line_that_holds_the_fault(void **state)
{
	struct err e = { 0 };
	char text[5000];

	(void)state;
	memset(text, 'a', sizeof text);
	memcpy(text + 4000, "FAULT", 5);
	err_place(&e, NULL, text, sizeof text, 4000, 5);
	assert_int_equal(e.col, 4001);
	assert_memory_equal(e.source + (e.col - 1 - e.shift), "FAULT", 5);
}

static void
names_are_those_of_the_exit_code_table(void **state)
{
	(void)state;
	assert_string_equal(status_name(ST_DATA), "DATAERR");
	assert_string_equal(status_name(ST_TIMEOUT), "TIMEOUT");
	assert_string_equal(status_name((enum status)99), "UNKNOWN");
}

static void
codes_of_others_are_failures_whatever_they_say(void **state)
{
	(void)state;
	for (uint64_t code = 0; code < 300; code++) {
		enum status st = status_from_code(code);
		bool kept = (code >= 64 && code <= 78) || code == 124 || code == 126 || code == 127;

		assert_int_equal(st, code == 1 ? ST_NO : kept ? (int)code : ST_BUG);
		assert_int_equal(status_code(st), code == 1 || kept ? code : ST_BUG);
	}
	assert_int_equal(status_from_code(UINT64_MAX), ST_BUG);
	assert_int_equal(status_from_code((1ull << 32) + 1), ST_BUG);
	assert_int_equal(status_code(ST_END), ST_BUG);
	assert_int_equal(status_code(ST_AGAIN), ST_BUG);
}
