/* SPDX-License-Identifier: MIT
 *
 * A consumer of rounds that acknowledges behind its positions.
 */
#include "reader_kit.h"

#define EACH_TEARDOWN teardown

static struct buf position;

/* Has places 0 and 1 of four, in one stream, with blocks of two rounds. */
static void
begin_lag(const struct buf *from)
{
	struct reader_opts o = { .in_rounds = true, .lag = true, .job = { .name = (char *)(uintptr_t)"job",
		.consumer = (char *)(uintptr_t)"0-1/4", .order = ORDER_STABLE } };
	struct msg_stream s = { .stream = 0, .gen = 1, .state = STREAM_RUNNING, .worker = WORKER,
		.endpoint = (char *)(uintptr_t)"ep" };

	if (from) {
		o.position = from->data;
		o.position_len = from->len;
	}
	begin(o, 0);
	told((struct msg){ .type = MSG_JOB, .req = act(READER_TELL, MSG_OPEN)->msg.req, .job = { .iteration = 7,
		.seat = 3, .dataset = (char *)(uintptr_t)"d", .opts.order = ORDER_STABLE, .opts.shards = 1, .block = 2,
		.places = 4 } });
	told((struct msg){ .type = MSG_STREAMS, .streams = { .iteration = 7, .version = 1, .all_known = true, .total = 1,
		.list = { &s, 1 } } });
}

static uint64_t
place(uint64_t n)
{
	buf_reset(&position);
	return reader_position_at(r, n, &position);
}

/* The end of what is acknowledged; 0: nothing. It is answered, since there is one at a time. */
static uint64_t
acked(void)
{
	struct reader_action *a;
	uint64_t end;

	collect();
	a = act(READER_TELL, MSG_ACK);
	if (!a) {
		reader_tick(r, now += 60 * MS);
		collect();
		a = act(READER_TELL, MSG_ACK);
	}
	if (!a)
		return 0;
	end = a->msg.ack.list.v[0].ranges.v[0].end;
	told((struct msg){ .type = MSG_ACKED, .acked = { .iteration = 7, .seat = 3, .seq = a->msg.ack.seq } });
	return end;
}

static uint64_t
saved(void)
{
	reader_saved(r, now);
	return acked();
}

static int
done(void **state)
{
	buf_clear(&position);
	return teardown(state);
}
#undef EACH_TEARDOWN
#define EACH_TEARDOWN done

static void
what_is_written_waits_for_a_position(void **state)
{
	(void)state;
	begin_lag(NULL);
	chunk(0, 0, 1, 0, 20, 0);
	reader_written(r, now, 10);
	collect();
	assert_int_equal(acked(), 0);
	assert_int_equal(place(6), 6);
	assert_int_equal(acked(), 0); /* nor is it safe */
	assert_int_equal(saved(), 6);
	assert_int_equal(place(10), 10);
	assert_int_equal(saved(), 10);
}

static void
there_is_none_within_a_round(void **state)
{
	(void)state;
	begin_lag(NULL);
	chunk(0, 0, 1, 0, 20, 0);
	written(9);
	assert_int_equal(place(9), 8); /* the begin of the block in which it lies */
	assert_int_equal(saved(), 8);
	assert_int_equal(place(3), 8); /* never one that is behind */
}

static void
a_position_in_the_midst_is_what_it_was_then(void **state)
{
	struct buf early = { 0 };

	(void)state;
	begin_lag(NULL);
	chunk(0, 0, 1, 0, 20, 0);
	written(6);
	place(6);
	buf_put(&early, position.data, position.len);
	teardown(NULL);
	begin_lag(NULL);
	chunk(0, 0, 1, 0, 20, 0);
	written(20);
	assert_int_equal(place(6), 6);
	assert_int_equal(position.len, early.len);
	assert_memory_equal(position.data, early.data, early.len);
	teardown(NULL);
	begin_lag(&early); /* a reader with that position gets what follows */
	chunk(0, 0, 1, 0, 20, 0);
	assert_int_equal(act(READER_DELIVER, 0)->first, 6);
	buf_clear(&early);
}

static void
all_that_is_written_can_be_let_go(void **state)
{
	(void)state;
	begin_lag(NULL);
	chunk(0, 0, 1, 0, 20, 0);
	written(9);
	reader_release(r, now);
	assert_int_equal(acked(), 9);
}
