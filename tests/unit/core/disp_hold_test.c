/* SPDX-License-Identifier: MIT
 *
 * A stream that lost its worker while a reader with a position is away.
 */
#include "durable_kit.h"

#define EACH_SETUP setup
#define EACH_TEARDOWN teardown

static const uint64_t reader_a = 21, reader_b = 22, reader_b2 = 23;

static void
open_group(uint64_t peer, const char *group, bool checkpoint, enum job_share share)
{
	hello(peer, ROLE_READER);
	say(peer, (struct msg){ .type = MSG_OPEN, .req = 7, .open = { .spec = text("range"), .type = text("int"),
		.job = { .name = text("job"), .sharding = SHARD_DYNAMIC, .epoch = 1, .seeded = true, .seed = 1,
			.share = share, .group = text(group), .min_workers = 1, .wait_ms = 500, .checkpoint = checkpoint } } });
}

static void
worker_has(uint64_t worker, struct stream_key key)
{
	struct msg_stream_ref has = { .key = key };

	say(worker, (struct msg){ .type = MSG_HELLO, .req = 1, .hello = { .version = WIRE_VERSION, .role = ROLE_WORKER,
		.peer = worker, .name = text("n"), .endpoint = text("ep"), .slots = 2, .streams = { &has, 1 } } });
}

/* Reader b is away and may have elements of the stream; its worker is lost, and reader a says what it has. The
 * stream's key from now on. */
static struct stream_key
lost_while_away(enum job_share share)
{
	hello(W1, ROLE_WORKER);
	open_group(reader_a, "a", false, share);
	uint64_t list = got(W1, MSG_LIST)->req;
	open_group(reader_b, "b", true, share);
	units(W1, list, 100);
	struct stream_key key = got(W1, MSG_ASSIGN)->assign.key;
	uint64_t a = got(reader_a, MSG_JOB) ? got(reader_a, MSG_JOB)->job.seat : 1;
	say(W1, (struct msg){ .type = MSG_ASSIGNED, .req = 1, .assigned.key = key });
	say(reader_b, (struct msg){ .type = MSG_ACK, .req = 8, .ack = { .iteration = key.iteration, .seat = 2, .seq = 1 } });
	forget();
	disp_peer_gone(d, now, reader_b);
	disp_peer_gone(d, now, W1);
	collect();
	key.gen++;
	assert_non_null(got(reader_a, MSG_HOLD));
	say(reader_a, (struct msg){ .type = MSG_HELD, .held = { .key = key, .seat = a } });
	forget();
	hello(W2, ROLE_WORKER);
	collect();
	return key;
}

static bool
is_assigned(struct stream_key key)
{
	for (size_t i = 0; i < n_sent; i++)
		if (sent[i].m.type == MSG_ASSIGN && sent[i].m.assign.key.stream == key.stream &&
		    sent[i].m.assign.key.gen == key.gen)
			return true;
	return false;
}

static void
another_group_does_not_wait_for_it(void **state)
{
	(void)state;
	assert_true(is_assigned(lost_while_away(SHARE_LOSSLESS)));
}

static void
another_group_that_shares_a_window_does_not_wait_for_it(void **state)
{
	(void)state;
	assert_true(is_assigned(lost_while_away(SHARE_WINDOW)));
}

static const struct range gave_up = { 2, 6 };

/* The worker gives up elements of the group whose reader is away. */
static void
gives_up(struct stream_key key)
{
	say(W2, (struct msg){ .type = MSG_MISSED, .missed = { .key = key, .view = 1, .ranges = {
		(struct range *)(uintptr_t)&gave_up, 1 } } });
}

/* So many elements of group b are missed, as its readers hear. */
static uint64_t
missed(uint64_t peer)
{
	uint64_t n = 0;

	for (size_t i = 0; i < n_sent; i++)
		if (sent[i].peer == peer && sent[i].m.type == MSG_STREAMS)
			n = sent[i].m.streams.list.v[0].missed;
	return n;
}

/* Reader b is there again, with the seat that it had. */
static void
comes_back(struct stream_key key)
{
	hello(reader_b, ROLE_READER);
	say(reader_b, (struct msg){ .type = MSG_OPEN, .req = 9, .open = { .iteration = key.iteration, .seat = 2 } });
}

/* Whether the last STREAMS told reader b to take from a worker. */
static bool
may_take(void)
{
	bool may = false;

	for (size_t i = 0; i < n_sent; i++)
		if (sent[i].peer == reader_b && sent[i].m.type == MSG_STREAMS)
			may = sent[i].m.streams.list.v[0].worker == W2;
	return may;
}

static void
it_is_asked_when_it_comes_back_before_it_takes_from_the_worker(void **state)
{
	(void)state;
	struct stream_key key = lost_while_away(SHARE_LOSSLESS);

	say(W2, (struct msg){ .type = MSG_ASSIGNED, .req = 1, .assigned.key = key });
	comes_back(key);
	assert_non_null(got(reader_b, MSG_HOLD));
	assert_int_equal(got(reader_b, MSG_HOLD)->hold.key.gen, key.gen);
	assert_false(may_take());
}

static void
it_may_take_once_it_has_said_that_it_has_nothing(void **state)
{
	(void)state;
	struct stream_key key = lost_while_away(SHARE_LOSSLESS);

	say(W2, (struct msg){ .type = MSG_ASSIGNED, .req = 1, .assigned.key = key });
	comes_back(key);
	forget();
	say(reader_b, (struct msg){ .type = MSG_HELD, .held = { .key = key, .seat = 2 } });
	disp_tick(d, now);
	collect();
	assert_true(may_take());
	assert_null(got(W2, MSG_REVOKE));
}

/* The worker would keep for it what it has, and would have no room for what others need. */
static void
the_stream_is_made_again_if_it_has_some_when_it_comes_back(void **state)
{
	(void)state;
	struct stream_key key = lost_while_away(SHARE_LOSSLESS);
	struct range has = { 3, 5 };

	say(W2, (struct msg){ .type = MSG_ASSIGNED, .req = 1, .assigned.key = key });
	comes_back(key);
	say(reader_b, (struct msg){ .type = MSG_HELD, .held = { .key = key, .seat = 2, .ranges = { &has, 1 } } });
	assert_non_null(got(W2, MSG_REVOKE));
	assert_non_null(got(reader_a, MSG_HOLD));
}

static void
the_stream_is_made_again_if_it_acknowledges_some_when_it_comes_back(void **state)
{
	(void)state;
	struct stream_key key = lost_while_away(SHARE_LOSSLESS);
	struct range has = { 0, 5 };
	struct msg_stream_ranges list = { key.stream, { &has, 1 } };

	say(W2, (struct msg){ .type = MSG_ASSIGNED, .req = 1, .assigned.key = key });
	comes_back(key);
	say(reader_b, (struct msg){ .type = MSG_ACK, .req = 8, .ack = { .iteration = key.iteration, .seat = 2, .seq = 2,
		.list = { &list, 1 } } });
	assert_non_null(got(W2, MSG_REVOKE));
	assert_non_null(got(reader_a, MSG_HOLD));
}

static void
the_stream_is_made_again_if_its_position_has_some(void **state)
{
	(void)state;
	struct stream_key key = lost_while_away(SHARE_LOSSLESS);
	struct range has = { 0, 5 };
	struct msg_stream_ranges list = { key.stream, { &has, 1 } };

	say(W2, (struct msg){ .type = MSG_ASSIGNED, .req = 1, .assigned.key = key });
	hello(reader_b2, ROLE_READER);
	say(reader_b2, (struct msg){ .type = MSG_OPEN, .req = 9, .open = { .spec = text("range"), .type = text("int"),
		.job = { .name = text("job"), .sharding = SHARD_DYNAMIC, .epoch = 1, .seeded = true, .seed = 1,
			.share = SHARE_LOSSLESS, .group = text("b"), .min_workers = 1, .wait_ms = 500, .checkpoint = true },
		.resume = true, .iteration = key.iteration, .seat = 2, .have = { &list, 1 } } });
	assert_non_null(got(W2, MSG_REVOKE));
	assert_non_null(got(reader_a, MSG_HOLD));
}

/* The reader may have them: nobody knows before it has answered. */
static void
what_its_group_misses_is_counted_when_it_has_answered(void **state)
{
	(void)state;
	struct stream_key key = lost_while_away(SHARE_WINDOW);
	struct range has = { 3, 5 };

	say(W2, (struct msg){ .type = MSG_ASSIGNED, .req = 1, .assigned.key = key });
	gives_up(key);
	assert_null(got(W2, MSG_MISSED_OK));
	comes_back(key);
	gives_up(key);
	assert_null(got(W2, MSG_MISSED_OK));
	say(reader_b, (struct msg){ .type = MSG_HELD, .held = { .key = key, .seat = 2, .ranges = { &has, 1 } } });
	assert_non_null(got(W2, MSG_REVOKE));
	key.gen++;
	say(reader_b, (struct msg){ .type = MSG_HELD, .held = { .key = key, .seat = 2, .ranges = { &has, 1 } } });
	say(reader_a, (struct msg){ .type = MSG_HELD, .held = { .key = key, .seat = 1 } });
	assert_true(is_assigned(key));
	say(W2, (struct msg){ .type = MSG_ASSIGNED, .req = 1, .assigned.key = key });
	gives_up(key);
	assert_non_null(got(W2, MSG_MISSED_OK));
	disp_tick(d, now);
	collect();
	assert_int_equal(missed(reader_b), gave_up.end - gave_up.start - (has.end - has.start));
}

static void
what_its_group_misses_is_counted_when_it_is_given_up(void **state)
{
	(void)state;
	struct stream_key key = lost_while_away(SHARE_WINDOW);

	say(W2, (struct msg){ .type = MSG_ASSIGNED, .req = 1, .assigned.key = key });
	gives_up(key);
	assert_null(got(W2, MSG_MISSED_OK));
	hello(reader_b2, ROLE_READER);
	say(reader_b2, (struct msg){ .type = MSG_OPEN, .req = 9, .open = { .spec = text("range"), .type = text("int"),
		.job = { .name = text("job"), .sharding = SHARD_DYNAMIC, .epoch = 1, .seeded = true, .seed = 1,
			.share = SHARE_WINDOW, .group = text("b"), .min_workers = 1, .wait_ms = 500, .checkpoint = true },
		.resume = true, .iteration = key.iteration, .seat = 2 } });
	assert_non_null(got(W2, MSG_REVOKE)); /* made again from where the group begins to have missed nothing */
	key.gen++;
	say(reader_a, (struct msg){ .type = MSG_HELD, .held = { .key = key, .seat = 1 } });
	say(W2, (struct msg){ .type = MSG_ASSIGNED, .req = 1, .assigned.key = key });
	gives_up(key);
	assert_non_null(got(W2, MSG_MISSED_OK));
}

static void
it_is_asked_again_after_a_restart(void **state)
{
	(void)state;
	setup_durable();
	struct stream_key key = lost_while_away(SHARE_LOSSLESS);

	say(W2, (struct msg){ .type = MSG_ASSIGNED, .req = 1, .assigned.key = key });
	comes_back(key);
	restart();
	worker_has(W2, key);
	hello(reader_b, ROLE_READER);
	assert_non_null(got(reader_b, MSG_HOLD));
}

/* Nobody knows which elements it has, so none may go to another reader of its group. */
static void
who_takes_its_place_waits_for_it(void **state)
{
	(void)state;
	struct stream_key key = lost_while_away(SHARE_LOSSLESS);

	say(W2, (struct msg){ .type = MSG_ASSIGNED, .req = 1, .assigned.key = key });
	forget();
	open_group(reader_b2, "b", false, SHARE_LOSSLESS);
	assert_non_null(got(W2, MSG_REVOKE));
	assert_non_null(got(reader_b2, MSG_HOLD));
	assert_non_null(got(reader_a, MSG_HOLD));
}

/* While nobody is there, it waits for who may come back. */
static void
a_reader_of_another_group_that_comes_does_not_wait_for_it(void **state)
{
	(void)state;
	hello(W1, ROLE_WORKER);
	open_group(reader_b, "b", true, SHARE_LOSSLESS);
	units(W1, got(W1, MSG_LIST)->req, 100);
	struct stream_key key = got(W1, MSG_ASSIGN)->assign.key;
	say(W1, (struct msg){ .type = MSG_ASSIGNED, .req = 1, .assigned.key = key });
	say(reader_b, (struct msg){ .type = MSG_ACK, .req = 8, .ack = { .iteration = key.iteration, .seat = 1, .seq = 1 } });
	forget();
	disp_peer_gone(d, now, reader_b);
	disp_peer_gone(d, now, W1);
	key.gen++;
	hello(W2, ROLE_WORKER);
	collect();
	assert_false(is_assigned(key));
	open_group(reader_a, "a", false, SHARE_LOSSLESS);
	assert_true(is_assigned(key));
}

static void
that_it_was_not_asked_is_known_after_a_restart(void **state)
{
	(void)state;
	setup_durable();
	struct stream_key key = lost_while_away(SHARE_LOSSLESS);

	say(W2, (struct msg){ .type = MSG_ASSIGNED, .req = 1, .assigned.key = key });
	restart();
	worker_has(W2, key);
	forget();
	open_group(reader_b2, "b", false, SHARE_LOSSLESS);
	assert_non_null(got(W2, MSG_REVOKE));
}

/* So it is made again for nobody, and its worker may never come so far as to say its end once more. */
static void
a_stream_of_which_the_rest_is_missed_is_finished(void **state)
{
	struct range most = { 0, 90 }, rest = { 95, 100 }, all = { 0, 100 };
	struct stream_key key;

	(void)state;
	hello(W1, ROLE_WORKER);
	open_group(reader_a, "a", false, SHARE_WINDOW);
	uint64_t list = got(W1, MSG_LIST)->req;
	open_group(reader_b, "b", false, SHARE_WINDOW);
	units(W1, list, 100);
	key = got(W1, MSG_ASSIGN)->assign.key;
	say(W1, (struct msg){ .type = MSG_ASSIGNED, .req = 1, .assigned.key = key });
	say(W1, (struct msg){ .type = MSG_RESTART, .restart = { .key = key, .offset = 95, .window = 2 } });
	say(W1, (struct msg){ .type = MSG_STREAM_END, .req = 1, .stream_end = { .key = key, .length = 100, .made = 100 } });
	struct range some[] = { most, rest };
	struct msg_stream_ranges a = { key.stream, { some, 2 } }, b = { key.stream, { &all, 1 } };
	say(reader_a, (struct msg){ .type = MSG_ACK, .req = 8, .ack = { .iteration = key.iteration, .seat = 1, .seq = 1,
		.list = { &a, 1 } } });
	say(reader_b, (struct msg){ .type = MSG_ACK, .req = 8, .ack = { .iteration = key.iteration, .seat = 2, .seq = 1,
		.list = { &b, 1 } } });
	hello(W2, ROLE_WORKER);
	disp_peer_gone(d, now, W1);
	key.gen++;
	say(reader_a, (struct msg){ .type = MSG_HELD, .held = { .key = key, .seat = 1 } });
	say(reader_b, (struct msg){ .type = MSG_HELD, .held = { .key = key, .seat = 2 } });
	assert_true(is_assigned(key));
	disp_peer_gone(d, now, W2);
	forget();
	disp_tick(d, now);
	collect();
	assert_non_null(got(reader_a, MSG_DONE));
	assert_int_equal(got(reader_a, MSG_DONE)->done.missed, 5);
}
