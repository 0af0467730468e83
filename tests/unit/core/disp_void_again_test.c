/* SPDX-License-Identifier: MIT
 *
 * A repeat of nothing, when the dispatcher restarts.
 */
#include "durable_kit.h"

#define EACH_SETUP setup
#define EACH_TEARDOWN teardown

/* Asks for split k while it reads another one. True: it gets no more. */
static bool
ends(struct stream_key key, uint64_t k, uint64_t reading)
{
	now += MS;
	say(W1, (struct msg){ .type = MSG_SPLIT_REQ, .split_req = { .key = key, .k = k, .n = 1, .reading = reading } });
	assert_non_null(got(W1, MSG_SPLIT));
	return got(W1, MSG_SPLIT)->split.end;
}

static void
the_first_repetition_is_known_after_a_restart(void **state)
{
	struct split s = { .kind = SPLIT_RANGE, .cuttable = true, .count = 2, .times = 1, .weight = 2 };

	(void)state;
	setup_durable();
	hello(W1, ROLE_WORKER);
	hello(R1, ROLE_READER);
	say(R1, (struct msg){ .type = MSG_OPEN, .req = 7, .open = { .job.name = text("void"), .spec = text("range"),
		.type = text("int"), .job.sharding = SHARD_DYNAMIC, .job.epoch = 1, .job.seeded = true, .job.seed = 1,
		.job.min_workers = 1, .job.wait_ms = 500 } });
	say(W1, (struct msg){ .type = MSG_UNITS, .req = got(W1, MSG_LIST)->req, .units = { .listing = 1, .last = true,
		.times = INT64_MAX, .period = 1, .units = { &s, 1, 1 } } });
	struct stream_key key = got(W1, MSG_ASSIGN)->assign.key;
	say(W1, (struct msg){ .type = MSG_ASSIGNED, .req = 1, .assigned.key = key });
	for (uint64_t k = 0; k < 6; k++) /* two make a repetition; it reads the first all the time */
		assert_false(ends(key, k, 0));
	restart();
	struct msg_stream_ref has = { .key = key };
	say(W1, (struct msg){ .type = MSG_HELLO, .req = 1, .hello = { .version = WIRE_VERSION, .role = ROLE_WORKER,
		.peer = W1, .name = text("n"), .endpoint = text("ep"), .slots = 2, .streams = { &has, 1 } } });
	assert_false(ends(key, 6, 0));
	assert_false(ends(key, 7, 1));
	assert_true(ends(key, 8, 2));
}
