/* SPDX-License-Identifier: MIT
 *
 * When a consumer of rounds acknowledges.
 */
#include "reader_kit.h"

#define EACH_TEARDOWN teardown

enum { KIB = 1024 };

/* Has one place of `places`, in one stream. */
static void
begin_round(uint32_t places)
{
	struct reader_opts o = { .job = { .name = (char *)(uintptr_t)"job",
		.consumer = (char *)(uintptr_t)"0/9", .order = ORDER_STABLE } };
	struct msg_stream s = { .stream = 0, .gen = 1, .state = STREAM_RUNNING, .worker = WORKER,
		.endpoint = (char *)(uintptr_t)"ep" };

	begin(o, 0);
	told((struct msg){ .type = MSG_JOB, .req = act(READER_TELL, MSG_OPEN)->msg.req, .job = { .iteration = 7,
		.seat = 3, .dataset = (char *)(uintptr_t)"d", .opts.order = ORDER_STABLE, .opts.shards = 1, .block = 1,
		.places = places } });
	told((struct msg){ .type = MSG_STREAMS, .streams = { .iteration = 7, .version = 1, .all_known = true, .total = 1,
		.list = { &s, 1 } } });
}

/* Elements [from, from + n), each a chunk of so many bytes. */
static void
come(int from, int n, size_t bytes)
{
	for (int i = from; i < from + n; i++) {
		struct msg_chunk c = { .key = { 7, 0, 1 }, .seat = 3, .session = 1, .offset = (uint64_t)i, .count = 1 };

		reader_chunk(r, now, WORKER, &c, &names[i], bytes);
		collect();
	}
}

/* One more element is written; whether an ACK is sent. */
static bool
acks(void)
{
	reader_written(r, now, 1);
	collect();
	return act(READER_TELL, MSG_ACK) != NULL;
}

static void
who_has_nothing_more_to_write_does_not_wait(void **state)
{
	(void)state;
	begin_round(4);
	come(0, 1, 256 * KIB);
	assert_true(acks());
}

static void
who_has_more_acknowledges_a_part_of_what_all_may_hold(void **state)
{
	(void)state;
	begin_round(8); /* 8 MiB of all of them */
	come(0, 8, 256 * KIB);
	for (int i = 0; i < 3; i++)
		assert_false(acks());
	assert_true(acks());
}

static void
one_of_many_acknowledges_each_chunk(void **state)
{
	(void)state;
	begin_round(1000);
	come(0, 4, 200 * KIB);
	assert_false(acks());
	assert_true(acks());
}

static void
time_ends_the_wait(void **state)
{
	(void)state;
	begin_round(4);
	come(0, 4, 256 * KIB);
	assert_false(acks());
	reader_tick(r, now += 50 * MS);
	collect();
	assert_non_null(act(READER_TELL, MSG_ACK));
}
