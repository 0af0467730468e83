/* SPDX-License-Identifier: MIT
 *
 * How many OPENs of one key may wait.
 */
#include "dispatcher_kit.h"

#include "core/disp/disp_pending.h"

#define EACH_SETUP setup
#define EACH_TEARDOWN teardown

enum { FIRST = 1000 };

static void
say_as(uint64_t peer, unsigned may, const char *user, struct msg *m)
{
	struct disp_who who = { may, user, NULL };

	say_of(peer, &who, m);
}

/* A reader that waits until there are so many workers. */
static void
open_as(uint64_t peer, unsigned may, const char *user, uint32_t workers, struct ranges_list have)
{
	struct msg hello = { .type = MSG_HELLO, .req = 7, .hello = { .version = WIRE_VERSION, .role = ROLE_READER,
		.peer = peer, .name = text("n"), .slots = 1 } };
	struct msg open = { .type = MSG_OPEN, .req = 9, .open = { .spec = text("range"), .type = text("int"),
		.job = { .name = text("job"), .sharding = SHARD_DYNAMIC, .epoch = 1, .seeded = true, .seed = 1,
			.min_workers = workers, .wait_ms = 60000 }, .have = have } };

	say_as(peer, may, user, &hello);
	say_as(peer, may, user, &open);
}

static bool
too_many(uint64_t peer)
{
	const struct msg *e = got(peer, MSG_ERROR);

	assert_true(!e || (e->error.code == ST_TEMP && strstr(e->error.text, "of one key wait")));
	return e;
}

static void
one_key_has_64_readers_that_wait_for_workers(void **state)
{
	struct ranges_list none = { 0 };
	uint64_t r = FIRST;

	(void)state;
	hello(W1, ROLE_WORKER);
	for (; r < FIRST + PENDING_OPENS; r++) {
		open_as(r, MAY_USER, "ada", 2, none);
		assert_false(too_many(r));
		if (r == FIRST)
			units(W1, got(W1, MSG_LIST)->req, 1000);
	}
	open_as(r, MAY_USER, "ada", 2, none);
	assert_true(too_many(r));
	assert_non_null(strstr(got(r, MSG_ERROR)->error.text, ": 64"));
	/* another key, an admin's and none are not concerned */
	open_as(r + 1, MAY_USER, "bob", 2, none);
	open_as(r + 2, MAY_ANY, "eve", 2, none);
	open_as(r + 3, MAY_ANY, NULL, 2, none);
	for (unsigned i = 1; i < 4; i++)
		assert_false(too_many(r + i));
	hello(W2, ROLE_WORKER);
	assert_non_null(got(FIRST, MSG_JOB));
	assert_non_null(got(r - 1, MSG_JOB));
	open_as(r, MAY_USER, "ada", 2, none);
	assert_non_null(got(r, MSG_JOB));
}

static void
readers_that_come_before_the_first_worker_are_not_counted(void **state)
{
	struct ranges_list none = { 0 };

	(void)state;
	for (uint64_t r = FIRST; r < FIRST + 2 * PENDING_OPENS; r++) {
		open_as(r, MAY_USER, "ada", 1, none);
		assert_false(too_many(r));
	}
	hello(W1, ROLE_WORKER);
	units(W1, got(W1, MSG_LIST)->req, 1000);
	assert_non_null(got(FIRST + 2 * PENDING_OPENS - 1, MSG_JOB));
}

static void
what_readers_of_one_key_have_had_is_counted_in_bytes(void **state)
{
	static struct range had[50000];
	struct msg_stream_ranges of[25] = { 0 };
	struct ranges_list have = { of, 25 };

	(void)state;
	for (uint64_t i = 0; i < 50000; i++)
		had[i] = (struct range){ 2 * i, 2 * i + 1 };
	for (uint32_t i = 0; i < 25; i++)
		of[i] = (struct msg_stream_ranges){ .stream = i, .ranges = { had, 50000 } };
	assert_true(pending_bytes(&have) > PENDING_BYTES / 2);
	open_as(FIRST, MAY_USER, "ada", 1, have);
	assert_false(too_many(FIRST));
	open_as(FIRST + 1, MAY_USER, "ada", 1, have);
	assert_true(too_many(FIRST + 1));
	open_as(FIRST + 2, MAY_USER, "ada", 1, (struct ranges_list){ 0 });
	open_as(FIRST + 3, MAY_USER, "bob", 1, have);
	assert_false(too_many(FIRST + 2) || too_many(FIRST + 3));
	hello(W1, ROLE_WORKER); /* they begin */
	units(W1, got(W1, MSG_LIST)->req, 1000);
	open_as(FIRST + 1, MAY_USER, "ada", 1, have);
	assert_false(too_many(FIRST + 1));
}
