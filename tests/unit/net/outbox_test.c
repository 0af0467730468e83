/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/mem.h"
#include "net/outbox.h"

static void
what_is_let_go_of_no_longer_counts(void **state)
{
	struct outbox *o = outbox_new();
	void *copy, *hint;
	(void)state;
	assert_true(outbox_put(o, "abc", 3, &copy, &hint));
	assert_memory_equal(copy, "abc", 3);
	assert_int_equal(outbox_bytes(o), 3 + OUTBOX_EACH);
	outbox_release(copy, hint);
	assert_int_equal(outbox_bytes(o), 0);
	outbox_free(&o);
	assert_null(o);
}

static void
bytes_are_bounded_and_so_is_the_number_of_messages(void **state)
{
	struct outbox *o = outbox_new();
	void *first, *hint, *copy, *other;
	char *large = mem_zalloc(OUTBOX_MAX);
	(void)state;
	assert_false(outbox_put(o, large, OUTBOX_MAX, &copy, &other));
	assert_true(outbox_put(o, large, OUTBOX_MAX - OUTBOX_EACH, &first, &hint));
	assert_false(outbox_put(o, "", 0, &copy, &other));
	outbox_release(first, hint);
	assert_true(outbox_put(o, "", 0, &copy, &other));
	outbox_release(copy, other);
	mem_free(large);
	outbox_free(&o);
}

static void
messages_outlive_the_peer(void **state)
{
	struct outbox *o = outbox_new();
	void *copy, *hint;
	(void)state;
	assert_true(outbox_put(o, "late", 4, &copy, &hint));
	outbox_free(&o);
	assert_memory_equal(copy, "late", 4);
	outbox_release(copy, hint);
}
