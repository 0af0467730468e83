/* SPDX-License-Identifier: MIT
 *
 * A consumer of rounds that goes on where the one before it was.
 */
#include "reader_kit.h"

#define EACH_TEARDOWN teardown

/* HOLD says that there is a generation, not what was written of it: until STREAMS has told that of each stream,
 * nobody knows where in the sequence to begin. */
static void
a_stream_that_is_to_be_held_is_not_yet_known(void **state)
{
	struct reader_opts o = { .job = { .name = (char *)(uintptr_t)"job", .consumer = (char *)(uintptr_t)"0/3",
		.order = ORDER_STABLE } };
	struct msg_stream v[2];

	(void)state;
	begin(o, 0);
	told((struct msg){ .type = MSG_JOB, .req = act(READER_TELL, MSG_OPEN)->msg.req, .job = { .iteration = 7,
		.seat = 3, .dataset = (char *)(uintptr_t)"d", .opts.order = ORDER_STABLE, .opts.shards = 2, .block = 2,
		.places = 3 } });
	for (uint32_t i = 0; i < 2; i++)
		told((struct msg){ .type = MSG_HOLD, .hold.key = { 7, i, 2 } });
	for (uint32_t i = 0; i < 2; i++)
		v[i] = (struct msg_stream){ .stream = i, .gen = 2, .state = STREAM_RUNNING, .worker = WORKER, .floor = 2 - i,
			.endpoint = (char *)(uintptr_t)"ep" };
	told((struct msg){ .type = MSG_STREAMS, .streams = { .iteration = 7, .version = 1, .all_known = true, .total = 2,
		.list = { v, 2 } } });
	chunk(0, 0, 2, 2, 4, 0);
	assert_null(act(READER_DELIVER, 0)); /* two of stream 0 and one of stream 1 are written */
	chunk(1, 1, 2, 1, 4, 0);
	assert_int_equal(act(READER_DELIVER, 0)->stream, 1);
	assert_int_equal(act(READER_DELIVER, 0)->count, 1);
}

static void
two_streams(uint64_t floor)
{
	struct msg_stream v[2];

	for (uint32_t i = 0; i < 2; i++)
		v[i] = (struct msg_stream){ .stream = i, .gen = 1, .state = STREAM_RUNNING, .worker = WORKER, .floor = floor,
			.endpoint = (char *)(uintptr_t)"ep" };
	told((struct msg){ .type = MSG_STREAMS, .streams = { .iteration = 7, .version = 1, .all_known = true, .total = 2,
		.list = { v, 2 } } });
}

/* Its position is in the midst of stream 1; the other groups have gone past that meanwhile, to the same turn in
 * all streams. */
static void
a_group_that_was_away_goes_on_where_the_turn_begins(void **state)
{
	struct reader_opts o = { .job = { .group = (char *)(uintptr_t)"b", .share = SHARE_LOSSLESS,
		.order = ORDER_STABLE, .checkpoint = true } };
	struct buf b = { 0 };

	(void)state;
	begin(o, 2);
	two_streams(0);
	chunk(0, 0, 1, 0, 2, 0);
	chunk(1, 1, 1, 0, 2, 0);
	written(3);
	reader_position(r, &b);
	teardown(NULL);
	o.position = b.data;
	o.position_len = b.len;
	begin(o, 2);
	two_streams(8);
	chunk(1, 1, 1, 8, 2, 0);
	assert_null(act(READER_DELIVER, 0));
	chunk(0, 0, 1, 8, 2, 0);
	assert_int_equal(act(READER_DELIVER, 0)->stream, 0);
	assert_int_equal(act(READER_DELIVER, 0)->count, 2);
	buf_clear(&b);
}
