/* SPDX-License-Identifier: MIT
 *
 * Groups of a shared job whose readers are gone.
 */
#include "durable_kit.h"

#define EACH_SETUP setup
#define EACH_TEARDOWN teardown

static const uint64_t readers[] = { 21, 22, 23 };

static void
open_pass(uint64_t peer, const char *group, uint32_t epoch)
{
	hello(peer, ROLE_READER);
	say(peer, (struct msg){ .type = MSG_OPEN, .req = 7, .open = { .spec = text("range"), .type = text("int"),
		.job = { .name = text("job"), .sharding = SHARD_DYNAMIC, .epoch = epoch, .seeded = true, .seed = 1,
			.share = SHARE_LOSSLESS, .group = text(group), .min_workers = 1, .wait_ms = 500 } } });
}

static void
open_group(uint64_t peer, const char *group)
{
	open_pass(peer, group, 1);
}

/* Beats come from the worker until then, and from the first reader while it reads that pass; gives a bit for
 * each view of the pass whose end the worker was told. */
static unsigned
told_until(int64_t end, uint64_t iteration)
{
	unsigned told = 0;

	while (now < end) {
		now += SEC;
		if (iteration)
			say(readers[0], (struct msg){ .type = MSG_BEAT });
		say(W1, (struct msg){ .type = MSG_BEAT });
		disp_tick(d, now);
		collect();
		for (size_t k = 0; k < n_sent; k++)
			if (sent[k].m.type == MSG_READER_GONE && sent[k].m.reader_gone.ended &&
			    sent[k].m.reader_gone.key.iteration == iteration)
				told |= 1u << sent[k].m.reader_gone.view;
	}
	return told;
}

static void
groups_that_end_without_readers_since_a_restart_are_all_told(void **state)
{
	(void)state;
	setup_durable();
	hello(W1, ROLE_WORKER);
	open_group(readers[0], "a");
	uint64_t list = got(W1, MSG_LIST)->req;
	open_group(readers[1], "b");
	open_group(readers[2], "c");
	units(W1, list, 100);
	struct stream_key key = got(W1, MSG_ASSIGN)->assign.key;
	say(W1, (struct msg){ .type = MSG_ASSIGNED, .req = 1, .assigned.key = key });
	say(readers[1], (struct msg){ .type = MSG_BYE });
	say(readers[2], (struct msg){ .type = MSG_BYE });
	assert_int_equal(rows_of(ROW_READER), 1);
	restart();
	struct msg_stream_ref has = { .key = key };
	say(W1, (struct msg){ .type = MSG_HELLO, .req = 1, .hello = { .version = WIRE_VERSION, .role = ROLE_WORKER,
		.peer = W1, .name = text("n"), .endpoint = text("ep"), .slots = 2, .streams = { &has, 1 } } });
	assert_int_equal(told_until(now + 40 * SEC, key.iteration), 1 << 1 | 1 << 2);
}

/* A pass of 10 elements, read by two groups; the key of its stream. */
static struct stream_key
first_pass(void)
{
	hello(W1, ROLE_WORKER);
	open_group(readers[0], "a");
	uint64_t list = got(W1, MSG_LIST)->req;
	open_group(readers[1], "b");
	units(W1, list, 10);
	struct stream_key key = got(W1, MSG_ASSIGN)->assign.key;
	say(W1, (struct msg){ .type = MSG_ASSIGNED, .req = 1, .assigned.key = key });
	say(W1, (struct msg){ .type = MSG_STREAM_END, .req = 1, .stream_end = { .key = key, .length = 10, .made = 10 } });
	return key;
}

/* The reader has all of the pass, and goes on to the next one. */
static void
has_all(uint64_t peer, uint64_t seat, struct stream_key key)
{
	struct range all = { 0, 10 };
	struct msg_stream_ranges list = { key.stream, { &all, 1 } };

	say(peer, (struct msg){ .type = MSG_ACK, .req = 8, .ack = { .iteration = key.iteration, .seat = seat, .seq = 1,
		.list = { &list, 1 } } });
	say(peer, (struct msg){ .type = MSG_CLOSE, .req = 9, .close = { .iteration = key.iteration, .seat = seat,
		.seq = 2 } });
	assert_non_null(got(peer, MSG_CLOSED));
}

/* The number of the pass. */
static uint64_t
second_pass_begins(void)
{
	struct stream_key key;

	open_pass(readers[0], "a", 2);
	units(W1, got(W1, MSG_LIST)->req, 10);
	key = got(W1, MSG_ASSIGN)->assign.key;
	say(W1, (struct msg){ .type = MSG_ASSIGNED, .req = 1, .assigned.key = key });
	return key.iteration;
}

static void
a_group_that_does_not_come_to_the_next_pass_ends_there(void **state)
{
	(void)state;
	struct stream_key key = first_pass();

	has_all(readers[0], 1, key);
	has_all(readers[1], 2, key);
	told_until(now + SEC, 0);
	assert_int_equal(told_until(now + 40 * SEC, second_pass_begins()), 1 << 1);
}

/* Its seat is kept: as the only one there was it kept nobody waiting. */
static void
a_group_whose_reader_is_silent_in_an_earlier_pass_ends_in_the_next_one(void **state)
{
	(void)state;
	struct stream_key key = first_pass();

	has_all(readers[0], 1, key);
	told_until(now + 20 * SEC, 0);
	uint64_t second = second_pass_begins();
	assert_int_equal(told_until(now + 40 * SEC, second), 1 << 1);
}

static void
a_silent_reader_may_come_to_the_next_pass_for_a_while(void **state)
{
	(void)state;
	struct stream_key key = first_pass();

	has_all(readers[0], 1, key);
	told_until(now + 20 * SEC, 0);
	uint64_t second = second_pass_begins();
	assert_int_equal(told_until(now + 5 * SEC, second), 0);
}
