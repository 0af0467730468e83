/* SPDX-License-Identifier: MIT
 *
 * What a reader tells with its beats.
 */
#include "reader_kit.h"

#define EACH_TEARDOWN teardown

enum { FAR = 40 };

/* One stream on this host and many on others, told one by one: the outbox stays small. */
static void
one_near_and_many_far(void)
{
	for (uint32_t i = 0; i <= FAR; i++) {
		struct msg_stream s = { .stream = i, .gen = 1, .state = STREAM_RUNNING, .worker = WORKER + i,
			.endpoint = (char *)(uintptr_t)"ep", .local = !i };

		told((struct msg){ .type = MSG_STREAMS, .streams = { .iteration = 7, .since = i, .version = i + 1,
			.all_known = true, .total = FAR + 1, .list = { &s, 1 } } });
	}
}

/* Streams that have more credit than for one chunk. */
static size_t
credited(void)
{
	size_t n = 0;

	for (size_t i = 0; i < n_acts; i++)
		n += acts[i].kind == READER_SEND && acts[i].msg.type == MSG_CREDIT && acts[i].msg.credit.total > 1;
	return n;
}

/* With a beat a reader sees that it has waited, and gives credit to all that are far: the
 * outbox grows, and perhaps moves, while the beat is told. */
static void
a_beat_that_causes_much_credit_tells_its_clocks(void **state)
{
	(void)state;
	begin((struct reader_opts){ .budget = 1 << 30 }, FAR + 1);
	one_near_and_many_far();
	chunk(0, 0, 1, 0, 5, 0);
	written(5); /* so that a stream may have credit for two */
	for (unsigned i = 0; i < 3 && credited() < FAR; i++) {
		reader_tick(r, now += SEC);
		collect();
	}
	assert_true(credited() >= FAR);
	const struct msg_beat *b = &act(READER_TELL, MSG_BEAT)->msg.beat;
	assert_int_equal(b->streams, FAR + 1);
	assert_int_equal(b->clocks.n, 1);
	assert_int_equal(b->clocks.v[0].iteration, 7);
	assert_true(b->clocks.v[0].wait_ns >= SEC);
}

/* A dispatcher that was started again counts its STREAMS anew. If the first one is lost on the way, the beat must
 * not say a number of the dispatcher before. */
static void
a_beat_says_what_was_heard_since_the_last_job(void **state)
{
	struct msg job = { .type = MSG_JOB };

	(void)state;
	begin((struct reader_opts){ .budget = 1 << 20 }, 1);
	streams(1, 9, STREAM_RUNNING, 0);
	reader_tick(r, now += SEC);
	collect();
	assert_int_equal(act(READER_TELL, MSG_BEAT)->msg.beat.streams, 9);
	told((struct msg){ .type = MSG_WELCOME, .welcome = { WIRE_VERSION, 5, false, 1000, 5000 } });
	job.req = act(READER_TELL, MSG_OPEN)->msg.req;
	job.job = (struct msg_job){ .iteration = 7, .seat = 3, .dataset = (char *)(uintptr_t)"d", .opts.shards = 1,
		.block = 2 };
	told(job);
	reader_tick(r, now += SEC);
	collect();
	assert_int_equal(act(READER_TELL, MSG_BEAT)->msg.beat.streams, 0);
}
