/* SPDX-License-Identifier: MIT
 *
 * Jobs of rounds at the dispatcher: who is waited for, and where the last elements go.
 */
#include "dispatcher_kit.h"

#define EACH_SETUP setup
#define EACH_TEARDOWN teardown

enum { R3 = 23 };

static struct job_opts opts; /* they are asked for by all of a test */

static void
open_as(uint64_t peer, const char *consumer)
{
	struct job_opts o = opts;

	o.name = text("job");
	o.consumer = text(consumer);
	o.sharding = SHARD_DYNAMIC;
	o.epoch = o.min_workers = 1;
	o.shards = o.shards ? o.shards : 2;
	o.wait_ms = 500;
	say(peer, (struct msg){ .type = MSG_OPEN, .req = 7,
		.open = { .job = o, .spec = text("range"), .type = text("int") } });
}

static void
all_hello(void)
{
	opts = (struct job_opts){ 0 };
	hello(W1, ROLE_WORKER);
	hello(R1, ROLE_READER);
	hello(R2, ROLE_READER);
	hello(R3, ROLE_READER);
}

/* R1 and R2 are the consumers of a pass of two shards; gives its iteration. */
static uint64_t
begin_pair(void)
{
	open_as(R1, "0/2");
	assert_null(got(W1, MSG_LIST));
	open_as(R2, "1/2");
	units(W1, got(W1, MSG_LIST)->req, 1000);
	assert_int_equal(got(R1, MSG_JOB)->job.view, 0);
	assert_int_equal(got(R2, MSG_JOB)->job.view, 1);
	assert_int_equal(got(R2, MSG_JOB)->job.places, 2);
	return got(R2, MSG_JOB)->job.iteration;
}

static const struct msg_error *
refused(uint64_t peer, int code, const char *words)
{
	assert_non_null(got(peer, MSG_ERROR));
	assert_int_equal(got(peer, MSG_ERROR)->error.code, code);
	if (!strstr(got(peer, MSG_ERROR)->error.text, words))
		fail_msg("%s", got(peer, MSG_ERROR)->error.text);
	return &got(peer, MSG_ERROR)->error;
}

/* The worker makes this stream to its end. */
static void
make(uint64_t it, uint32_t stream, uint64_t length)
{
	struct stream_key key = { it, stream, 1 };

	say(W1, (struct msg){ .type = MSG_ASSIGNED, .assigned.key = key });
	say(W1, (struct msg){ .type = MSG_STREAM_END, .stream_end = { .key = key, .length = length, .made = length } });
}

/* The ASSIGN that says where the last elements of a stream go; NULL: none was sent. */
static const struct msg_assign *
told_tail(uint32_t stream)
{
	for (size_t i = 0; i < n_sent; i++)
		if (sent[i].peer == W1 && sent[i].m.type == MSG_ASSIGN && sent[i].m.assign.key.stream == stream &&
		    sent[i].m.assign.tail_known)
			return &sent[i].m.assign;
	return NULL;
}

static void
ack(uint64_t peer, uint64_t it, uint64_t seat, uint64_t seq, uint64_t first, uint64_t second)
{
	struct range a = { 0, first }, b = { 0, second };
	struct msg_stream_ranges l[] = { { 0, { &a, 1 } }, { 1, { &b, 1 } } };

	say(peer, (struct msg){ .type = MSG_ACK, .req = seq, .ack = { it, seat, seq, { l, second ? 2 : 1 } } });
}

static void
a_pass_begins_when_all_places_are_spoken_for(void **state)
{
	(void)state;
	all_hello();
	open_as(R1, "0/4");
	open_as(R2, "2-3/4");
	assert_null(got(W1, MSG_LIST));
	open_as(R3, "1-2/4");
	refused(R3, ST_USAGE, "consumer 1-2/4 wants places that consumer 2-3/4 of job `job` has");
	open_as(R3, "0/4");
	refused(R3, ST_TEMP, "consumer 0/4 of job `job` is there already");
	open_as(R3, "1/4");
	units(W1, got(W1, MSG_LIST)->req, 1000);
	assert_int_equal(got(R1, MSG_JOB)->job.view, 0);
	assert_int_equal(got(R3, MSG_JOB)->job.view, 1);
	assert_int_equal(got(R2, MSG_JOB)->job.view, 2);
	/* a consumer of two places has two elements of each round, and takes so many rounds in turn */
	assert_int_equal(got(R2, MSG_JOB)->job.block, 2 * got(R1, MSG_JOB)->job.block);
}

static void
who_waits_alone_is_told_for_whom(void **state)
{
	(void)state;
	all_hello();
	opts.seat_wait = SEC;
	open_as(R1, "1/12");
	wait_for(900 * MS);
	assert_null(got(R1, MSG_ERROR));
	wait_for(200 * MS);
	refused(R1, ST_TEMP, "no consumer came for place 0, 2, 3, 4, 5, 6, 7, 8, ... of the 12 of job `job`");
	/* Nothing was begun: the next ones may be others. */
	begin_pair();
}

static void
a_pass_that_runs_has_the_consumers_it_began_with(void **state)
{
	uint64_t it;

	(void)state;
	all_hello();
	it = begin_pair();
	open_as(R3, "1/2");
	refused(R3, ST_TEMP, "is there already");
	say(R2, (struct msg){ .type = MSG_CLOSE, .req = 1, .close = { .iteration = it, .seat = 2, .seq = 1, .view = 1 } });
	open_as(R3, "2/3");
	refused(R3, ST_USAGE, "consumers=2");
	open_as(R3, "0-1/2");
	refused(R3, ST_USAGE, "wants places that consumer 0/2");
	open_as(R3, "1/2");
	assert_int_equal(got(R3, MSG_JOB)->job.view, 1);
}

static void
the_last_elements_of_all_streams_make_rounds_together(void **state)
{
	uint64_t it;

	(void)state;
	all_hello();
	it = begin_pair();
	make(it, 0, 5);
	assert_null(told_tail(0));
	assert_int_equal(got(R1, MSG_STREAMS)->streams.list.v[0].own, 2);
	make(it, 1, 7);
	assert_int_equal(told_tail(0)->tail_at, 0);
	assert_int_equal(told_tail(0)->tail_n, 1);
	assert_int_equal(told_tail(1)->tail_at, 1);
	assert_int_equal(told_tail(1)->tail_n, 1);
	ack(R1, it, 1, 1, 3, 3);
	assert_null(got(R1, MSG_DONE));
	ack(R2, it, 2, 1, 2, 4);
	assert_int_equal(got(R1, MSG_DONE)->done.elements, 12);
	assert_int_equal(got(R2, MSG_DONE)->done.dropped, 0);
}

static void
elements_without_a_round_are_dropped_and_counted(void **state)
{
	uint64_t it;

	(void)state;
	all_hello();
	it = begin_pair();
	make(it, 0, 5);
	make(it, 1, 2);
	assert_int_equal(told_tail(0)->tail_n, 0);
	ack(R1, it, 1, 1, 2, 1);
	ack(R2, it, 2, 1, 2, 1);
	assert_int_equal(got(R1, MSG_DONE)->done.dropped, 1);
	assert_int_equal(got(R1, MSG_DONE)->done.code, 0);
}

static void
null_is_added_by_the_last_stream_that_has_something(void **state)
{
	uint64_t it;

	(void)state;
	all_hello();
	opts.tail = TAIL_PAD;
	it = begin_pair();
	make(it, 1, 2);
	make(it, 0, 5);
	assert_int_equal(told_tail(0)->tail_n, 2);
	assert_int_equal(told_tail(1)->tail_n, 0);
}

static void
those_that_are_spread_are_told_how_many_there_are(void **state)
{
	uint64_t it;

	(void)state;
	all_hello();
	opts.tail = TAIL_SPREAD;
	it = begin_pair();
	make(it, 1, 2);
	make(it, 0, 5);
	assert_int_equal(told_tail(0)->tail_n, 2);
	assert_int_equal(told_tail(0)->tail_all, 1);
	assert_true(told_tail(0)->pad);
}

static void
each_stream_can_have_a_last_round_of_its_own(void **state)
{
	uint64_t it;

	(void)state;
	all_hello();
	opts.tail = TAIL_PAD;
	opts.tail_of = TAIL_OF_STREAM;
	it = begin_pair();
	make(it, 1, 3);
	assert_int_equal(told_tail(1)->tail_at, 0);
	assert_int_equal(told_tail(1)->tail_n, 2);
}

static void
a_round_that_is_not_whole_may_be_an_error(void **state)
{
	uint64_t it;

	(void)state;
	all_hello();
	opts.tail = TAIL_FAIL;
	it = begin_pair();
	make(it, 0, 4);
	make(it, 1, 5);
	assert_int_equal(got(R1, MSG_DONE)->done.code, ST_DATA);
	assert_string_equal(got(R2, MSG_DONE)->done.text, "the last round has 1 of 2 elements");
}

/* A pass without one of its consumers, who is not back in time; gives its iteration. */
static uint64_t
wait_in_vain(void)
{
	uint64_t it;

	opts.seat_wait = SEC;
	it = begin_pair();
	say(R2, (struct msg){ .type = MSG_CLOSE, .req = 1, .close = { .iteration = it, .seat = 2, .seq = 1, .view = 1 } });
	for (int i = 0; i < 3; i++) { /* it is not missed while the other one gets on */
		wait_for(900 * MS);
		assert_null(got(R1, MSG_DONE));
		ack(R1, it, 1, (uint64_t)i + 1, (uint64_t)i + 1, 0);
	}
	wait_for(1100 * MS);
	assert_int_equal(got(R1, MSG_DONE)->done.code, ST_TEMP);
	assert_string_equal(got(R1, MSG_DONE)->done.text, "consumer 1/2 is away, and the others wait for it");
	return it;
}

static void
a_consumer_that_stays_away_ends_the_pass_for_all(void **state)
{
	uint64_t it;

	(void)state;
	all_hello();
	it = wait_in_vain();
	/* The name is free: even who still has a seat in what failed keeps it from nobody. */
	open_as(R2, "0/2");
	assert_null(got(R2, MSG_ERROR));
	open_as(R3, "1/2");
	units(W1, got(W1, MSG_LIST)->req, 1000);
	assert_true(got(R3, MSG_JOB)->job.iteration != it);
}

static void
without_a_limit_a_consumer_may_be_away_as_long_as_its_job_is_kept(void **state)
{
	uint64_t it;

	(void)state;
	disp_free(&d);
	d = disp_new(&(struct disp_opts){ .instance = 5, .seed = 3, .spec_id = spec_id, .unfinished_gc_ns = 2 * SEC }, now);
	all_hello();
	opts.seat_wait = INT64_MAX;
	it = begin_pair();
	say(R2, (struct msg){ .type = MSG_CLOSE, .req = 1, .close = { .iteration = it, .seat = 2, .seq = 1, .view = 1 } });
	wait_for(1900 * MS);
	assert_null(got(R1, MSG_DONE));
	wait_for(200 * MS);
	assert_int_equal(got(R1, MSG_DONE)->done.code, ST_TEMP);
	assert_string_equal(got(R1, MSG_DONE)->done.text, "consumer 1/2 is away, and the others wait for it");
	assert_non_null(strstr(got(R1, MSG_DONE)->done.help, "--job-gc-unfinished"));
}

static void
a_position_in_a_pass_that_failed_is_one_in_the_next(void **state)
{
	uint64_t it;

	(void)state;
	all_hello();
	it = wait_in_vain();
	struct range had = { 0, 3 };
	struct msg_stream_ranges have = { 0, { &had, 1 } };
	struct msg m = { .type = MSG_OPEN, .req = 7, .open = { .spec = text("range"), .type = text("int"), .resume = true,
		.iteration = it, .seat = 2, .have = { &have, 1 }, .job = { .name = text("job"), .consumer = text("1/2"),
		.sharding = SHARD_DYNAMIC, .order = ORDER_STABLE, .seeded = true, .seed = 4, .shards = 2, .epoch = 1,
		.min_workers = 1, .seat_wait = SEC } } };

	say(R2, m);
	assert_null(got(R2, MSG_ERROR));
	opts.seeded = true;
	opts.seed = 4;
	open_as(R3, "0/2");
	units(W1, got(W1, MSG_LIST)->req, 1000);
	assert_int_equal(got(R2, MSG_JOB)->job.opts.seed, 4);
	assert_true(got(R2, MSG_JOB)->job.iteration != it);
	/* three are recorded from the position, and now the fourth */
	struct range next = { 3, 4 };
	struct msg_stream_ranges more = { 0, { &next, 1 } };
	const struct msg_job *j = &got(R2, MSG_JOB)->job;

	say(R2, (struct msg){ .type = MSG_ACK, .req = 1, .ack = { j->iteration, j->seat, 1, { &more, 1 } } });
	assert_int_equal(got(R2, MSG_ACKED)->acked.floors.v[0].floor, 4);
}

/* A consumer says that it has begun so many rounds. */
static void
stop(uint64_t peer, uint64_t it, uint64_t seat, uint64_t rounds, uint64_t multiple)
{
	say(peer, (struct msg){ .type = MSG_STOP, .stop = { it, seat, rounds, multiple } });
}

static void
leave(uint64_t peer, uint64_t it, uint64_t seat, uint64_t rounds)
{
	struct range all = { 0, rounds };
	struct msg_stream_ranges l = { 0, { &all, 1 } };

	say(peer, (struct msg){ .type = MSG_CLOSE, .req = 9, .close = { .iteration = it, .seat = seat, .seq = 1,
		.view = (uint32_t)seat - 1, .list = { &l, 1 } } });
	assert_non_null(got(peer, MSG_CLOSED));
}

static void
the_end_is_the_largest_number_that_one_has_begun(void **state)
{
	uint64_t it;

	(void)state;
	all_hello();
	it = begin_pair();
	stop(R1, it, 1, 5, 0);
	assert_null(got(R1, MSG_FENCE));
	assert_int_equal(got(R2, MSG_HALT)->halt.seat, 2);
	wait_for(3 * SEC);
	assert_non_null(got(R2, MSG_HALT)); /* again */
	stop(R2, it, 2, 7, 0);
	assert_int_equal(got(R1, MSG_FENCE)->fence.rounds, 7);
	assert_int_equal(got(R2, MSG_FENCE)->fence.rounds, 7);
	stop(R1, it, 1, 5, 0); /* it has not heard */
	assert_int_equal(got(R1, MSG_FENCE)->fence.rounds, 7);
}

static void
the_end_is_a_multiple_of_what_one_asks_for(void **state)
{
	uint64_t it;

	(void)state;
	all_hello();
	it = begin_pair();
	stop(R1, it, 1, 5, 4);
	assert_int_equal(got(R2, MSG_HALT)->halt.multiple, 4); /* it says so again if R1 is no longer there */
	stop(R2, it, 2, 5, 0);
	assert_int_equal(got(R2, MSG_FENCE)->fence.rounds, 8);
}

static void
a_consumer_that_is_away_is_waited_for(void **state)
{
	uint64_t it;

	(void)state;
	all_hello();
	it = begin_pair();
	stop(R1, it, 1, 5, 0);
	leave(R2, it, 2, 6);
	assert_null(got(R1, MSG_FENCE));
	open_as(R3, "1/2");
	assert_non_null(got(R3, MSG_HALT));
	stop(R3, it, 3, 0, 0); /* its place has had more */
	assert_int_equal(got(R1, MSG_FENCE)->fence.rounds, 6);
}

static void
when_all_have_left_at_the_end_the_pass_can_go_on(void **state)
{
	uint64_t it;

	(void)state;
	all_hello();
	it = begin_pair();
	stop(R1, it, 1, 2, 0);
	stop(R2, it, 2, 3, 0);
	leave(R1, it, 1, 3);
	open_as(R3, "0/2"); /* started again, too early */
	assert_true(got(R3, MSG_JOB)->job.fenced);
	assert_int_equal(got(R3, MSG_JOB)->job.fence, 3);
	say(R3, (struct msg){ .type = MSG_CLOSE, .req = 1, .close = { .iteration = it, .seat = 3, .seq = 1 } });
	leave(R2, it, 2, 3);
	open_as(R1, "0/2");
	assert_false(got(R1, MSG_JOB)->job.fenced);
}

/* Comes with a position that counts rounds, one number for each of the two streams. */
static void
open_behind(const char *consumer, uint64_t first, uint64_t second)
{
	struct range a = { 0, first }, b = { 0, second };
	struct msg_stream_ranges have[] = { { 0, { &a, 1 } }, { 1, { &b, 1 } } };

	say(R3, (struct msg){ .type = MSG_OPEN, .req = 7, .open = { .spec = text("range"), .type = text("int"),
		.have = { have, 2 }, .job = { .name = text("job"), .consumer = text(consumer),
		.sharding = SHARD_DYNAMIC, .shards = 2, .epoch = 1, .min_workers = 1 } } });
}

/* It was killed when it had all, and its last position lacks some: a short answer without an error would be a loss. */
static void
a_position_behind_the_end_of_its_pass_is_refused(void **state)
{
	uint64_t it;

	(void)state;
	all_hello();
	it = begin_pair();
	make(it, 0, 4);
	make(it, 1, 6);
	ack(R1, it, 1, 1, 2, 3);
	ack(R2, it, 2, 1, 2, 3);
	assert_int_equal(got(R2, MSG_DONE)->done.code, 0);
	open_behind("1/2", 2, 1);
	refused(R3, ST_DATA, "consumers of job `job` have gone on from this position");
	forget();
	open_behind("1/2", 2, 3);
	assert_null(got(R3, MSG_ERROR));
	assert_int_equal(got(R3, MSG_DONE)->done.code, 0);
}

/* No position misses what did not fill a round. */
static void
a_position_with_all_rounds_is_at_the_end(void **state)
{
	uint64_t it;

	(void)state;
	all_hello();
	open_as(R1, "0-1/2");
	units(W1, got(W1, MSG_LIST)->req, 1000);
	it = got(R1, MSG_JOB)->job.iteration;
	make(it, 0, 4);
	make(it, 1, 5);
	ack(R1, it, 1, 1, 4, 4);
	assert_int_equal(got(R1, MSG_DONE)->done.code, 0);
	open_behind("0-1/2", 4, 3);
	refused(R3, ST_DATA, "have gone on from this position");
	forget();
	open_behind("0-1/2", 4, 4);
	assert_null(got(R3, MSG_ERROR));
	assert_int_equal(got(R3, MSG_DONE)->done.code, 0);
}
