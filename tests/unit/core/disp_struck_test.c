/* SPDX-License-Identifier: MIT
 *
 * Keys that are struck out while nobody looks: the dispatcher is down, or their reader is away.
 */
#include "durable_kit.h"

#define EACH_SETUP setup
#define EACH_TEARDOWN teardown

static const char *struck; /* may do nothing any more */

static unsigned
may(void *arg, const char *user)
{
	(void)arg;
	return struck && !strcmp(user, struck) ? 0 : MAY_USER | MAY_WORK;
}

static void
cut(void *arg, uint64_t peer)
{
	(void)arg, (void)peer;
}

static void
say_as(uint64_t peer, const char *user, struct msg m)
{
	struct disp_who who = { MAY_USER | MAY_WORK, user, NULL };

	say_of(peer, &who, &m);
}

static void
hello_as(uint64_t peer, const char *user, uint32_t role)
{
	say_as(peer, user, (struct msg){ .type = MSG_HELLO, .req = 7, .hello = { .version = WIRE_VERSION, .role = role,
		.peer = peer, .name = text(user), .endpoint = text("ep"), .slots = 1 } });
}

/* The worker and the reader of a pass that runs, each with a key; gives its iteration. */
static uint64_t
begin_as(bool checkpoint)
{
	struct msg *m;

	setup_durable();
	hello_as(W1, "wilma", ROLE_WORKER);
	hello_as(R1, "ada", ROLE_READER);
	say_as(R1, "ada", (struct msg){ .type = MSG_OPEN, .req = 7, .open = { .spec = text("range"), .type = text("int"),
		.job = { .name = text("job"), .sharding = SHARD_DYNAMIC, .epoch = 1, .seeded = true, .seed = 1,
			.min_workers = 1, .wait_ms = 500, .checkpoint = checkpoint } } });
	m = got(W1, MSG_LIST);
	assert_non_null(m);
	struct split s = { .kind = SPLIT_RANGE, .cuttable = true, .count = 1000, .times = 1, .weight = 1000 };
	say_as(W1, "wilma", (struct msg){ .type = MSG_UNITS, .req = m->req, .units = { .listing = 1, .last = true,
		.times = 1, .units = { &s, 1, 1 } } });
	m = got(R1, MSG_JOB);
	assert_non_null(m);
	return m->job.iteration;
}

static bool
refused(uint64_t peer)
{
	const struct msg *r = got(peer, MSG_REFUSED);

	return r && r->refused.code == ST_PERM;
}

static void
a_reader_that_was_struck_out_during_a_restart_is_not_awaited(void **state)
{
	(void)state;
	begin_as(false);
	restart();
	assert_int_equal(rows_of(ROW_READER), 1);
	struck = "ada";
	assert_int_equal(disp_review(d, now, may, NULL, cut), 1);
	collect();
	assert_int_equal(rows_of(ROW_READER), 0);
	struck = NULL;
}

static void
a_worker_that_was_struck_out_during_a_restart_has_no_stream_after_it(void **state)
{
	(void)state;
	begin_as(false);
	restart();
	struck = "wilma";
	assert_int_equal(disp_review(d, now, may, NULL, cut), 1);
	struck = NULL;
	hello_as(W2, "will", ROLE_WORKER);
	/* not after the time for which workers are awaited */
	hello_as(R1, "ada", ROLE_READER);
	assert_non_null(got(R1, MSG_HOLD));
}

/* A scheduler starts the same work again under the same name. */
static void
a_worker_takes_the_place_of_one_of_its_name_that_is_awaited(void **state)
{
	(void)state;
	begin_as(false);
	restart();
	hello_as(W2, "wilma", ROLE_WORKER);
	/* its stream goes on elsewhere: the reader is asked at once what it holds of it */
	hello_as(R1, "ada", ROLE_READER);
	assert_non_null(got(R1, MSG_HOLD));
}

static void
a_worker_of_another_name_or_key_does_not(void **state)
{
	(void)state;
	begin_as(false);
	restart();
	hello_as(W2, "will", ROLE_WORKER);
	say_as(W2 + 1, "eve", (struct msg){ .type = MSG_HELLO, .req = 7, .hello = { .version = WIRE_VERSION,
		.role = ROLE_WORKER, .peer = W2 + 1, .name = text("wilma"), .endpoint = text("ep"), .slots = 1 } });
	hello_as(R1, "ada", ROLE_READER);
	assert_null(got(R1, MSG_HOLD));
}

static void
others_are_awaited_as_before(void **state)
{
	(void)state;
	begin_as(false);
	restart();
	struck = "bob";
	assert_int_equal(disp_review(d, now, may, NULL, cut), 0);
	collect();
	struck = NULL;
	assert_int_equal(rows_of(ROW_READER), 1);
}

static void
who_is_awaited_is_not_mistaken_for_another_key(void **state)
{
	(void)state;
	begin_as(false);
	restart();
	hello_as(R1, "bob", ROLE_READER);
	assert_true(refused(R1));
	hello_as(W1, "bob", ROLE_WORKER);
	assert_true(refused(W1));
	hello_as(R1, "ada", ROLE_READER);
	assert_non_null(got(R1, MSG_WELCOME));
	restart();
	hello_as(R1, NULL, ROLE_READER); /* a dispatcher that uses no keys any more */
	assert_non_null(got(R1, MSG_WELCOME));
}

static void
what_is_kept_for_a_reader_that_is_away_is_given_up_with_its_key(void **state)
{
	(void)state;
	uint64_t it = begin_as(true);
	say_as(R1, "ada", (struct msg){ .type = MSG_ACK, .req = 8, .ack = { .iteration = it, .seat = 1, .seq = 1 } });
	disp_peer_gone(d, now, R1);
	wait_for(10 * SEC);
	assert_int_equal(rows_of(ROW_READER), 1);
	for (int again = 0; again < 2; again++) {
		assert_int_equal(disp_review(d, now, may, NULL, cut), 0);
		if (!again)
			restart(); /* it is known afterwards whose it is */
	}
	struck = "ada";
	disp_review(d, now, may, NULL, cut);
	struck = NULL;
	collect();
	assert_int_equal(rows_of(ROW_READER), 0);
}

/* Any answer but WHO is a sign of life to it: it would beat for ever, and never hear that it is refused. */
static void
who_was_silent_when_its_key_was_struck_out_is_asked_who_it_is(void **state)
{
	struct disp_who none = { 0, "ada", NULL };
	struct msg beat = { .type = MSG_BEAT, .req = 3 }, hello = { .type = MSG_HELLO, .req = 4, .hello = {
		.version = WIRE_VERSION, .role = ROLE_READER, .peer = R1, .name = text("ada") } };

	(void)state;
	begin_as(false);
	disp_peer_gone(d, now, R1);
	collect();
	say_of(R1, &none, &beat);
	assert_null(got(R1, MSG_ERROR));
	assert_non_null(got(R1, MSG_WHO));
	say_of(R1, &none, &hello);
	assert_true(refused(R1));
}
