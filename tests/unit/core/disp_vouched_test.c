/* SPDX-License-Identifier: MIT
 *
 * Pipelines that may run programs: those that an admin, a key with the option exec, or
 * somebody without a key gave.
 */
#include "durable_kit.h"

#define EACH_SETUP setup
#define EACH_TEARDOWN teardown

enum { EXEC = MAY_USER | MAY_EXEC };

static void
say_as(uint64_t peer, unsigned may, const char *user, struct msg m)
{
	struct disp_who who = { may, user, NULL };

	say_of(peer, &who, &m);
}

static void
hello_as(uint64_t peer, unsigned may, const char *user, uint32_t role)
{
	say_as(peer, may, user, (struct msg){ .type = MSG_HELLO, .req = 7, .hello = { .version = WIRE_VERSION,
		.role = role, .peer = peer, .endpoint = text("ep"), .slots = 1 } });
}

/* A job with this spec, of a new reader; whether its worker may run programs for it. */
static bool
programs_of(uint64_t reader, unsigned may, const char *user, const char *spec)
{
	hello_as(reader, may, user, ROLE_READER);
	say_as(reader, may, user, (struct msg){ .type = MSG_OPEN, .req = 8, .open = { .spec = text(spec), .type = text("int"),
		.job = { .sharding = SHARD_DYNAMIC, .epoch = 1, .min_workers = 1, .wait_ms = 500 } } });
	const struct msg *list = got(W1, MSG_LIST);
	assert_non_null(list);
	bool programs = list->list.programs;
	struct split s = { .kind = SPLIT_RANGE, .cuttable = true, .count = 1000, .times = 1, .weight = 1000 };
	say_as(W1, MAY_WORK, "w", (struct msg){ .type = MSG_UNITS, .req = list->req, .units = { .listing = 1, .last = true,
		.times = 1, .units = { &s, 1, 1 } } });
	const struct msg *assign = got(W1, MSG_ASSIGN);
	assert_non_null(assign);
	assert_int_equal(assign->assign.programs, programs);
	disp_peer_gone(d, now, reader); /* its job is over */
	wait_for(61 * SEC);
	hello_as(W1, MAY_WORK, "w", ROLE_WORKER);
	return programs;
}

static void
start(void)
{
	setup_durable();
	hello_as(W1, MAY_WORK, "w", ROLE_WORKER);
}

static void
programs_run_for_admins_for_keys_with_exec_and_where_nobody_is_asked(void **state)
{
	(void)state;
	start();
	assert_true(programs_of(101, MAY_ANY, NULL, "a"));
	assert_true(programs_of(102, EXEC, "ada", "b"));
	assert_true(programs_of(103, MAY_ADMIN, "ada", "c"));
	assert_false(programs_of(104, MAY_USER, "bob", "d"));
	assert_false(programs_of(105, MAY_USER | MAY_WORK, "bob", "e"));
}

static void
register_as(uint64_t peer, unsigned may, const char *user, const char *spec)
{
	hello_as(peer, may, user, ROLE_TOOL);
	say_as(peer, may, user, (struct msg){ .type = MSG_REGISTER, .req = 8, .reg = { .id = text("name"), .spec = text(spec),
		.type = text("int") } });
	assert_non_null(got(peer, MSG_DATASET));
}

/* Whether the dataset `name` may run programs, for a reader that may only read. */
static bool
named(uint64_t reader)
{
	hello_as(reader, MAY_READ, "eve", ROLE_READER);
	say_as(reader, MAY_READ, "eve", (struct msg){ .type = MSG_OPEN, .req = 8, .open = { .dataset = text("name"),
		.job = { .sharding = SHARD_DYNAMIC, .epoch = 1, .min_workers = 1, .wait_ms = 500 } } });
	const struct msg *list = got(W1, MSG_LIST);
	assert_non_null(list);
	bool programs = list->list.programs;
	disp_peer_gone(d, now, reader);
	wait_for(61 * SEC);
	hello_as(W1, MAY_WORK, "w", ROLE_WORKER);
	return programs;
}

static void
a_dataset_keeps_who_vouched_for_it_and_later_ones_may_do_so_too(void **state)
{
	(void)state;
	start();
	register_as(101, MAY_USER, "bob", "a");
	assert_false(named(201));
	register_as(102, EXEC, "ada", "a");
	register_as(101, MAY_USER, "bob", "a");
	assert_true(named(202));
	restart();
	hello_as(W1, MAY_WORK, "w", ROLE_WORKER);
	assert_true(named(203));
}

static unsigned ada_may;

static unsigned
may(void *arg, const char *user)
{
	(void)arg;
	return !strcmp(user, "ada") ? ada_may : MAY_USER | MAY_WORK;
}

static void
cut(void *arg, uint64_t peer)
{
	(void)arg, (void)peer;
}

static void
a_key_that_loses_exec_has_vouched_in_vain(void **state)
{
	(void)state;
	start();
	register_as(102, EXEC, "ada", "a");
	ada_may = EXEC;
	disp_review(d, now, may, NULL, cut);
	assert_true(named(201));
	ada_may = MAY_USER;
	disp_review(d, now, may, NULL, cut);
	assert_false(named(202));
	restart();
	hello_as(W1, MAY_WORK, "w", ROLE_WORKER);
	assert_false(named(203));
	register_as(103, MAY_ANY, NULL, "a");
	disp_review(d, now, may, NULL, cut);
	assert_true(named(204));
}
