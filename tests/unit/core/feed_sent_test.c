/* SPDX-License-Identifier: MIT
 *
 * Which steps were read off a pipe, beside a plain list of what was written.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "core/feed/feed_sent.h"

static void
steps_that_were_read_whole_are_counted(void **state)
{
	struct feed_sent s = { 0 };

	(void)state;
	assert_int_equal(s.read, 0);
	feed_sent_begin(&s, 7);
	assert_int_equal(s.read, 7);
	feed_sent_add(&s, 10);
	feed_sent_add(&s, 20);
	feed_sent_taken(&s, 9);
	assert_int_equal(s.read, 7);
	feed_sent_taken(&s, 10);
	assert_int_equal(s.read, 8);
	feed_sent_taken(&s, 19);
	assert_int_equal(s.read, 8);
	feed_sent_taken(&s, 20);
	assert_int_equal(s.read, 9);
	feed_sent_clear(&s);
}

static void
another_pipe_begins_with_the_step_that_follows(void **state)
{
	struct feed_sent s = { 0 };

	(void)state;
	for (uint64_t i = 0; i < 5; i++)
		feed_sent_add(&s, 10 * (i + 1));
	feed_sent_taken(&s, 25);
	feed_sent_again(&s);
	assert_int_equal(s.read, 5);
	feed_sent_add(&s, 10);
	feed_sent_taken(&s, 10);
	assert_int_equal(s.read, 6);
	feed_sent_clear(&s);
}

static void
the_last_step_that_was_read_is_done_when_the_core_reads_on_or_ends_well(void **state)
{
	struct feed_sent s = { 0 };

	(void)state;
	feed_sent_begin(&s, 4);
	for (uint64_t i = 4; i < 8; i++)
		feed_sent_add(&s, 10 * (i - 3));
	feed_sent_taken(&s, 10);
	assert_int_equal(s.sure, 4);
	feed_sent_taken(&s, 19);
	assert_int_equal(s.sure, 4);
	feed_sent_taken(&s, 20);
	assert_int_equal(s.sure, 5);
	feed_sent_ended(&s, false);
	assert_int_equal(s.sure, 6);
	feed_sent_ended(&s, true);
	assert_int_equal(s.sure, 8);
	feed_sent_clear(&s);
}

static void
a_core_that_ends_without_a_step_has_done_those_before(void **state)
{
	struct feed_sent s = { 0 };

	(void)state;
	feed_sent_begin(&s, 5);
	feed_sent_ended(&s, false);
	assert_int_equal(s.sure, 5);
	feed_sent_clear(&s);
}

static void
a_million_steps_need_no_more_room_than_a_pipe_holds(void **state)
{
	enum { STEPS = 1000000, PIPE = 65536 };
	struct feed_sent s = { 0 };
	uint64_t *end = malloc(STEPS * sizeof *end), at = 0, read = 0;
	size_t known = 0;

	(void)state;
	srand(1);
	for (uint64_t i = 0; i < STEPS; i++) {
		at += 2 + (uint64_t)rand() % 20;
		end[i] = at;
		if (at > PIPE && at - PIPE > read)
			read = at - PIPE + (uint64_t)rand() % PIPE;
		if (feed_sent_full(&s) || rand() % 1000 == 0) {
			feed_sent_taken(&s, read);
			while (known < i && end[known] <= read)
				known++;
			assert_int_equal(s.read, known);
		}
		feed_sent_add(&s, at);
	}
	assert_true(s.cap <= 4 * PIPE / 2);
	free(end);
	feed_sent_clear(&s);
}
