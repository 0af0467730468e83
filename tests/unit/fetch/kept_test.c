/* SPDX-License-Identifier: MIT
 *
 * Small parts of objects that are kept for the next reader.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "fetch/kept.h"

static void
keep(const char *url, const char *tag, uint64_t at, const char *text)
{
	kept_put(url, tag, 1000, at, mem_dup(text, strlen(text)), strlen(text));
}

static void
is(const char *url, const char *tag, uint64_t at, const char *text)
{
	uint64_t size = 0;
	size_t n = 0;
	uint8_t *p = kept_get(url, tag, at, &n, &size);

	if (!text) {
		assert_null(p);
		return;
	}
	assert_non_null(p);
	assert_int_equal(n, strlen(text));
	assert_memory_equal(p, text, n);
	assert_int_equal(size, 1000);
	mem_free(p);
}

static void
bytes_are_given_from_any_place_on_and_to_that_object_alone(void **state)
{
	(void)state;
	keep("s3://a/b", "\"1\"", 100, "abcdef");
	is("s3://a/b", "\"1\"", 100, "abcdef");
	is("s3://a/b", "\"1\"", 105, "f");
	is("s3://a/b", "\"1\"", 106, NULL);
	is("s3://a/b", "\"1\"", 99, NULL);
	is("s3://a/b", "\"2\"", 100, NULL);
	is("s3://a/c", "\"1\"", 100, NULL);
}

static void
those_that_nobody_asks_for_make_room(void **state)
{
	char url[32];

	(void)state;
	keep("s3://a/old", "1", 0, "old");
	keep("s3://a/used", "1", 0, "used");
	for (int i = 0; i < 15; i++) {
		is("s3://a/used", "1", 1, "sed");
		snprintf(url, sizeof url, "s3://a/%d", i);
		keep(url, "1", 0, "new");
	}
	is("s3://a/used", "1", 0, "used");
	is("s3://a/old", "1", 0, NULL);
	is("s3://a/14", "1", 2, "w");
}
