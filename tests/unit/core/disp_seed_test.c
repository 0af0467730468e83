/* SPDX-License-Identifier: MIT
 *
 * The seeds of passes, where a position begins a job again.
 */
#include "base/rng.h"
#include "dispatcher_kit.h"

#define EACH_SETUP setup
#define EACH_TEARDOWN teardown

/* The seed of pass `epoch`, of a job that nobody has heard of before. */
static uint64_t
seed_of(uint64_t reader, const char *job, uint64_t epoch, bool resume, bool pass_seed)
{
	hello(reader, ROLE_READER);
	say(reader, (struct msg){ .type = MSG_OPEN, .req = 7, .open = { .job.name = text(job), .spec = text("range"),
		.type = text("int"), .job.sharding = SHARD_DYNAMIC, .job.order = ORDER_STABLE, .job.shards = 2,
		.job.epoch = epoch, .job.seeded = true, .job.seed = 77, .job.min_workers = 1, .job.wait_ms = 500,
		.resume = resume, .pass_seed = pass_seed, .iteration = resume ? 4711 : 0, .seat = resume } });
	if (got(W1, MSG_LIST))
		units(W1, got(W1, MSG_LIST)->req, 1000);
	assert_non_null(got(reader, MSG_JOB));
	return got(reader, MSG_JOB)->job.opts.seed;
}

static void
the_seed_of_a_pass_follows_from_that_of_the_job(void **state)
{
	(void)state;
	hello(W1, ROLE_WORKER);
	assert_int_equal(seed_of(R1, "one", 1, false, false), 77);
	assert_int_equal(seed_of(R2, "two", 2, false, false), rng_mix(77, 2));
}

static void
a_pass_that_is_gone_on_with_has_the_seed_it_had(void **state)
{
	(void)state;
	hello(W1, ROLE_WORKER);
	assert_int_equal(seed_of(R1, "one", 2, true, false), rng_mix(77, 2));
	assert_int_equal(seed_of(R2, "two", 2, true, true), 77);
	assert_int_equal(seed_of(R2 + 1, "", 2, true, false), rng_mix(77, 2));
	assert_int_equal(seed_of(R2 + 2, "", 2, true, true), 77);
}

static void
asks_for(uint64_t reader, int sharding, uint64_t shards, bool resume)
{
	forget();
	hello(reader, ROLE_READER);
	say(reader, (struct msg){ .type = MSG_OPEN, .req = 7, .open = { .job.name = text("job"), .spec = text("range"),
		.type = text("int"), .job.sharding = sharding, .job.shards = shards, .job.epoch = 1,
		.job.seeded = true, .job.seed = 77, .job.min_workers = 1, .job.wait_ms = 500,
		.resume = resume, .iteration = resume ? 4711 : 0, .seat = resume } });
}

static uint64_t
streams_of(uint64_t reader, int sharding, uint64_t shards, bool resume)
{
	asks_for(reader, sharding, shards, resume);
	if (got(W1, MSG_LIST))
		units(W1, got(W1, MSG_LIST)->req, 1000);
	return got(reader, MSG_JOB) ? got(reader, MSG_JOB)->job.opts.shards : 0;
}

/* A position says how many streams there were, not whether they were asked for. */
static void
a_job_that_a_position_begins_is_that_of_readers_that_ask_for_no_number(void **state)
{
	static const int policies[] = { SHARD_DATA, SHARD_FILE_OR_DATA, SHARD_HINT };

	for (size_t i = 0; i < sizeof policies / sizeof *policies; i++) {
		hello(W1, ROLE_WORKER);
		assert_int_equal(streams_of(R1, policies[i], 3, true), 3);
		assert_int_equal(streams_of(R2, policies[i], 0, false), 3);
		assert_int_equal(streams_of(R2 + 1, policies[i], 3, false), 3);
		assert_int_equal(streams_of(R2 + 2, policies[i], 4, false), 0);
		assert_int_equal(got(R2 + 2, MSG_ERROR)->error.code, ST_USAGE);
		teardown(state);
		setup(state);
	}
}

/* The dispatcher has lost its state: a reader that has saved nothing yet is back first. */
static void
a_job_without_streams_yet_gets_as_many_as_the_first_position_says(void **state)
{
	uint64_t list;

	(void)state;
	hello(W1, ROLE_WORKER);
	asks_for(R1, SHARD_DATA, 0, false);
	list = got(W1, MSG_LIST)->req;
	asks_for(R2, SHARD_DATA, 3, true);
	assert_null(got(R2, MSG_ERROR));
	asks_for(R2 + 1, SHARD_DATA, 4, true);
	assert_int_equal(got(R2 + 1, MSG_ERROR)->error.code, ST_USAGE);
	asks_for(R2 + 2, SHARD_DATA, 4, false);
	assert_int_equal(got(R2 + 2, MSG_ERROR)->error.code, ST_USAGE);
	units(W1, list, 1000);
	assert_int_equal(got(R1, MSG_JOB)->job.opts.shards, 3);
	assert_int_equal(got(R2, MSG_JOB)->job.opts.shards, 3);
}
