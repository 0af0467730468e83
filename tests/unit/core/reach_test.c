/* SPDX-License-Identifier: MIT
 *
 * Workers that a reader cannot connect to: when it says so, and what the dispatcher does.
 */
#include "core/disp/disp_inner.h"
#include "dispatcher_kit.h"

#define EACH_SETUP setup
#define EACH_TEARDOWN teardown

static const char *host = "h"; /* whence the next ones come */
static int target = TARGET_ANY;

static void
join(uint64_t peer, uint32_t role, const char *name)
{
	say(peer, (struct msg){ .type = MSG_HELLO, .req = 7, .hello = { .version = WIRE_VERSION, .role = role,
		.peer = peer, .name = text(name), .host = text(host), .endpoint = text("tcp://h:1 key"), .slots = 1 } });
}

static uint64_t
worker_of(uint64_t it)
{
	return iter_find(d, it)->streams[0]->worker->id;
}

static uint64_t
open_one(uint64_t reader)
{
	say(reader, (struct msg){ .type = MSG_OPEN, .req = 8, .open = { .spec = text("range"), .type = text("int"),
		.job = { .name = text("job"), .sharding = SHARD_DYNAMIC, .shards = 1, .order = ORDER_ANY, .epoch = 1,
			.target = target,
			.min_workers = 1, .wait_ms = 500 } } });
	const struct msg *list = got(W1, MSG_LIST);
	if (list) {
		struct split s = { .kind = SPLIT_RANGE, .cuttable = true, .count = 1000, .times = 1, .weight = 1000 };
		say(W1, (struct msg){ .type = MSG_UNITS, .req = list->req, .units = { .listing = 1, .last = true,
			.times = 1, .units = { &s, 1, 1 } } });
	}
	assert_non_null(got(reader, MSG_JOB));
	return got(reader, MSG_JOB)->job.iteration;
}

/* The dispatcher hears of this worker, and that a reader has not been able to reach it for so long. */
static void
unreached(uint64_t reader, uint64_t it, uint64_t seat, uint64_t worker)
{
	say(worker, (struct msg){ .type = MSG_BEAT });
	say(reader, (struct msg){ .type = MSG_UNREACHED, .unreached = { it, seat, worker, 5000, text("no way") } });
}

static void
streams_go_to_another_worker_when_no_reader_reaches_theirs(void **state)
{
	(void)state;
	join(W1, ROLE_WORKER, "one");
	join(R1, ROLE_READER, "r");
	uint64_t it = open_one(R1);
	assert_true(worker_of(it) == W1);
	join(W2, ROLE_WORKER, "two");
	unreached(R1, it, 1, W1);
	assert_non_null(got(W1, MSG_REVOKE));
	assert_non_null(got(R1, MSG_HOLD));
	say(R1, (struct msg){ .type = MSG_HELD, .held = { .key = got(R1, MSG_HOLD)->hold.key, .seat = 1 } });
	assert_non_null(got(W2, MSG_ASSIGN));
}

static void
a_reader_that_reaches_none_ends_with_69_and_the_list(void **state)
{
	(void)state;
	join(W1, ROLE_WORKER, "one");
	join(R1, ROLE_READER, "r");
	uint64_t it = open_one(R1);
	unreached(R1, it, 1, W1);
	assert_null(got(R1, MSG_GONE));
	assert_null(got(W1, MSG_REVOKE));
	unreached(R1, it, 2, W1); /* another seat */
	assert_int_equal(got(R1, MSG_GONE)->gone.code, ST_TEMP);
	unreached(R1, it, 1, W1);
	assert_int_equal(got(R1, MSG_GONE)->gone.code, ST_UNAVAIL);
	assert_string_equal(got(R1, MSG_GONE)->gone.text, "no worker can be reached: one at tcp://h:1: no way");
}

static void
a_worker_that_is_silent_itself_is_waited_for(void **state)
{
	(void)state;
	join(W1, ROLE_WORKER, "one");
	join(R1, ROLE_READER, "r");
	uint64_t it = open_one(R1);
	unreached(R1, it, 1, W1);
	wait_for(4 * SEC);
	say(R1, (struct msg){ .type = MSG_UNREACHED, .unreached = { it, 1, W1, 9000, text("no way") } });
	assert_null(got(R1, MSG_GONE));
	unreached(R1, it, 1, 12345); /* no such worker */
	assert_null(got(R1, MSG_GONE));
}

static void
what_another_reader_reaches_stays_where_it_is(void **state)
{
	(void)state;
	join(W1, ROLE_WORKER, "one");
	join(W2, ROLE_WORKER, "two");
	join(R1, ROLE_READER, "r");
	join(R2, ROLE_READER, "s");
	uint64_t it = open_one(R1);
	assert_true(open_one(R2) == it);
	uint64_t has = worker_of(it);
	unreached(R1, it, 1, has);
	assert_null(got(has, MSG_REVOKE));
	unreached(R2, it, 2, has);
	assert_non_null(got(has, MSG_REVOKE));
}

static void
readers_on_other_hosts_have_no_say_in_a_local_job(void **state)
{
	(void)state;
	target = TARGET_LOCAL;
	join(W1, ROLE_WORKER, "one");
	join(R1, ROLE_READER, "r");
	uint64_t it = open_one(R1);
	host = "other";
	join(W2, ROLE_WORKER, "two");
	join(R2, ROLE_READER, "s");
	assert_true(open_one(R2) == it);
	host = "h";
	target = TARGET_ANY;
	assert_true(worker_of(it) == W1);
	unreached(R1, it, 1, W1);
	assert_non_null(got(W1, MSG_REVOKE));
}
