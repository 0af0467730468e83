/* SPDX-License-Identifier: MIT
 *
 * Groups that share a job, at the dispatcher. (Whole passes: tests/sim.)
 */
#include "dispatcher_kit.h"

#define EACH_SETUP setup
#define EACH_TEARDOWN teardown

enum { R3 = 23, R4 = 24 };

static void
open_in(uint64_t peer, const char *group, uint64_t epoch)
{
	hello(peer, ROLE_READER);
	say(peer, (struct msg){ .type = MSG_OPEN, .req = 7, .open = { .job.name = text("feats"), .spec = text("range"),
		.type = text("int"), .job.sharding = SHARD_DYNAMIC, .job.epoch = epoch, .job.share = SHARE_LOSSLESS,
		.job.group = text(group), .job.min_workers = 1, .job.wait_ms = 500 } });
}

static void
dies(uint64_t peer)
{
	forget();
	disp_peer_gone(d, now += MS, peer);
	collect();
}

/* The worker keeps the elements for each group until it is told that the group has ended. */
static void
every_group_that_never_came_to_a_pass_is_told_of(void **state)
{
	struct stream_key key = { 0, 0, 1 };
	unsigned told = 0;

	(void)state;
	hello(W1, ROLE_WORKER);
	open_in(R1, "a", 1);
	units(W1, got(W1, MSG_LIST)->req, 1000);
	open_in(R2, "b", 1);
	open_in(R3, "c", 1);
	dies(R1);
	dies(R2);
	open_in(R4, "c", 2); /* the other groups belong to this pass, too */
	units(W1, got(W1, MSG_LIST)->req, 1000);
	key.iteration = got(R4, MSG_JOB)->job.iteration;
	say(W1, (struct msg){ .type = MSG_ASSIGNED, .assigned.key = key });
	for (unsigned i = 0; i < 12; i++) {
		struct msg_gone_ok ok[8];
		size_t n = 0;

		say(W1, (struct msg){ .type = MSG_BEAT });
		say(R3, (struct msg){ .type = MSG_BEAT });
		say(R4, (struct msg){ .type = MSG_BEAT });
		wait_for(3 * SEC);
		for (size_t k = 0; k < n_sent && n < 8; k++) {
			const struct msg_reader_gone *g = &sent[k].m.reader_gone;

			if (sent[k].m.type != MSG_READER_GONE || g->key.iteration != key.iteration)
				continue;
			assert_true(g->ended);
			told |= 1u << g->view;
			ok[n++] = (struct msg_gone_ok){ .key = g->key, .seat = g->seat, .view = g->view, .ended = true };
		}
		for (size_t k = 0; k < n; k++)
			say(W1, (struct msg){ .type = MSG_GONE_OK, .gone_ok = ok[k] });
	}
	assert_int_equal(told, 3);
}
