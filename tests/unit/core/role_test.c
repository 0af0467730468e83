/* SPDX-License-Identifier: MIT
 *
 * Each role with each message, and what else depends on whose a message is.
 */
#include "dispatcher_kit.h"

#define EACH_SETUP setup
#define EACH_TEARDOWN teardown

enum { READ = MAY_READ, REG = MAY_REGISTER, WORK = MAY_WORK, ADMIN = MAY_ADMIN };

/* By hand, besides the tables of lib/wire: a slip there shows here. */
static const unsigned said_by[MSG_TYPES] = {
	[MSG_HELLO] = READ | REG | WORK | ADMIN, [MSG_BEAT] = READ | REG | WORK | ADMIN,
	[MSG_BYE] = READ | REG | WORK | ADMIN, [MSG_STATUS] = READ | REG | WORK | ADMIN,
	[MSG_REGISTER] = REG | ADMIN, [MSG_GET] = READ | REG | ADMIN, [MSG_OPEN] = READ | REG | ADMIN,
	[MSG_HELD] = READ | REG | ADMIN, [MSG_ACK] = READ | REG | ADMIN, [MSG_CLOSE] = READ | REG | ADMIN,
	[MSG_REACHED] = READ | REG | ADMIN, [MSG_ERROR] = WORK | ADMIN, [MSG_UNITS] = WORK | ADMIN,
	[MSG_ASSIGNED] = WORK | ADMIN, [MSG_REVOKED] = WORK | ADMIN, [MSG_SPLIT_REQ] = WORK | ADMIN,
	[MSG_RESTART] = WORK | ADMIN, [MSG_STREAM_END] = WORK | ADMIN, [MSG_HANDOVER] = WORK | ADMIN,
	[MSG_GONE_OK] = WORK | ADMIN, [MSG_YIELDED] = WORK | ADMIN, [MSG_FAULTS] = WORK | ADMIN,
	[MSG_FORGET] = ADMIN, [MSG_INVITE] = ADMIN, [MSG_JOIN] = MAY_GUEST,
};

static void
say_as(uint64_t peer, unsigned may, const char *user, const char *jobs, struct msg m)
{
	struct disp_who who = { may, user, jobs };
	struct msg copy;

	forget();
	now += MS;
	msg_copy(&copy, &m);
	disp_message_of(d, now, peer, &who, &copy);
	msg_clear(&copy);
	collect();
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
	static char spec[] = "range 3", type[] = "int", name[] = "train-1", other[] = "test";
	struct msg open = { .type = MSG_OPEN, .req = 9, .open = { .spec = spec, .type = type, .job = { .name = name } } };

	(void)state;
	say_as(R1, MAY_USER, "ada", NULL, hello_of(R1, ROLE_READER));
	say_as(R1, MAY_READ, "ada", NULL, open);
	assert_true(refused(R1));
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
