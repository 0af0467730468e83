/* SPDX-License-Identifier: MIT
 *
 * Each role with each message, and what else depends on whose a message is.
 */
#include "dispatcher_kit.h"
#include "wire/field.h"

#define EACH_SETUP setup
#define EACH_TEARDOWN teardown

enum { READ = MAY_READ, REG = MAY_REGISTER, WORK = MAY_WORK, ADMIN = MAY_ADMIN };

/* By hand, besides the tables of lib/wire: a slip there shows here. */
static const unsigned said_by[MSG_TYPES] = {
	[MSG_HELLO] = READ | REG | WORK | ADMIN, [MSG_BEAT] = READ | REG | WORK | ADMIN,
	[MSG_BYE] = READ | REG | WORK | ADMIN, [MSG_STATUS] = READ | REG | WORK | ADMIN,
	[MSG_REGISTER] = REG | ADMIN, [MSG_GET] = READ | REG | ADMIN, [MSG_OPEN] = READ | REG | ADMIN,
	[MSG_HELD] = READ | REG | ADMIN, [MSG_ACK] = READ | REG | ADMIN, [MSG_CLOSE] = READ | REG | ADMIN,
	[MSG_REACHED] = READ | REG | ADMIN, [MSG_UNREACHED] = READ | REG | ADMIN, [MSG_STOP] = READ | REG | ADMIN,
	[MSG_ERROR] = WORK | ADMIN, [MSG_UNITS] = WORK | ADMIN,
	[MSG_ASSIGNED] = WORK | ADMIN, [MSG_REVOKED] = WORK | ADMIN, [MSG_SPLIT_REQ] = WORK | ADMIN,
	[MSG_RESTART] = WORK | ADMIN, [MSG_STREAM_END] = WORK | ADMIN, [MSG_HANDOVER] = WORK | ADMIN,
	[MSG_GONE_OK] = WORK | ADMIN, [MSG_YIELDED] = WORK | ADMIN, [MSG_MISSED] = WORK | ADMIN,
	[MSG_VIEW_OK] = WORK | ADMIN, [MSG_STORES] = WORK | ADMIN, [MSG_FAULTS] = WORK | ADMIN,
	[MSG_TAKES] = WORK | ADMIN, [MSG_TAPPED] = WORK | ADMIN, [MSG_TAP] = READ | REG | ADMIN,
	[MSG_STEP] = WORK | ADMIN, [MSG_FORGET] = ADMIN, [MSG_END] = ADMIN, [MSG_INVITE] = ADMIN, [MSG_JOIN] = MAY_GUEST,
};

static void
say_as(uint64_t peer, unsigned may, const char *user, const char *jobs, struct msg m)
{
	struct disp_who who = { may, user, jobs };

	say_of(peer, &who, &m);
}

static struct msg
hello_of(uint64_t peer, uint32_t role)
{
	return (struct msg){ .type = MSG_HELLO, .req = 7, .hello = { .version = WIRE_VERSION, .role = role,
		.peer = peer, .slots = 1 } };
}

static bool
refused(uint64_t peer)
{
	const struct msg *e = got(peer, MSG_ERROR), *r = got(peer, MSG_REFUSED);

	return (e && e->error.code == ST_PERM) || (r && r->refused.code == ST_PERM);
}

static void
each_role_may_say_its_messages_and_no_others(void **state)
{
	static char id[] = "id";
	uint64_t peer = 100;

	(void)state;
	for (unsigned t = 1; t < MSG_TYPES; t++)
		for (unsigned may = 0; may < 2 * MAY_GUEST; may++) {
			struct msg m = { .type = (enum msg_type)t, .req = 9 };
			uint32_t role = said_by[t] == (WORK | ADMIN) ? ROLE_WORKER :
				said_by[t] == (READ | REG | ADMIN) ? ROLE_READER : ROLE_TOOL;

			peer++;
			if (t == MSG_HELLO)
				m = hello_of(peer, ROLE_TOOL);
			else
				say_as(peer, MAY_ANY, "ada", NULL, hello_of(peer, role));
			if (t == MSG_OPEN)
				m.open.dataset = id;
			say_as(peer, may, "ada", NULL, m);
			/* messages that are for others are dropped whoever says them */
			bool fine = t == MSG_HELLO || !said_by[t] || (said_by[t] & may);
			if (refused(peer) == fine)
				fail_msg("%s with the roles %u is %s", msg_name(m.type), may, fine ? "refused" : "taken");
			disp_peer_gone(d, now, peer);
		}
}

/* Follows from its way in the table: a new message cannot be left out. */
static unsigned
senders(const char *way)
{
	static const struct { const char *word; unsigned may; } who[] = {
		{ "worker", WORK | ADMIN }, { "reader", READ | REG | ADMIN }, { "tool", MAY_ANY }, { "any", MAY_ANY },
		{ "guest", MAY_GUEST },
	};
	const char *arrow = strstr(way, "->");
	unsigned may = 0;

	if (!strcmp(way, "both ways")) /* worker -> dispatcher, dispatcher -> all */
		return WORK | ADMIN;
	assert_non_null(arrow);
	if (!strstr(arrow, "dispatcher"))
		return 0;
	for (size_t i = 0; i < sizeof who / sizeof *who; i++) {
		const char *at = strstr(way, who[i].word);
		if (at && at < arrow)
			may |= who[i].may;
	}
	assert_true(may);
	return may;
}

static void
each_message_to_a_dispatcher_names_who_may_say_it(void **state)
{
	(void)state;
	for (unsigned t = 1; t < MSG_TYPES; t++) {
		const struct msg_desc *desc = msg_desc(t);
		if (!desc || !desc->name)
			continue;
		unsigned may = senders(desc->way);
		if (!may != !desc->may || (desc->may & ~may))
			fail_msg("%s: %s", desc->name, desc->way);
		if (desc->may != said_by[t])
			fail_msg("%s is not said here by those who say it there", desc->name);
	}
}

static void
a_role_is_needed_to_be_a_worker_or_a_reader(void **state)
{
	static const struct { uint32_t role; unsigned may; } needs[] = {
		{ ROLE_WORKER, WORK | ADMIN }, { ROLE_READER, READ | REG | ADMIN },
	};

	(void)state;
	for (size_t i = 0; i < 2; i++)
		for (unsigned may = 0; may < 2 * MAY_GUEST; may++) {
			uint64_t peer = 1000 * (i + 1) + may;

			say_as(peer, may, "ada", NULL, hello_of(peer, needs[i].role));
			assert_true(refused(peer) == !(may & needs[i].may));
			assert_true((got(peer, MSG_WELCOME) != NULL) == !refused(peer));
		}
}

static void
a_pipeline_needs_register_and_jobs_go_by_name(void **state)
{
	static char spec[] = "range 3", type[] = "int", name[] = "train-1", other[] = "test", dataset[] = "id-range 3";
	struct msg open = { .type = MSG_OPEN, .req = 9, .open = { .spec = spec, .type = type, .job = { .name = name } } };

	(void)state;
	say_as(R1, MAY_USER, "ada", NULL, hello_of(R1, ROLE_READER));
	say_as(R1, MAY_READ, "ada", NULL, open);
	assert_true(refused(R1));
	/* not with the name of a dataset beside the pipeline either, or in a pass of another job */
	open.open.dataset = dataset;
	say_as(R1, MAY_READ, "ada", NULL, open);
	assert_true(refused(R1));
	open.open.dataset = NULL;
	open.open.job.name = other;
	say_as(R1, MAY_USER, "ada", "train-*", open);
	assert_true(refused(R1));
	open.open.job.name = NULL;
	say_as(R1, MAY_USER, "ada", "train-*", open);
	assert_true(refused(R1));
	open.open.job.name = name;
	say_as(R1, MAY_USER, "ada", "train-*", open);
	assert_false(refused(R1));
}

static void
a_pass_of_another_job_is_not_resumed_under_the_name_of_an_own_one(void **state)
{
	static char spec[] = "range 3", type[] = "int", name[] = "train-1", secret[] = "salaries";
	struct msg open = { .type = MSG_OPEN, .req = 9, .open = { .spec = spec, .type = type, .job = { .name = secret,
		.epoch = 1, .order = ORDER_STABLE, .shards = 1, .min_workers = 1, .wait_ms = 500 } } };

	(void)state;
	say_as(W1, MAY_ANY, NULL, NULL, hello_of(W1, ROLE_WORKER));
	say_as(R2, MAY_ANY, "bob", NULL, hello_of(R2, ROLE_READER));
	say_as(R2, MAY_ANY, "bob", NULL, open);
	units(W1, got(W1, MSG_LIST)->req, 100);
	open.open.iteration = got(R2, MSG_JOB)->job.iteration;
	open.open.resume = true;
	open.open.job.name = name;
	say_as(R1, MAY_USER, "ada", "train-*", hello_of(R1, ROLE_READER));
	say_as(R1, MAY_USER, "ada", "train-*", open);
	assert_true(refused(R1));
	say_as(R1, MAY_USER, "ada", "*", open);
	assert_false(refused(R1));
}

static void
a_key_gets_64_shards_for_each_slot_and_an_admin_more(void **state)
{
	static char spec[] = "range 1000", type[] = "int", one[] = "one", two[] = "two";
	struct msg open = { .type = MSG_OPEN, .req = 9, .open = { .spec = spec, .type = type, .job = { .name = one,
		.epoch = 1, .order = ORDER_STABLE, .shards = 128 } } };

	(void)state;
	say_as(W1, MAY_ANY, NULL, NULL, hello_of(W1, ROLE_WORKER));
	say_as(R1, MAY_USER, "ada", NULL, hello_of(R1, ROLE_READER));
	say_as(R1, MAY_USER, "ada", NULL, open);
	assert_int_equal(got(R1, MSG_ERROR)->error.code, ST_TEMP);
	assert_non_null(strstr(got(R1, MSG_ERROR)->error.text, "too many shards: 128"));
	say_as(W2, MAY_ANY, NULL, NULL, hello_of(W2, ROLE_WORKER));
	say_as(R1, MAY_USER, "ada", NULL, open);
	assert_null(got(R1, MSG_ERROR));
	open.open.job.name = two;
	open.open.job.shards = 5000;
	say_as(R2, MAY_ANY, "bob", NULL, hello_of(R2, ROLE_READER));
	say_as(R2, MAY_ANY, "bob", NULL, open);
	assert_null(got(R2, MSG_ERROR));
}

static void
a_peer_id_belongs_to_the_key_that_said_hello(void **state)
{
	(void)state;
	say_as(R1, MAY_USER, "ada", NULL, hello_of(R1, ROLE_READER));
	assert_non_null(got(R1, MSG_WELCOME));
	say_as(R1, MAY_ANY, "bob", NULL, hello_of(R1, ROLE_READER));
	assert_true(refused(R1));
	say_as(R1, MAY_ANY, "bob", NULL, (struct msg){ .type = MSG_BYE, .req = 3 });
	assert_int_equal(n_sent, 0);
	say_as(R1, MAY_ANY, NULL, NULL, (struct msg){ .type = MSG_BEAT, .req = 3 });
	assert_int_equal(n_sent, 0);
	say_as(R1, MAY_USER, "ada", NULL, (struct msg){ .type = MSG_BEAT, .req = 3 });
	assert_non_null(got(R1, MSG_BEAT));
}

static unsigned
only_bob(void *arg, const char *user)
{
	(void)arg;
	return strcmp(user, "bob") == 0 ? MAY_USER : 0;
}

static uint64_t cut_peer;
static void
cut(void *arg, uint64_t peer)
{
	(void)arg;
	cut_peer = peer;
}

static void
who_is_struck_out_is_lost_at_once_and_cut(void **state)
{
	(void)state;
	say_as(R1, MAY_USER, "ada", NULL, hello_of(R1, ROLE_READER));
	say_as(R2, MAY_USER, "bob", NULL, hello_of(R2, ROLE_READER));
	say_as(W1, MAY_ANY, NULL, NULL, hello_of(W1, ROLE_WORKER));
	assert_int_equal(disp_review(d, now, only_bob, NULL, cut), 1);
	assert_int_equal(cut_peer, R1);
	assert_int_equal(disp_workers(d), 1);
	say_as(R1, 0, "ada", NULL, (struct msg){ .type = MSG_BEAT, .req = 3 });
	assert_null(got(R1, MSG_BEAT));
	/* a role that is not enough any more does it too */
	say_as(W2, MAY_WORK, "bob", NULL, hello_of(W2, ROLE_WORKER));
	assert_int_equal(disp_review(d, now, only_bob, NULL, cut), 1);
	assert_int_equal(cut_peer, W2);
}
