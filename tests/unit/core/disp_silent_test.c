/* SPDX-License-Identifier: MIT
 *
 * A reader that was only silent, and was to end before it could ask for its seat again.
 */
#include "core/disp/disp_inner.h"
#include "dispatcher_kit.h"

#define EACH_SETUP setup
#define EACH_TEARDOWN teardown

static uint64_t
silent(const char *job)
{
	uint64_t it = begin(job, 1000);

	wait_for(20 * SEC);
	assert_null(disp_peer(d, R1));
	return it;
}

static void
says(enum msg_type t, uint64_t iteration, uint64_t seq, uint64_t end)
{
	struct range r = { 0, end };
	struct msg_stream_ranges of = { .stream = 0, .ranges = { &r, 1 } };
	struct ranges_list list = { &of, 1 };
	struct msg m = { .type = t, .req = 9 };

	if (t == MSG_ACK)
		m.ack = (struct msg_ack){ .iteration = iteration, .seat = 1, .seq = seq, .list = list };
	else
		m.close = (struct msg_close){ .iteration = iteration, .seat = 1, .seq = seq, .list = list };
	say(R1, m);
}

static void
it_may_say_that_it_ends(void **state)
{
	(void)state;
	for (int named = 0; named < 2; named++) {
		uint64_t it = silent(named ? "job" : "");

		hello(R1, ROLE_READER);
		says(MSG_CLOSE, it, 1, 10);
		assert_null(got(R1, MSG_GONE));
		assert_int_equal(got(R1, MSG_CLOSED)->closed.iteration, it);
		says(MSG_CLOSE, it, 1, 10); /* the answer was lost */
		assert_non_null(got(R1, MSG_CLOSED));
		teardown(state);
		setup(state);
	}
}

static void
its_last_ack_may_come_first(void **state)
{
	(void)state;
	uint64_t it = silent("job");

	hello(R1, ROLE_READER);
	says(MSG_CLOSE, it, 2, 20);
	assert_null(got(R1, MSG_CLOSED)); /* the one before is missing */
	says(MSG_ACK, it, 1, 10);
	assert_int_equal(got(R1, MSG_ACKED)->acked.seq, 1);
	says(MSG_CLOSE, it, 2, 20);
	assert_non_null(got(R1, MSG_CLOSED));
}

static void
nobody_else_may(void **state)
{
	(void)state;
	uint64_t it = silent("job");

	hello(R2, ROLE_READER);
	say(R2, (struct msg){ .type = MSG_ACK, .req = 9, .ack = { .iteration = it, .seat = 1, .seq = 1 } });
	assert_non_null(got(R2, MSG_GONE));
}
