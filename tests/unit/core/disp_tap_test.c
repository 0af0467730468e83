/* SPDX-License-Identifier: MIT
 *
 * Elements in the middle of a pass: whom the dispatcher asks for them, and who gets them.
 */
#include "core/disp/disp_inner.h"
#include "dispatcher_kit.h"

#define EACH_SETUP setup
#define EACH_TEARDOWN teardown

static struct stream_key key; /* the stream that W1 makes */

static void
ask(uint64_t tool, const char *job, uint64_t iteration, uint32_t place)
{
	say(tool, (struct msg){ .type = MSG_TAP, .req = 9, .tap = { .job = text(job), .iteration = iteration,
		.place = place, .n = 5 } });
}

/* The worker has seen the elements 1 and 2. */
static void
seen(uint64_t worker, uint64_t tool, uint32_t place)
{
	static uint8_t two[] = { 1, 2 };

	say(worker, (struct msg){ .type = MSG_TAPPED, .tapped = { .key = key, .tool = tool, .place = place, .n = 2,
		.left_out = 1, .elements = { two, sizeof two } } });
}

/* Job `job` runs in one stream on W1; W2 has nothing to do. */
static void
run_job(void)
{
	hello(W1, ROLE_WORKER);
	hello(R1, ROLE_READER);
	hello(T1, ROLE_TOOL);
	say(R1, (struct msg){ .type = MSG_OPEN, .req = 7, .open = { .job.name = text("job"), .spec = text("range"),
		.type = text("int"), .job.sharding = SHARD_DYNAMIC, .job.shards = 1, .job.epoch = 1,
		.job.min_workers = 1, .job.wait_ms = 500 } });
	units(W1, got(W1, MSG_LIST)->req, 1000);
	key = got(W1, MSG_ASSIGN)->assign.key;
	say(W1, (struct msg){ .type = MSG_ASSIGNED, .assigned.key = key });
	hello(W2, ROLE_WORKER);
}

static void
workers_of_the_pass_are_asked_and_what_they_see_comes_with_the_next_question(void **state)
{
	(void)state;
	run_job();
	ask(T1, "job", 0, 3);
	const struct msg *m = got(W1, MSG_TAP);
	assert_non_null(m);
	assert_true(m->tap.iteration == key.iteration && m->tap.place == 3 && m->tap.n == 5 && m->tap.tool == T1);
	assert_null(got(W2, MSG_TAP));
	assert_int_equal(got(T1, MSG_TAPPED)->tapped.n, 0);
	seen(W1, T1, 3);
	seen(W1, T1, 3);
	ask(T1, "job", key.iteration, 3);
	m = got(T1, MSG_TAPPED);
	assert_true(m->req == 9 && m->tapped.n == 4 && m->tapped.elements.n == 4 && m->tapped.left_out == 2);
	assert_false(m->tapped.over);
	ask(T1, "job", key.iteration, 3);
	assert_int_equal(got(T1, MSG_TAPPED)->tapped.n, 0);
}

static void
workers_are_asked_twice_a_second_however_often_the_tool_asks(void **state)
{
	(void)state;
	int asked = 0;

	run_job();
	for (int i = 0; i < 100; i++) {
		ask(T1, "job", 0, 1);
		asked += got(W1, MSG_TAP) != NULL;
		now += 19 * MS;
	}
	assert_int_equal(asked, 4);
}

static void
what_was_not_asked_for_is_dropped(void **state)
{
	(void)state;
	run_job();
	seen(W1, T1, 3);
	ask(T1, "job", 0, 3);
	seen(W1, T1, 2);  /* another operator */
	seen(W2, T1, 3);  /* not its stream */
	seen(W1, R1, 3);  /* not a tool */
	assert_int_equal(n_sent, 0);
	ask(T1, "job", 0, 3);
	assert_int_equal(got(T1, MSG_TAPPED)->tapped.n, 0);
	seen(W1, T1, 3);
	ask(T1, "job", 0, 2); /* it looks elsewhere now */
	assert_int_equal(got(T1, MSG_TAPPED)->tapped.n, 0);
}

static void
a_job_that_is_not_there_or_not_under_way_is_66(void **state)
{
	(void)state;
	run_job();
	ask(T1, "other", 0, 1);
	assert_int_equal(got(T1, MSG_ERROR)->error.code, 66);
	ask(T1, "job", key.iteration + 1, 1);
	assert_int_equal(got(T1, MSG_ERROR)->error.code, 66);
	ask(T1, "1000000", key.iteration, 1);
	assert_int_equal(got(T1, MSG_ERROR)->error.code, 66);
}

static void
a_key_sees_its_own_jobs_only(void **state)
{
	static const struct disp_who other = { .user = "other", .may = MAY_USER }, admin = { .user = "a", .may = MAY_ADMIN };
	const struct msg m = { .type = MSG_TAP, .req = 9, .tap = { .job = text("job"), .place = 1, .n = 5 } };

	(void)state;
	run_job();
	for (int i = 0; i < 2; i++) {
		const struct disp_who *who = i ? &admin : &other;
		uint64_t tool = 40 + (uint64_t)i;

		say_of(tool, who, &(struct msg){ .type = MSG_HELLO, .hello = { .version = WIRE_VERSION, .role = ROLE_TOOL,
			.peer = tool } });
		say_of(tool, who, &m);
		assert_true((got(tool, MSG_TAPPED) != NULL) == (i == 1));
		assert_true((got(tool, MSG_ERROR) != NULL) == (i == 0));
	}
}
