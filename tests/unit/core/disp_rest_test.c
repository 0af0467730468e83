/* SPDX-License-Identifier: MIT
 *
 * Jobs at rest: over, read by nobody, and packed. They answer as if they were not.
 */
#include "dispatcher_kit.h"

#include "value/mp.h"

#define EACH_SETUP setup
#define EACH_TEARDOWN teardown

/* A number in the record of the last pass of the only job. */
static uint64_t
pass_number(const char *name)
{
	struct buf b = { 0 };
	const uint8_t *p;
	size_t n;
	struct mp m;

	assert_true(disp_status(d, now, REPORT_ALL, "", &b));
	assert_true(mp_field(b.data, b.data + b.len, "jobs", 4, &p, &n));
	p = mp_head(p, p + n, &m);
	assert_int_equal(m.n, 1);
	assert_true(mp_field(p, b.data + b.len, "iterations", 10, &p, &n));
	p = mp_head(p, p + n, &m);
	assert_true(m.n > 0);
	assert_true(mp_field(p, b.data + b.len, name, strlen(name), &p, &n));
	assert_non_null(mp_head(p, p + n, &m));
	buf_clear(&b);
	return m.u;
}

/* R1 reads a pass of 1000 elements to its end; gives the iteration. */
static uint64_t
read_all(void)
{
	uint64_t it = begin("job", 1000);
	struct stream_key key = { it, 0, 1 };
	struct range all = { 0, 1000 };
	struct msg_stream_ranges l = { 0, { &all, 1 } };

	say(W1, (struct msg){ .type = MSG_ASSIGNED, .assigned.key = key });
	say(W1, (struct msg){ .type = MSG_SPLIT_REQ, .split_req = { key, 0, 8 } });
	say(W1, (struct msg){ .type = MSG_SPLIT_REQ, .split_req = { key, 1, 8 } });
	say(W1, (struct msg){ .type = MSG_STREAM_END, .stream_end = { .key = key, .length = 1000, .made = 1000 } });
	say(R1, (struct msg){ .type = MSG_ACK, .req = 1, .ack = { it, 1, 1, { &l, 1 } } });
	assert_int_equal(got(R1, MSG_DONE)->done.elements, 1000);
	return it;
}

static void
closes(uint64_t it)
{
	say(R1, (struct msg){ .type = MSG_CLOSE, .req = 2, .close = { .iteration = it, .seat = 1, .seq = 1 } });
	assert_non_null(got(R1, MSG_CLOSED));
}

static void
it_is_reported_as_before(void **state)
{
	static const char *const names[] = { "epoch", "seed", "made", "elements", "delivered", "acknowledged", "running_ms",
		"streams_known", "streams_ended", "streams_finished", "per_second", "repeated", "lost" };
	uint64_t before[sizeof names / sizeof *names], it;

	(void)state;
	it = read_all();
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		before[i] = pass_number(names[i]);
	closes(it);
	wait_for(SEC);
	for (unsigned again = 0; again < 2; again++)
		for (size_t i = 0; i < sizeof names / sizeof *names; i++)
			assert_int_equal(pass_number(names[i]), before[i]);
	assert_int_equal(pass_number("acknowledged"), 1000);
}

static void
who_comes_once_more_is_told_the_end(void **state)
{
	(void)state;
	closes(read_all());
	hello(R2, ROLE_READER);
	open_job(R2, "job", "range", 1);
	assert_int_equal(got(R2, MSG_DONE)->done.elements, 1000);
	open_job(R2, "job", "range", 2); /* options are compared */
	assert_int_equal(got(R2, MSG_ERROR)->error.code, ST_USAGE);
}

static void
a_late_close_is_answered(void **state)
{
	uint64_t it;

	(void)state;
	it = read_all();
	closes(it);
	closes(it); /* the answer was lost */
	assert_null(got(R1, MSG_GONE));
}

/* The second pass begins from a job at rest. */
static void
another_pass_can_follow(void **state)
{
	(void)state;
	closes(read_all());
	hello(R2, ROLE_READER);
	hello(W1, ROLE_WORKER);
	say(R2, (struct msg){ .type = MSG_OPEN, .req = 7, .open = { .job.name = text("job"), .spec = text("range"),
		.type = text("int"), .job.sharding = SHARD_DYNAMIC, .job.epoch = 2, .job.seeded = true, .job.seed = 1,
		.job.min_workers = 1, .job.wait_ms = 500 } });
	units(W1, got(W1, MSG_LIST)->req, 1000);
	assert_non_null(got(R2, MSG_JOB));
	assert_int_equal(pass_number("acknowledged"), 1000); /* the first one's */
}

/* A worker comes with tags that no job has seen: those at rest are not asked before they wake. */
static void
workers_come_and_go_meanwhile(void **state)
{
	(void)state;
	closes(read_all());
	disp_peer_gone(d, now, W1);
	hello(W2, ROLE_WORKER);
	hello(R2, ROLE_READER);
	say(R2, (struct msg){ .type = MSG_OPEN, .req = 7, .open = { .job.name = text("job"), .spec = text("range"),
		.type = text("int"), .job.sharding = SHARD_DYNAMIC, .job.epoch = 2, .job.seeded = true, .job.seed = 1,
		.job.min_workers = 1, .job.wait_ms = 500 } });
	assert_non_null(got(W2, MSG_LIST));
}
