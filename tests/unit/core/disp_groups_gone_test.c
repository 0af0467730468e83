/* SPDX-License-Identifier: MIT
 *
 * Groups of a shared job whose readers are gone.
 */
#include "durable_kit.h"

#define EACH_SETUP setup
#define EACH_TEARDOWN teardown

static const uint64_t readers[] = { 21, 22, 23 };

static void
open_group(uint64_t peer, const char *group)
{
	hello(peer, ROLE_READER);
	say(peer, (struct msg){ .type = MSG_OPEN, .req = 7, .open = { .spec = text("range"), .type = text("int"),
		.job = { .name = text("job"), .sharding = SHARD_DYNAMIC, .epoch = 1, .seeded = true, .seed = 1,
			.share = SHARE_LOSSLESS, .group = text(group), .min_workers = 1, .wait_ms = 500 } } });
}

/* Beats come from the worker until then; gives a bit for each view whose end it was told. */
static unsigned
told_until(int64_t end)
{
	unsigned told = 0;

	while (now < end) {
		now += SEC;
		say(W1, (struct msg){ .type = MSG_BEAT });
		disp_tick(d, now);
		collect();
		for (size_t k = 0; k < n_sent; k++)
			if (sent[k].m.type == MSG_READER_GONE && sent[k].m.reader_gone.ended)
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
	assert_int_equal(told_until(now + 40 * SEC), 1 << 1 | 1 << 2);
}
