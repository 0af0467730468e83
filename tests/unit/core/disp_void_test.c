/* SPDX-License-Identifier: MIT
 *
 * A repeat of nothing. (Whole passes: tests/sim.)
 */
#include "dispatcher_kit.h"

#define EACH_SETUP with_rows
#define EACH_TEARDOWN teardown

static int split_rows;

static void
count_split_row(void *arg, const struct disp_row *row)
{
	(void)arg;
	if (row->kind == ROW_SPLIT && !row->below && row->n_key == 3)
		split_rows += row->blob ? 1 : -1;
}

static int
with_rows(void **state)
{
	struct disp_opts o = { .instance = 5, .seed = 3, .spec_id = spec_id, .job_gc_ns = 60 * SEC, .report_part = 100,
		.durable = true, .small_splits = true };

	(void)state;
	now = SEC;
	d = disp_new(&o, now);
	split_rows = 0;
	on_row = count_split_row;
	return 0;
}

/* A pass over `count` elements without end, each `period` of which are one repetition. */
static struct stream_key
endless_of(uint64_t count, uint64_t period, int order)
{
	struct split s = { .kind = SPLIT_RANGE, .cuttable = true, .count = count, .times = 1, .weight = count };

	hello(W1, ROLE_WORKER);
	hello(R1, ROLE_READER);
	say(R1, (struct msg){ .type = MSG_OPEN, .req = 7, .open = { .job.name = text("void"), .spec = text("range"),
		.type = text("int"), .job.sharding = SHARD_DYNAMIC, .job.order = order, .job.shards = order ? 2 : 0,
		.job.epoch = 1, .job.seeded = true, .job.seed = 1, .job.min_workers = 1, .job.wait_ms = 500 } });
	say(W1, (struct msg){ .type = MSG_UNITS, .req = got(W1, MSG_LIST)->req, .units = { .listing = 1, .last = true,
		.times = INT64_MAX, .period = period, .units = { &s, 1, 1 } } });
	return (struct stream_key){ got(R1, MSG_JOB)->job.iteration, 0, 1 };
}

static struct stream_key
endless(uint64_t count, uint64_t period)
{
	return endless_of(count, period, ORDER_ANY);
}

/* Asks for split k while it reads another one. True: it gets no more. */
static bool
ends(uint64_t worker, struct stream_key key, uint64_t k, uint64_t reading, bool reached)
{
	now += MS;
	say(worker, (struct msg){ .type = MSG_SPLIT_REQ, .split_req = { .key = key, .k = k, .n = 1, .reading = reading,
		.reached = reached } });
	assert_non_null(got(worker, MSG_SPLIT));
	assert_int_equal(got(worker, MSG_SPLIT)->split.splits.n, !got(worker, MSG_SPLIT)->split.end);
	return got(worker, MSG_SPLIT)->split.end;
}

static void
a_repetition_without_an_element_is_the_last(void **state)
{
	struct stream_key key = endless(2, 1);
	uint64_t k = 0;

	(void)state;
	while (k < 6)
		assert_false(ends(W1, key, k++, 0, false)); /* it reads the first all the time */
	assert_false(ends(W1, key, k++, 1, false));
	assert_true(ends(W1, key, k, k - 1, false));
	say(W1, (struct msg){ .type = MSG_STREAM_END, .stream_end = { .key = key } });
	key.stream = 1;
	assert_true(ends(W1, key, 0, 0, false));
	say(W1, (struct msg){ .type = MSG_STREAM_END, .stream_end = { .key = key } });
	assert_int_equal(got(R1, MSG_DONE)->done.code, 0);
	assert_int_equal(got(R1, MSG_DONE)->done.elements, 0);
}

static void
as_many_passes_as_make_one_have_to_be_through(void **state)
{
	struct stream_key key = endless(1, 3);
	uint64_t k = 0;

	(void)state;
	for (; k < 3; k++)
		assert_false(ends(W1, key, k, k ? k - 1 : 0, false));
	while (k < 20 && !ends(W1, key, k, k - 1, false))
		k++;
	assert_in_range(k, 3, 8);
}

static void
one_element_is_enough(void **state)
{
	struct stream_key key = endless(2, 1);

	(void)state;
	for (uint64_t k = 0; k < 20; k++)
		assert_false(ends(W1, key, k, k ? k - 1 : 0, k >= 1));
}

/* A restart point keeps elements that are not made again, so those before it count. */
static void
an_element_before_the_restart_point_counts(void **state)
{
	struct stream_key key = endless(2, 1);
	uint8_t state_bytes[] = "s";

	(void)state;
	assert_false(ends(W1, key, 0, 0, false));
	say(W1, (struct msg){ .type = MSG_RESTART, .restart = { .key = key, .split = 0, .reached = true,
		.state = { state_bytes, 1 } } });
	forget();
	disp_peer_gone(d, now, W1);
	collect();
	say(R1, (struct msg){ .type = MSG_HELD, .held = { .key = { key.iteration, 0, 2 }, .seat = 1 } });
	hello(W2, ROLE_WORKER);
	key.gen = 2;
	assert_non_null(got(W2, MSG_ASSIGN));
	for (uint64_t k = 0; k < 20; k++)
		assert_false(ends(W2, key, k, k ? k - 1 : 0, false));
}

static void
splits_that_are_made_again_are_not_through(void **state)
{
	struct stream_key key = endless(2, 1);
	uint64_t k = 0;

	(void)state;
	for (; k < 6; k++)
		assert_false(ends(W1, key, k, 0, false));
	assert_false(ends(W1, key, k++, 1, false));
	forget();
	disp_peer_gone(d, now, W1);
	collect();
	say(R1, (struct msg){ .type = MSG_HELD, .held = { .key = { key.iteration, 0, 2 }, .seat = 1 } });
	hello(W2, ROLE_WORKER);
	key.gen = 2;
	assert_false(ends(W2, key, k++, 0, false));
	assert_false(ends(W2, key, k++, 1, false));
	assert_true(ends(W2, key, k, 6, false));
}

/* With fixed places whoever is ahead has splits cut for the others, which they would have to read one by one. */
static void
a_stream_is_not_given_what_was_cut_for_it_in_vain(void **state)
{
	struct stream_key a = endless_of(8, 1, ORDER_STABLE), b = { a.iteration, 1, 1 };
	uint64_t k = 0, n = 0;

	(void)state;
	for (; k < 40; k++)
		assert_false(ends(W1, a, k, k ? k - 1 : 0, false));
	while (n < 40 && !ends(W1, b, n, n ? n - 1 : 0, false))
		n++;
	assert_in_range(n, 1, 8);
	assert_true(ends(W1, a, k, k - 1, false));
	assert_int_equal(split_rows, k + n);
}

/* A worker that is lost may have given elements of a later repetition. */
static void
what_a_worker_had_is_given_to_the_next_one(void **state)
{
	struct stream_key a = endless_of(8, 1, ORDER_STABLE), b = { a.iteration, 1, 1 };
	uint64_t k = 0, n = 0;

	(void)state;
	for (; k < 10; k++)
		assert_false(ends(W1, a, k, 0, false));
	while (n < 40 && !ends(W1, b, n, n ? n - 1 : 0, false))
		n++;
	assert_int_equal(n, 40); /* the first one is not through */
	assert_true(ends(W1, a, k, k - 1, false));
	say(W1, (struct msg){ .type = MSG_STREAM_END, .stream_end = { .key = a } });
	forget();
	disp_peer_gone(d, now, W1);
	collect();
	say(R1, (struct msg){ .type = MSG_HELD, .held = { .key = { b.iteration, 1, 2 }, .seat = 1 } });
	hello(W2, ROLE_WORKER);
	b.gen = 2;
	for (n = 0; n < 39; n++)
		assert_false(ends(W2, b, n, n ? n - 1 : 0, false));
	say(W2, (struct msg){ .type = MSG_SPLIT_REQ, .split_req = { .key = b, .k = n, .n = 1, .reading = n - 1 } });
	assert_int_equal(got(W2, MSG_SPLIT)->split.splits.n, 1); /* the last one that there was */
	assert_true(got(W2, MSG_SPLIT)->split.end);
}

static void
restart_at(uint64_t worker, struct stream_key key, uint64_t split)
{
	uint8_t state_bytes[] = "s";

	say(worker, (struct msg){ .type = MSG_RESTART, .restart = { .key = key, .split = split,
		.state = { state_bytes, 1 } } });
}

/* It has many splits yet, and asks for no more before it has read most of them. */
static void
a_restart_point_says_what_is_through(void **state)
{
	struct stream_key key = endless(2, 1);
	uint64_t k = 0;

	(void)state;
	while (k < 6)
		assert_false(ends(W1, key, k++, 0, false));
	restart_at(W1, key, 5);
	assert_true(ends(W1, key, k, 0, false));
}

/* The next worker need not have begun with the stream: that may be long in coming. */
static void
what_is_through_need_not_be_read_again(void **state)
{
	struct stream_key a = endless_of(8, 1, ORDER_STABLE), b = { a.iteration, 1, 1 };
	uint64_t k = 0;

	(void)state;
	for (; k < 20; k++)
		assert_false(ends(W1, a, k, 0, false));
	for (uint64_t n = 0; n < 20; n++)
		assert_false(ends(W1, b, n, 0, false));
	restart_at(W1, b, 19);
	forget();
	disp_peer_gone(d, now, W1);
	collect();
	say(R1, (struct msg){ .type = MSG_HELD, .held = { .key = { a.iteration, 0, 2 }, .seat = 1 } });
	say(R1, (struct msg){ .type = MSG_HELD, .held = { .key = { b.iteration, 1, 2 }, .seat = 1 } });
	hello(W2, ROLE_WORKER);
	a.gen = b.gen = 2;
	assert_false(ends(W2, a, k++, 0, false));
	assert_true(ends(W2, a, k, 19, false));
}
