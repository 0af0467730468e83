/* SPDX-License-Identifier: MIT
 *
 * Another number of consumers goes on: with which round their pass begins.
 */
#include "dispatcher_kit.h"

#define EACH_SETUP setup
#define EACH_TEARDOWN teardown

enum { R3 = 23 };

/* A consumer that can go on from rounds 10 n of a pass of two places in two streams of which the first has given
 * `more` elements more than the second; took: whose position that is, NULL: its own. */
static void
open_from(uint64_t peer, const char *consumer, const char *took, const uint64_t *n, size_t n_n, uint64_t more)
{
	struct msg_number of[8][2];
	struct msg_mark marks[8];
	char *words[] = { text(took ? took : "") };
	struct job_opts o = { .name = text("job"), .consumer = text(consumer), .sharding = SHARD_DYNAMIC, .epoch = 1,
		.min_workers = 1, .wait_ms = 500, .checkpoint = true, .checkpoint_rounds = 10, .seeded = true };

	for (size_t i = 0; i < n_n; i++) {
		of[i][0].n = n[i] * 10 + more;
		of[i][1].n = n[i] * 10 - more;
		marks[i] = (struct msg_mark){ .rounds = 10 * n[i], .base = { of[i], 2 } };
	}
	say(peer, (struct msg){ .type = MSG_OPEN, .req = 7, .open = { .job = o, .spec = text("range"), .type = text("int"),
		.resume = n_n && !took, .took = { words, took != NULL }, .marks = { marks, n_n } } });
}
#define ROUNDS(...) (const uint64_t[]){ __VA_ARGS__ }, sizeof (uint64_t[]){ __VA_ARGS__ } / sizeof (uint64_t)
#define NONE NULL, 0

static void
all_hello(void)
{
	hello(W1, ROLE_WORKER);
	hello(R1, ROLE_READER);
	hello(R2, ROLE_READER);
	hello(R3, ROLE_READER);
}

/* It is killed. */
static void
lost(uint64_t peer)
{
	forget();
	disp_peer_gone(d, now += MS, peer);
	collect();
}

static void
refused(uint64_t peer, int code, const char *words)
{
	assert_non_null(got(peer, MSG_ERROR));
	assert_int_equal(got(peer, MSG_ERROR)->error.code, code);
	if (!strstr(got(peer, MSG_ERROR)->error.text, words))
		fail_msg("%s", got(peer, MSG_ERROR)->error.text);
}

static void
the_greatest_round_that_all_have_is_the_first(void **state)
{
	(void)state;
	all_hello();
	open_from(R1, "0/3", "0/2", ROUNDS(1, 2, 4, 5), 3);
	open_from(R2, "1/3", NULL, NONE, 0);
	open_from(R3, "2/3", "1/2", ROUNDS(2, 3, 4, 6), 3);
	units(W1, got(W1, MSG_LIST)->req, 1000);
	for (uint64_t r = R1; r <= R3; r++) {
		const struct msg_job *j = &got(r, MSG_JOB)->job;

		assert_int_equal(j->begin, 40);
		assert_int_equal(j->base.n, 2);
		assert_int_equal(j->base.v[0].n, 43);
		assert_int_equal(j->base.v[1].n, 37);
		assert_int_equal(j->opts.shards, 2); /* so many there were */
	}
	assert_int_equal(got(W1, MSG_ASSIGN)->assign.base, 43 - 6 * got(W1, MSG_ASSIGN)->assign.key.stream);
	assert_int_equal(got(W1, MSG_ASSIGN)->assign.offset, 0);
}

static void
positions_that_do_not_fit_together_are_refused(void **state)
{
	(void)state;
	all_hello();
	open_from(R1, "0/2", "0/3", ROUNDS(1, 2), 3);
	open_from(R2, "1/2", "1-2/3", ROUNDS(3, 4, 5, 6, 7), 3);
	refused(R1, ST_DATA, "have no round in common: consumer 0/2 has 10, 20; consumer 1/2 has ..., 40, 50, 60, 70");
	refused(R2, ST_DATA, "have no round in common");
	open_from(R1, "0/2", "0/3", ROUNDS(1, 2), 3);
	open_from(R2, "1/2", "1-2/3", ROUNDS(1, 2), 4);
	refused(R2, ST_DATA, "of different passes");
	open_from(R1, "0/2", "0/3", ROUNDS(1, 2), 3);
	open_from(R2, "1/2", "1/3", ROUNDS(1, 2), 3);
	refused(R1, ST_DATA, "nobody has the position of consumer 2/3");
	open_from(R1, "0/2", "0/3", ROUNDS(1, 2), 3);
	open_from(R2, "1/2", "1/4", ROUNDS(1, 2), 3);
	refused(R1, ST_DATA, "not as many");
}

static void
who_comes_late_has_that_round_or_is_refused(void **state)
{
	(void)state;
	all_hello();
	open_from(R1, "0/2", "0/3", ROUNDS(1, 2), 3);
	open_from(R2, "1/2", "1-2/3", ROUNDS(1), 3);
	units(W1, got(W1, MSG_LIST)->req, 1000);
	assert_int_equal(got(R1, MSG_JOB)->job.begin, 10);
	lost(R2);
	open_from(R3, "1/2", "1-2/3", ROUNDS(2, 3), 3);
	refused(R3, ST_DATA, "goes on from round 10, which is not one of this position");
	open_from(R3, "1/2", "1-2/3", ROUNDS(1, 3), 3);
	assert_int_equal(got(R3, MSG_JOB)->job.begin, 10);
}

/* Its consumers had begun there, and the service has forgotten it. */
static void
a_pass_is_begun_again_where_it_began(void **state)
{
	(void)state;
	all_hello();
	open_from(R1, "0/2", NULL, ROUNDS(3), 3);
	open_from(R2, "1/2", "0/3", ROUNDS(1, 2, 3, 4), 3); /* had none of its own yet */
	units(W1, got(W1, MSG_LIST)->req, 1000);
	assert_int_equal(got(R2, MSG_JOB)->job.begin, 30);
}

static void
the_earlier_consumers_must_be_gone(void **state)
{
	(void)state;
	all_hello();
	open_from(R1, "0/2", NULL, NONE, 0);
	open_from(R2, "1/2", NULL, NONE, 0);
	units(W1, got(W1, MSG_LIST)->req, 1000);
	assert_int_equal(got(R1, MSG_JOB)->job.begin, 0);
	open_from(R3, "0/3", "0/2", ROUNDS(1), 3);
	refused(R3, ST_TEMP, "read by consumers with 2 places, and you asked for one of 3");
	lost(R1);
	lost(R2);
	hello(R1, ROLE_READER);
	hello(R2, ROLE_READER);
	open_from(R3, "0/3", "0/2", ROUNDS(1), 3);
	open_from(R1, "1/3", "1/2", ROUNDS(1), 3);
	open_from(R2, "2/3", NULL, NONE, 0);
	units(W1, got(W1, MSG_LIST)->req, 1000);
	assert_int_equal(got(R2, MSG_JOB)->job.begin, 10);
	assert_int_equal(got(R2, MSG_JOB)->job.places, 3);
}
