/* SPDX-License-Identifier: MIT
 *
 * Jobs that are shared by groups at the dispatcher: groups that come, go, and come again.
 */
#include "durable_kit.h"

#include "value/mp.h"

#define EACH_SETUP setup
#define EACH_TEARDOWN teardown

enum { R3 = 23, LENGTH = 100 };

static void
open_as(uint64_t peer, const char *group)
{
	struct job_opts o = { .name = text("job"), .group = text(group), .share = SHARE_LOSSLESS, .sharding = SHARD_DYNAMIC,
		.epoch = 1, .min_workers = 1, .wait_ms = 500 };

	say(peer, (struct msg){ .type = MSG_OPEN, .req = 7,
		.open = { .job = o, .spec = text("range"), .type = text("int") } });
}

/* The worker makes this generation of a stream to its end. */
static void
make(struct stream_key key, uint64_t made)
{
	say(W1, (struct msg){ .type = MSG_ASSIGNED, .assigned.key = key });
	say(W1, (struct msg){ .type = MSG_STREAM_END, .stream_end = { .key = key, .length = LENGTH, .made = made } });
}

/* R1 of group a and R2 of group b read two streams, which the worker has made. */
static uint64_t
begin_two(void)
{
	uint64_t it, req;

	hello(W1, ROLE_WORKER);
	hello(R1, ROLE_READER);
	hello(R2, ROLE_READER);
	hello(R3, ROLE_READER);
	open_as(R1, "a");
	req = got(W1, MSG_LIST)->req;
	open_as(R2, "b");
	units(W1, req, 1000000);
	it = got(R1, MSG_JOB)->job.iteration;
	assert_int_equal(got(R1, MSG_JOB)->job.view, 0);
	assert_int_equal(got(R2, MSG_JOB)->job.view, 1);
	for (uint32_t i = 0; i < 2; i++)
		make((struct stream_key){ it, i, 1 }, LENGTH);
	return it;
}

static void
ack(uint64_t peer, uint64_t it, uint64_t seat, uint64_t seq, uint64_t first, uint64_t second)
{
	struct range a = { 0, first }, b = { 0, second };
	struct msg_stream_ranges l[] = { { 0, { &a, 1 } }, { 1, { &b, 1 } } };

	say(peer, (struct msg){ .type = MSG_ACK, .req = seq, .ack = { it, seat, seq, { l, 2 } } });
}

static void
leave(uint64_t peer, uint64_t it, uint64_t seat, uint32_t view)
{
	say(peer, (struct msg){ .type = MSG_CLOSE, .req = 1,
		.close = { .iteration = it, .seat = seat, .seq = 2, .view = view } });
}

static void
holds_nothing(uint64_t peer, uint64_t seat, struct stream_key key)
{
	say(peer, (struct msg){ .type = MSG_HELD, .req = 2, .held = { .key = key, .seat = seat } });
}

/* The last word to the peer on the stream; NULL: nothing since the last message. */
static const struct msg_stream *
told(uint64_t peer, uint32_t stream)
{
	const struct msg_stream *last = NULL;

	for (size_t i = 0; i < n_sent; i++)
		for (size_t k = 0; sent[i].peer == peer && sent[i].m.type == MSG_STREAMS && k < sent[i].m.streams.list.n; k++)
			if (sent[i].m.streams.list.v[k].stream == stream)
				last = &sent[i].m.streams.list.v[k];
	return last;
}

static uint64_t
audit(const char *key)
{
	struct buf b = { 0 };
	size_t n = strlen(key);
	uint64_t sum = UINT64_MAX;

	assert_true(disp_status(d, now, REPORT_AUDIT, "", &b));
	for (size_t i = 0; i + n + 1 < b.len; i++) {
		struct mp h;

		if (b.data[i] == (0xa0 | n) && !memcmp(b.data + i + 1, key, n) &&
		    mp_head(b.data + i + 1 + n, b.data + b.len, &h))
			sum = h.u;
	}
	buf_clear(&b);
	return sum;
}

/* Group a has all of stream 0 and comes again, for the rest of stream 1; then b ends while
 * both streams are between two generations. */
static void
what_a_group_has_that_comes_again_is_over_when_the_others_have_left(void **state)
{
	uint64_t it = begin_two();

	(void)state;
	ack(R1, it, 1, 1, LENGTH, 10);
	ack(R2, it, 2, 1, 38, 38);
	leave(R1, it, 1, 0);
	open_as(R3, "a");
	assert_int_equal(got(R3, MSG_JOB)->job.view, 0);
	assert_non_null(got(R3, MSG_HOLD));
	holds_nothing(R2, 2, (struct stream_key){ it, 0, 2 });
	leave(R2, it, 2, 1);
	assert_int_equal(told(R3, 0)->state, STREAM_FINISHED);
	holds_nothing(R3, 3, (struct stream_key){ it, 1, 2 });
	assert_int_equal(got(W1, MSG_ASSIGN)->assign.key.stream, 1);
	make((struct stream_key){ it, 1, 2 }, LENGTH);
	ack(R3, it, 3, 1, LENGTH, LENGTH);
	assert_int_equal(got(R3, MSG_DONE)->done.missed, 0);
	assert_int_equal(audit("suppressed"), 10);
}

/* Stream 1 ends while b is away and lacks some of it; of stream 0 it has all. */
static void
what_ended_while_a_group_was_away_is_missed(void **state)
{
	uint64_t it = begin_two();

	(void)state;
	ack(R2, it, 2, 1, LENGTH, 90);
	leave(R2, it, 2, 1);
	ack(R1, it, 1, 1, 38, LENGTH);
	open_as(R3, "b");
	assert_int_equal(got(R3, MSG_DONE)->done.missed, LENGTH - 90);
	ack(R1, it, 1, 2, LENGTH, LENGTH);
	assert_non_null(got(R1, MSG_DONE));
	assert_int_equal(audit("missed"), LENGTH - 90); /* the last group is b */
	assert_int_equal(audit("lost"), 0);
}

static void
answer(uint64_t it, uint32_t stream, bool can, uint64_t begin)
{
	say(W1, (struct msg){ .type = MSG_VIEW_OK, .view_ok = { { it, stream, 1 }, 2, can, begin } });
}

static void
a_late_group_begins_where_the_worker_says(void **state)
{
	uint64_t it = begin_two();

	(void)state;
	ack(R1, it, 1, 1, 60, 60);
	open_as(R3, "c");
	assert_null(got(R1, MSG_HOLD)); /* nobody else notices */
	assert_int_equal(got(W1, MSG_VIEW)->view_add.view, 2);
	assert_int_equal(got(W1, MSG_VIEW)->view_add.first, 0);
	assert_true(got(W1, MSG_VIEW)->view_add.later);
	assert_int_equal(told(R3, 0)->worker, 0);
	wait_for(3 * SEC);
	assert_non_null(got(W1, MSG_VIEW)); /* again */
	answer(it, 0, true, 30);
	assert_int_equal(told(R3, 0)->state, STREAM_ENDED);
	assert_int_equal(told(R3, 0)->worker, W1);
	assert_int_equal(told(R3, 0)->floor, 30);
	assert_int_equal(told(R3, 0)->missed, 30);
	answer(it, 0, true, 70); /* said again */
	answer(it, 1, true, LENGTH);
	ack(R1, it, 1, 2, LENGTH, LENGTH);
	ack(R2, it, 2, 1, LENGTH, LENGTH);
	say(R3, (struct msg){ .type = MSG_ACK, .req = 1, .ack = { it, 3, 1,
		{ &(struct msg_stream_ranges){ 0, { &(struct range){ 30, LENGTH }, 1 } }, 1 } } });
	assert_int_equal(got(R3, MSG_DONE)->done.missed, 130);
	assert_int_equal(audit("made"), 2 * LENGTH);
}

static void
when_the_worker_cannot_the_stream_is_made_again(void **state)
{
	uint64_t it = begin_two();

	(void)state;
	ack(R1, it, 1, 1, 60, 60);
	ack(R2, it, 2, 1, 38, 20);
	open_as(R3, "c");
	for (uint32_t i = 0; i < 2; i++) {
		struct stream_key key = { it, i, 2 };

		answer(it, i, false, 0);
		assert_int_equal(got(R3, MSG_HOLD)->hold.key.stream, i);
		holds_nothing(R1, 1, key);
		holds_nothing(R2, 2, key);
		holds_nothing(R3, 3, key);
		assert_int_equal(got(W1, MSG_ASSIGN)->assign.views.n, 3);
		make(key, LENGTH);
		assert_int_equal(told(R3, i)->worker, W1);
	}
	assert_int_equal(audit("suppressed"), 0); /* the new one gets all that is made */
}

static void
a_group_that_ends_before_the_answer_keeps_nothing(void **state)
{
	uint64_t it = begin_two();

	(void)state;
	open_as(R3, "c");
	say(R3, (struct msg){ .type = MSG_CLOSE, .req = 1, .close = { .iteration = it, .seat = 3, .seq = 1, .view = 2 } });
	assert_int_equal(got(W1, MSG_READER_GONE)->reader_gone.view, 2);
	assert_true(got(W1, MSG_READER_GONE)->reader_gone.ended);
	answer(it, 0, true, 30);
	ack(R1, it, 1, 1, LENGTH, LENGTH);
	ack(R2, it, 2, 1, LENGTH, LENGTH);
	assert_non_null(got(R2, MSG_DONE));
}

/* Stream 0 is finished without b, which misses the rest of it once. */
static void
what_a_group_missed_that_comes_twice_is_counted_once(void **state)
{
	uint64_t it = begin_two();

	(void)state;
	ack(R2, it, 2, 1, 38, 38);
	leave(R2, it, 2, 1);
	ack(R1, it, 1, 1, LENGTH, 50);
	open_as(R3, "b");
	assert_int_equal(got(R3, MSG_JOB)->job.view, 1);
	assert_int_equal(audit("missed"), LENGTH - 38);
	say(R3, (struct msg){ .type = MSG_CLOSE, .req = 1, .close = { .iteration = it, .seat = 3, .seq = 1, .view = 1 } });
	hello(R2, ROLE_READER);
	open_as(R2, "b");
	assert_int_equal(audit("missed"), LENGTH - 38);
	assert_int_equal(audit("repeated"), 0);
}

/* Its group came late and was told to have all before a turn that this stream does not reach. */
static void
what_lies_behind_the_end_counts_for_nothing(void **state)
{
	uint64_t it = begin_two();

	(void)state;
	ack(R1, it, 1, 1, LENGTH, LENGTH);
	ack(R2, it, 2, 1, LENGTH + 2, LENGTH);
	assert_int_equal(got(R2, MSG_DONE)->done.elements, 2 * LENGTH);
	assert_int_equal(got(R2, MSG_DONE)->done.missed, 0);
}

static void
open_next(uint64_t peer, const char *group)
{
	struct job_opts o = { .name = text("job"), .group = text(group), .share = SHARE_LOSSLESS, .sharding = SHARD_DYNAMIC,
		.epoch = 2, .min_workers = 1, .wait_ms = 500 };

	hello(peer, ROLE_READER);
	say(peer, (struct msg){ .type = MSG_OPEN, .req = 8,
		.open = { .job = o, .spec = text("range"), .type = text("int") } });
}

/* The one that has all of the first pass has left, and b is in the second one before it comes there. */
static void
a_group_on_its_way_to_the_next_pass_misses_nothing_of_it(void **state)
{
	uint64_t it = begin_two();

	(void)state;
	ack(R1, it, 1, 1, LENGTH, LENGTH);
	assert_non_null(got(R1, MSG_DONE));
	leave(R1, it, 1, 0);
	assert_non_null(got(R1, MSG_CLOSED));
	ack(R2, it, 2, 1, LENGTH, LENGTH);
	leave(R2, it, 2, 1);
	open_next(R2, "b");
	units(W1, got(W1, MSG_LIST)->req, 1000000);
	assert_int_equal(got(R2, MSG_JOB)->job.view, 1); /* the first one is for a */
	open_next(R1, "a");
	assert_int_equal(got(R1, MSG_JOB)->job.view, 0);
	assert_int_equal(audit("missed"), 0);
}

/* The views that the worker was told to have ended. */
static unsigned
told_ended(void)
{
	unsigned views = 0;

	for (size_t i = 0; i < n_sent; i++)
		if (sent[i].peer == W1 && sent[i].m.type == MSG_READER_GONE && sent[i].m.reader_gone.ended)
			views |= 1u << sent[i].m.reader_gone.view;
	return views;
}

/* W1 and R1 live for so many seconds; the views that have ended meanwhile. */
static unsigned
live(int seconds)
{
	unsigned ended = 0;

	while (seconds--) {
		say(W1, (struct msg){ .type = MSG_BEAT });
		ended |= told_ended();
		say(R1, (struct msg){ .type = MSG_BEAT });
		ended |= told_ended();
		wait_for(SEC);
		ended |= told_ended();
	}
	return ended;
}

static void
groups_that_never_come_back_after_a_restart_keep_nothing(void **state)
{
	uint64_t it;

	(void)state;
	setup_durable();
	it = begin_two();
	open_as(R3, "c");
	answer(it, 0, true, 0);
	answer(it, 1, true, 0);
	live(8); /* R2 and R3 are lost */
	restart();
	hello(W1, ROLE_WORKER); /* another one: both streams are made again */
	hello(R1, ROLE_READER);
	say(R1, (struct msg){ .type = MSG_OPEN, .req = 7, .open = { .iteration = it, .seat = 1 } });
	assert_int_equal(got(R1, MSG_JOB)->job.seat, 1);
	for (uint32_t i = 0; i < 2; i++) {
		struct stream_key key = { it, i, 2 };

		holds_nothing(R1, 1, key);
		make(key, LENGTH);
	}
	assert_int_equal(live(60), 2 | 4);
}
