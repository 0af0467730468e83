/* SPDX-License-Identifier: MIT
 *
 * Cores that do nothing, and who is told of them: the texts that people read.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "core/feed/feed.h"

#define S 1000000000ll

static struct feed *
begin(uint32_t cores, bool blind, uint64_t until)
{
	struct feed_conf c = { .cores = cores, .prefetch = 2, .slots = 4, .rows = cores, .ours = true, .blind = blind,
		.until = until, .slow_ns = 60 * S, .core_timeout_ns = 100 * S, .grace_ns = S };
	struct feed *f = feed_new(&c, S);

	for (uint32_t i = 0; i < cores; i++) {
		struct feed_ready m = { 0, 0, UINT64_MAX };
		struct err e;

		feed_join(f, S, i, 0);
		assert_int_equal(feed_ready(f, S, i, &m, &e), ST_OK);
	}
	return f;
}

/* Steps until there is no room for more. */
static void
fill(struct feed *f)
{
	for (uint64_t room; (room = feed_room(f));)
		feed_put(f, S, room);
}

static void
does(struct feed *f, uint32_t core, uint64_t done, int64_t at)
{
	struct feed_ready m = { done, done, UINT64_MAX };
	struct err e;

	assert_int_equal(feed_ready(f, at, core, &m, &e), ST_OK);
}

/* Lets the time come that the machine asks for, and gives the text that is said then. */
static const char *
said(struct feed *f, int64_t *at)
{
	static char text[256];
	struct feed_action a;

	text[0] = 0;
	while (feed_action(f, &a))
		;
	*at = feed_deadline(f);
	feed_tick(f, *at);
	while (feed_action(f, &a))
		if (a.kind == FEED_DO_SLOW)
			memcpy(text, a.text, sizeof text);
	return text;
}

static void
a_core_that_others_wait_for_is_named_with_them(void **state)
{
	struct feed *f = begin(4, false, UINT64_MAX);
	int64_t at;

	(void)state;
	fill(f);
	for (uint32_t i = 0; i < 3; i++) {
		does(f, i, 2, 4 * S); /* none is told of more than prefetch steps beyond what the slowest has done */
		does(f, i, 3, 5 * S);
	}
	assert_string_equal(said(f, &at), "core 3 has been at step 0 for 64 s; 0, 1 and 2 wait for step 3");
	assert_int_equal(at, 65 * S);
	feed_free(&f);

	f = begin(2, false, UINT64_MAX);
	fill(f);
	does(f, 0, 2, S);
	does(f, 0, 3, S);
	assert_string_equal(said(f, &at), "core 1 has been at step 0 for 60 s; 0 waits for step 3");
	feed_free(&f);

	f = begin(8, false, UINT64_MAX);
	fill(f);
	for (uint32_t i = 1; i < 8; i++)
		does(f, i, 2, S), does(f, i, 3, S);
	assert_string_equal(said(f, &at), "core 0 has been at step 0 for 60 s; 1, 2, 3, 4 and 3 others wait for step 3");
	feed_free(&f);
}

static void
a_core_that_stands_still_in_the_last_steps_is_named_and_given_up_on(void **state)
{
	struct feed *f = begin(2, false, 2);
	int64_t at;

	(void)state;
	fill(f);
	does(f, 0, 2, S);
	assert_string_equal(said(f, &at), "core 1 has been at step 0 for 60 s; the other has done all");
	assert_string_equal(said(f, &at), "");
	assert_int_equal(at, 101 * S);
	said(f, &at); /* causes are weighed */
	assert_non_null(feed_cause(f));
	assert_string_equal(feed_cause(f)->err.text, "core 1 has done nothing for 100 s, at step 0 (--core-timeout)");
	assert_int_equal(feed_cause(f)->err.kind, ST_TIMEOUT);
	feed_free(&f);
}

static void
a_core_that_has_done_all_may_take_its_time_to_end_and_is_named(void **state)
{
	struct feed *f = begin(2, false, 2);
	int64_t at;

	(void)state;
	fill(f);
	does(f, 0, 2, S);
	does(f, 1, 2, 3 * S);
	feed_bye(f, 4 * S, 0, 2);
	assert_int_equal(feed_deadline(f), INT64_MAX);
	feed_exited(f, 4 * S, 0, 0);
	assert_string_equal(said(f, &at), "core 1 has not ended, 60 s after the last step; the other has ended");
	assert_int_equal(feed_deadline(f), INT64_MAX);
	feed_free(&f);
}

static void
a_core_of_which_only_reading_is_seen_has_time_until_it_reads_on_and_then_until_it_ends(void **state)
{
	struct feed *f = begin(1, true, 3);
	int64_t at;

	(void)state;
	fill(f);
	does(f, 0, 2, S);
	does(f, 0, 3, S);
	feed_taken(f, S, 0, &(struct feed_taken){ .bytes = 0, .more = true });
	feed_taken(f, 50 * S, 0, &(struct feed_taken){ .bytes = 10, .more = true });
	assert_int_equal(feed_deadline(f), 150 * S);
	feed_taken(f, 120 * S, 0, &(struct feed_taken){ .bytes = 10, .more = true });
	assert_int_equal(feed_deadline(f), 150 * S);
	feed_taken(f, 140 * S, 0, &(struct feed_taken){ .bytes = 30, .more = false });
	assert_int_equal(feed_deadline(f), 240 * S);
	said(f, &at);
	said(f, &at);
	assert_string_equal(feed_cause(f)->err.text, "core 0 has not ended, 100 s after it was given all (--core-timeout)");
	feed_free(&f);

	f = begin(1, true, 3);
	fill(f);
	does(f, 0, 2, S);
	does(f, 0, 3, S);
	feed_taken(f, S, 0, &(struct feed_taken){ .bytes = 0, .more = true });
	said(f, &at);
	said(f, &at);
	assert_string_equal(feed_cause(f)->err.text,
			    "core 0 has read nothing for 100 s, of 3 steps that it was given (--core-timeout)");
	feed_free(&f);
}

/* A blind core that was given three steps, has read `steps` of them and ends with `status`: what is said of it. */
static const char *
ends_having_read(uint64_t steps, bool more, int status)
{
	static char text[256];
	struct feed *f = begin(1, true, 3);

	fill(f);
	does(f, 0, 2, S);
	does(f, 0, 3, S);
	feed_taken(f, S, 0, &(struct feed_taken){ .bytes = 10 * steps + 5 * more, .steps = steps, .more = more });
	feed_exited(f, 2 * S, 0, status);
	feed_tick(f, 3 * S);
	strcpy(text, feed_cause(f) ? feed_cause(f)->err.text : "");
	feed_free(&f);
	return text;
}

static void
a_core_of_which_only_reading_is_seen_ends_at_the_step_that_it_read_last(void **state)
{
	(void)state;
	assert_string_equal(ends_having_read(2, true, 9), "core 0 was killed by signal 9 in step 1 (as far as it has read)");
	assert_string_equal(ends_having_read(0, true, 3 << 8),
			    "core 0 exited with status 3 in step 0 (as far as it has read)");
	assert_string_equal(ends_having_read(1, true, 0),
			    "core 0 ended in step 0 (as far as it has read), while steps were outstanding");
	assert_string_equal(ends_having_read(3, false, 0), "");
}

static void
waiting_for_data_is_said_of_all_once_and_is_nobodys_fault(void **state)
{
	struct feed *f = begin(2, false, UINT64_MAX);
	int64_t at;

	(void)state;
	assert_string_equal(said(f, &at), "all cores wait for data");
	assert_int_equal(at, 61 * S);
	assert_int_equal(feed_deadline(f), INT64_MAX);
	feed_put(f, 70 * S, 2);
	does(f, 0, 1, 71 * S);
	does(f, 1, 1, 72 * S);
	assert_string_equal(said(f, &at), "all cores wait for data");
	assert_int_equal(at, 132 * S);
	assert_null(feed_cause(f));
	feed_free(&f);
}

static void
numbers_have_the_right_plural(void **state)
{
	struct feed_conf c = { .cores = 1, .prefetch = 2, .slots = 4, .rows = 1, .until = UINT64_MAX,
		.wait_cores_ns = S / 10, .grace_ns = S };
	struct feed *f = feed_new(&c, S);

	(void)state;
	feed_tick(f, 2 * S);
	assert_string_equal(feed_cause(f)->err.text, "1 of 1 core did not come within 0.1 s");
	feed_free(&f);
}
