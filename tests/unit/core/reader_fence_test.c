/* SPDX-License-Identifier: MIT
 *
 * A reader that agrees with other consumers on the last round.
 */
#include "reader_kit.h"

#define EACH_TEARDOWN teardown

/* Has places 0 and 1 of three, in one stream; `floor` elements were written before it. */
static void
begin_round(bool stops, uint64_t floor, const struct msg_fence *fence)
{
	struct reader_opts o = { .stops = stops, .job = { .name = (char *)(uintptr_t)"job",
		.consumer = (char *)(uintptr_t)"0-1/3", .order = ORDER_STABLE } };
	struct msg_stream s = { .stream = 0, .gen = 1, .state = STREAM_RUNNING, .worker = WORKER, .floor = floor,
		.endpoint = (char *)(uintptr_t)"ep" };

	begin(o, 0);
	told((struct msg){ .type = MSG_JOB, .req = act(READER_TELL, MSG_OPEN)->msg.req, .job = { .iteration = 7,
		.seat = 3, .dataset = (char *)(uintptr_t)"d", .opts.order = ORDER_STABLE, .opts.shards = 1, .block = 128,
		.places = 3, .fenced = fence, .fence = fence ? fence->rounds : 0 } });
	if (fence)
		assert_int_equal(act(READER_FENCE, 0)->offset, fence->rounds);
	told((struct msg){ .type = MSG_STREAMS, .streams = { .iteration = 7, .version = 1, .all_known = true, .total = 1,
		.list = { &s, 1 } } });
}

static void
fence(uint64_t rounds)
{
	told((struct msg){ .type = MSG_FENCE, .fence = { 7, rounds } });
}

static void
halt(void)
{
	told((struct msg){ .type = MSG_HALT, .halt = { 7, 3 } });
}

static void
rounds_are_counted_from_the_begin_of_the_pass(void **state)
{
	(void)state;
	begin_round(true, 6, NULL);
	assert_int_equal(reader_rounds(r, 0), 3);
	assert_int_equal(reader_rounds(r, 1), 4); /* begun */
	assert_int_equal(reader_rounds(r, 2), 4);
}

static void
a_program_that_sees_to_it_is_asked_once(void **state)
{
	(void)state;
	begin_round(true, 0, NULL);
	chunk(0, 0, 1, 0, 10, 0);
	halt();
	assert_non_null(act(READER_HALT, 0));
	halt();
	assert_null(act(READER_HALT, 0));
	reader_stop_at(r, now += MS, 2, 5);
	collect();
	assert_int_equal(act(READER_TELL, MSG_STOP)->msg.stop.rounds, 2);
	assert_int_equal(act(READER_TELL, MSG_STOP)->msg.stop.multiple, 5);
	reader_stop_at(r, now += MS, 4, 0);
	collect();
	assert_null(act(READER_TELL, MSG_STOP));
	halt(); /* the answer was lost */
	assert_int_equal(act(READER_TELL, MSG_STOP)->msg.stop.rounds, 2);
	told((struct msg){ .type = MSG_FENCE, .fence = { 8, 9 } }); /* another pass has it */
	assert_null(act(READER_FENCE, 0));
	fence(5);
	assert_int_equal(act(READER_FENCE, 0)->offset, 5);
	fence(6);
	assert_null(act(READER_FENCE, 0));
	written(10);
	assert_null(act(READER_TELL, MSG_CLOSE)); /* that is the program's */
}

static void
a_question_is_repeated_until_it_is_answered(void **state)
{
	(void)state;
	begin_round(true, 0, NULL);
	reader_stop_at(r, now += MS, 0, 0);
	collect();
	assert_non_null(act(READER_TELL, MSG_STOP));
	reader_tick(r, now += 3 * SEC);
	collect();
	assert_non_null(act(READER_TELL, MSG_STOP));
	fence(0);
	reader_tick(r, now += 3 * SEC);
	collect();
	assert_null(act(READER_TELL, MSG_STOP));
}

static void
who_is_asked_says_what_multiple_the_end_is_to_be(void **state)
{
	(void)state;
	begin_round(true, 0, NULL);
	chunk(0, 0, 1, 0, 10, 0);
	told((struct msg){ .type = MSG_HALT, .halt = { 7, 3, 6 } });
	assert_non_null(act(READER_HALT, 0));
	reader_stop_at(r, now += MS, 2, 0);
	collect();
	assert_int_equal(act(READER_TELL, MSG_STOP)->msg.stop.multiple, 6);
}

static void
a_reader_that_sees_to_it_delivers_no_more_and_closes(void **state)
{
	(void)state;
	begin_round(false, 4, NULL);
	chunk(0, 0, 1, 4, 3, 0);
	halt();
	assert_null(act(READER_HALT, 0));
	assert_int_equal(act(READER_TELL, MSG_STOP)->msg.stop.rounds, 4); /* two before, and two begun */
	chunk(1, 0, 1, 7, 10, 0);
	assert_null(act(READER_DELIVER, 0));
	fence(5);
	assert_int_equal(act(READER_DELIVER, 0)->count, 3); /* the rest of the fourth, and the fifth */
	written(5);
	assert_null(act(READER_TELL, MSG_CLOSE));
	written(1);
	assert_non_null(act(READER_TELL, MSG_CLOSE));
	told((struct msg){ .type = MSG_CLOSED, .closed = { 7, 3 } });
	assert_int_equal(act(READER_DONE, 0)->code, ST_OK);
}

static void
who_comes_at_the_end_closes_at_once(void **state)
{
	(void)state;
	begin_round(false, 10, &(struct msg_fence){ 7, 5 });
	assert_non_null(act(READER_TELL, MSG_CLOSE));
}
