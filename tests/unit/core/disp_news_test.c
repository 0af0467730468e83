/* SPDX-License-Identifier: MIT
 *
 * When readers are told where streams are: a few at once, many not for each change by itself.
 */
#include "dispatcher_kit.h"

#define EACH_SETUP setup
#define EACH_TEARDOWN teardown

enum { MANY = 40, FIRST = 100 };

static void
running(uint64_t iteration, uint32_t stream)
{
	say(W1, (struct msg){ .type = MSG_ASSIGNED, .assigned.key = { iteration, stream, 1 } });
}

static size_t
n_streams(void)
{
	size_t n = 0;

	for (size_t i = 0; i < n_sent; i++)
		n += sent[i].m.type == MSG_STREAMS && sent[i].m.streams.list.n == 1;
	return n;
}

static void
one_reader_hears_of_each_change_at_once(void **state)
{
	uint64_t it = begin("job", 100000);

	(void)state;
	wait_for(300 * MS); /* it is worth a stream on every slot */
	running(it, 0);
	assert_int_equal(n_streams(), 1);
	running(it, 1);
	assert_int_equal(n_streams(), 1);
}

static void
many_readers_hear_of_the_first_change_at_once_and_of_more_together(void **state)
{
	uint64_t it = begin("job", 100000);

	(void)state;
	wait_for(300 * MS);
	for (uint64_t i = 0; i < MANY; i++) {
		hello(FIRST + i, ROLE_READER);
		open_job(FIRST + i, "job", "range", 1);
		assert_non_null(got(FIRST + i, MSG_STREAMS)); /* its first do not wait */
	}
	wait_for(100 * MS);
	running(it, 0);
	assert_int_equal(n_streams(), MANY + 1);
	running(it, 1);
	assert_int_equal(n_streams(), 0);
	assert_true(disp_next_deadline(d) <= now + 5 * MS);
	wait_for(5 * MS);
	assert_int_equal(n_streams(), MANY + 1);
	wait_for(100 * MS);
	assert_int_equal(n_streams(), 0);
}
