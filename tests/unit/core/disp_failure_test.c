/* SPDX-License-Identifier: MIT
 *
 * An element that fails at a worker: what the dispatcher lets come before it.
 */
#include "dispatcher_kit.h"

#define EACH_SETUP setup
#define EACH_TEARDOWN teardown

static void
fails_after(uint64_t it, uint32_t gen, uint64_t length)
{
	struct stream_key key = { it, 0, gen };

	say(W1, (struct msg){ .type = MSG_ASSIGNED, .assigned.key = key });
	say(W1, (struct msg){ .type = MSG_STREAM_END, .stream_end = { .key = key, .length = length,
		.made = length, .code = ST_DATA, .text = text("op map: bad") } });
}

static void
acks(uint64_t it, uint64_t seq, uint64_t end)
{
	struct range all = { 0, end };
	struct msg_stream_ranges l = { 0, { &all, 1 } };

	say(R1, (struct msg){ .type = MSG_ACK, .req = seq, .ack = { it, 1, seq, { &l, 1 } } });
}

static void
what_was_made_before_a_failed_element_is_delivered(void **state)
{
	uint64_t it = begin("job", 1000);

	(void)state;
	fails_after(it, 1, 14);
	assert_null(got(R1, MSG_DONE));
	assert_null(got(W1, MSG_END_OK)); /* it is to be said again to a dispatcher that was lost */
	assert_int_equal(got(R1, MSG_STREAMS)->streams.list.v[0].state, STREAM_FAILED);
	assert_int_equal(got(R1, MSG_STREAMS)->streams.list.v[0].length, 14);
	acks(it, 1, 13);
	assert_null(got(R1, MSG_DONE));
	fails_after(it, 1, 14); /* said again */
	assert_null(got(R1, MSG_DONE));
	acks(it, 2, 14);
	assert_int_equal(got(R1, MSG_DONE)->done.code, ST_DATA);
	assert_string_equal(got(R1, MSG_DONE)->done.text, "op map: bad");
	assert_non_null(got(W1, MSG_REVOKE));
	fails_after(it, 1, 14);
	assert_non_null(got(W1, MSG_END_OK));
}

/* Another worker may come further: the first one's failure is forgotten with it. */
static void
a_failure_goes_with_its_worker(void **state)
{
	uint64_t it = begin("job", 1000);

	(void)state;
	fails_after(it, 1, 14);
	hello(W2, ROLE_WORKER);
	say(W1, (struct msg){ .type = MSG_BYE });
	say(R1, (struct msg){ .type = MSG_HELD, .held = { .key = { it, 0, 2 }, .seat = 1 } });
	acks(it, 1, 14);
	assert_null(got(R1, MSG_DONE));
	say(W2, (struct msg){ .type = MSG_STREAM_END, .stream_end = { .key = { it, 0, 2 }, .length = 20,
		.made = 20, .code = ST_DATA, .text = text("later") } });
	acks(it, 2, 20);
	assert_string_equal(got(R1, MSG_DONE)->done.text, "later");
}

/* Acknowledged in one stream says nothing of what comes between it and the failure. */
static void
with_an_order_the_reader_says_when_it_is_there(void **state)
{
	(void)state;
	hello(W1, ROLE_WORKER);
	hello(R1, ROLE_READER);
	say(R1, (struct msg){ .type = MSG_OPEN, .req = 7, .open = { .job.name = text("job"), .spec = text("range"),
		.type = text("int"), .job.sharding = SHARD_DYNAMIC, .job.order = ORDER_STABLE, .job.shards = 2, .job.epoch = 1,
		.job.min_workers = 1, .job.wait_ms = 500 } });
	units(W1, got(W1, MSG_LIST)->req, 1000);
	uint64_t it = got(R1, MSG_JOB)->job.iteration;
	struct msg reached = { .type = MSG_REACHED, .reached = { { it, 0, 1 }, 1 } };

	say(R1, reached); /* REACHED without a failure */
	fails_after(it, 1, 14);
	acks(it, 1, 14);
	assert_null(got(R1, MSG_DONE));
	reached.reached.key.gen = 9;
	say(R1, reached);
	assert_null(got(R1, MSG_DONE));
	reached.reached.key.gen = 1;
	say(R1, reached);
	assert_int_equal(got(R1, MSG_DONE)->done.code, ST_DATA);
}
