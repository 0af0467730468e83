/* SPDX-License-Identifier: MIT
 *
 * Jobs that choose their workers by tag and by host.
 */
#include "core/disp/disp_inner.h"
#include "dispatcher_kit.h"

#include "base/clock.h"

#define EACH_SETUP setup
#define EACH_TEARDOWN teardown

static void
worker(uint64_t peer, const char *host, const char *tag)
{
	char *tags[] = { text(tag) };

	say(peer, (struct msg){ .type = MSG_HELLO, .req = 1, .hello = { .version = WIRE_VERSION, .role = ROLE_WORKER,
		.peer = peer, .name = text("n"), .endpoint = text("ep"), .host = text(host), .slots = 2,
		.tags = { tags, tag ? 1 : 0 } } });
}

static void
reader(uint64_t peer, const char *host)
{
	say(peer, (struct msg){ .type = MSG_HELLO, .req = 1, .hello = { .version = WIRE_VERSION, .role = ROLE_READER,
		.peer = peer, .name = text("r"), .host = text(host) } });
}

static void
open_at(uint64_t peer, const char *job, int target, const char *where, int sharding)
{
	say(peer, (struct msg){ .type = MSG_OPEN, .req = 7, .open = { .job.name = text(job), .spec = text("range"),
		.type = text("int"), .job.sharding = sharding, .job.epoch = 1, .job.target = target, .job.where = text(where),
		.job.min_workers = 1, .job.wait_ms = 500 } });
}

/* Units for whoever was asked for them. */
static uint64_t
list(uint64_t count)
{
	for (size_t i = 0; i < n_sent; i++)
		if (sent[i].m.type == MSG_LIST) {
			uint64_t peer = sent[i].peer;

			units(peer, sent[i].m.req, count);
			return peer;
		}
	return 0;
}

static size_t
assigns(uint64_t peer)
{
	size_t n = 0;

	for (size_t i = 0; i < n_sent; i++)
		n += sent[i].peer == peer && sent[i].m.type == MSG_ASSIGN;
	return n;
}

static void
only_tagged_workers_are_given_streams(void **state)
{
	(void)state;
	worker(W1, "h", NULL);
	worker(W2, "h", "gpu");
	reader(R1, "h");
	open_at(R1, "", TARGET_AUTO, "gpu", SHARD_DYNAMIC);
	assert_int_equal(list(1000000), W2);
	assert_int_equal(assigns(W1), 0);
	assert_int_equal(assigns(W2), 2); /* a stream for each of its slots, and none for the other's */
	say(W2, (struct msg){ .type = MSG_BYE, .req = 3 });
	wait_for(10 * SEC); /* the stream waits */
	assert_int_equal(assigns(W1), 0);
	worker(13, "h", "gpu");
	assert_int_equal(assigns(13), 2);
}

static void
a_refused_tag_counts_too(void **state)
{
	(void)state;
	worker(W1, "h", "old");
	worker(W2, "h", NULL);
	reader(R1, "h");
	open_at(R1, "", TARGET_ANY, "!old", SHARD_OFF);
	assert_int_equal(list(10), W2);
	assert_int_equal(assigns(W1), 0);
	assert_int_equal(assigns(W2), 1);
}

static void
shards_are_as_many_as_slots_that_fit(void **state)
{
	(void)state;
	worker(W1, "h", NULL);
	worker(W2, "h", "gpu");
	worker(13, "g", "gpu");
	reader(R1, "h");
	open_at(R1, "", TARGET_LOCAL, "gpu", SHARD_DATA);
	assert_int_equal(list(100), W2);
	assert_int_equal(got(R1, MSG_JOB)->job.opts.shards, 2);
	assert_int_equal(assigns(W2), 2);
	assert_int_equal(assigns(W1) + assigns(13), 0);
	reader(R2, "h");
	open_at(R2, "", TARGET_AUTO, "gpu", SHARD_DATA);
	list(100);
	assert_int_equal(got(R2, MSG_JOB)->job.opts.shards, 4);
	assert_int_equal(assigns(W1), 0);
}

static void
nobody_fits(void **state)
{
	(void)state;
	worker(W1, "h", NULL);
	worker(W2, "h", "old");
	worker(13, "g", NULL);
	reader(R1, "h");
	open_at(R1, "", TARGET_AUTO, "gpu", SHARD_DYNAMIC);
	assert_null(got(R1, MSG_ERROR));
	wait_for(SEC);
	assert_int_equal(got(R1, MSG_ERROR)->error.code, ST_UNAVAIL);
	assert_string_equal(got(R1, MSG_ERROR)->error.text, "0 of 3 workers have tag gpu");
	assert_non_null(strstr(got(R1, MSG_ERROR)->error.help, "dsvc-work --tag gpu with the same dispatcher"));
	open_at(R1, "", TARGET_LOCAL, "!old,gpu", SHARD_DYNAMIC);
	wait_for(SEC);
	assert_string_equal(got(R1, MSG_ERROR)->error.text,
		"0 of 3 workers have tag gpu and not tag old and are on the reader's host");
	open_at(R1, "", TARGET_AUTO, "gpu,", SHARD_DYNAMIC);
	assert_int_equal(got(R1, MSG_ERROR)->error.code, ST_USAGE);
}

static void
readers_of_a_job_agree_on_places(void **state)
{
	(void)state;
	worker(W1, "h", "gpu");
	reader(R1, "h");
	reader(R2, "h");
	open_at(R1, "job", TARGET_AUTO, "gpu,!old", SHARD_DYNAMIC);
	list(1000);
	open_at(R2, "job", TARGET_AUTO, "gpu", SHARD_DYNAMIC);
	assert_int_equal(got(R2, MSG_ERROR)->error.code, ST_USAGE);
	assert_non_null(strstr(got(R2, MSG_ERROR)->error.text, "target=auto where=gpu,!old; you asked for"));
	open_at(R2, "job", TARGET_ANY, "gpu,!old", SHARD_DYNAMIC);
	assert_non_null(strstr(got(R2, MSG_ERROR)->error.text, "target=any where=gpu,!old"));
	open_at(R2, "job", TARGET_AUTO, "!old,gpu,gpu", SHARD_DYNAMIC); /* means the same */
	assert_non_null(got(R2, MSG_JOB));
}

/* Says that the worker has begun all streams it was given. */
static void
begin_all(uint64_t peer)
{
	struct stream_key keys[8];
	size_t n = 0;

	for (size_t i = 0; i < n_sent; i++)
		if (sent[i].peer == peer && sent[i].m.type == MSG_ASSIGN)
			keys[n++] = sent[i].m.assign.key;
	for (size_t i = 0; i < n; i++)
		say(peer, (struct msg){ .type = MSG_ASSIGNED, .assigned = { keys[i] } });
}

/* Each of two hosts has a worker and a reader. */
static void
a_local_reader_is_told_of_its_own_host(void **state)
{
	struct stream_key held = { 0 };

	(void)state;
	worker(W1, "h", NULL);
	worker(W2, "g", NULL);
	reader(R1, "h");
	reader(R2, "g");
	open_at(R1, "job", TARGET_LOCAL, NULL, SHARD_OFF);
	assert_int_equal(list(10), W1);
	assert_int_equal(assigns(W1), 1);
	assert_int_equal(assigns(W2), 0); /* nobody on its host reads */
	begin_all(W1);
	open_at(R2, "job", TARGET_LOCAL, NULL, SHARD_OFF);
	assert_int_equal(assigns(W2), 1); /* now somebody does */
	assert_int_equal(got(R2, MSG_STREAMS)->streams.list.v[0].state, STREAM_RUNNING);
	assert_int_equal(got(R2, MSG_STREAMS)->streams.list.v[0].worker, 0);
	begin_all(W2);
	assert_int_equal(got(R2, MSG_STREAMS)->streams.list.v[0].worker, W2);
	assert_true(got(R2, MSG_STREAMS)->streams.list.v[0].local);
	assert_int_equal(got(R1, MSG_STREAMS)->streams.list.v[0].worker, 0);
	/* The last reader of a host leaves: the other host's worker takes over. */
	say(R1, (struct msg){ .type = MSG_BYE, .req = 3 });
	assert_non_null(got(W1, MSG_REVOKE));
	held = got(R2, MSG_HOLD)->hold.key;
	say(R2, (struct msg){ .type = MSG_HELD, .held = { held, 2, { 0 } } });
	assert_int_equal(assigns(W2), 1);
	assert_int_equal(got(W2, MSG_ASSIGN)->assign.key.gen, 2);
}

static void
a_local_reader_waits_for_a_worker_of_its_host(void **state)
{
	(void)state;
	worker(W1, "h", NULL);
	reader(R1, "h");
	reader(R2, "g");
	open_at(R1, "job", TARGET_LOCAL, NULL, SHARD_DYNAMIC);
	list(1000);
	open_at(R2, "job", TARGET_LOCAL, NULL, SHARD_DYNAMIC);
	assert_null(got(R2, MSG_JOB));
	wait_for(SEC);
	assert_string_equal(got(R2, MSG_ERROR)->error.text, "0 of 1 workers are on the reader's host");
	open_at(R2, "job", TARGET_LOCAL, NULL, SHARD_DYNAMIC);
	worker(W2, "g", NULL);
	assert_non_null(got(R2, MSG_JOB));
}

/* Slots of the reader's host come first, as long as some are free. */
static void
auto_begins_at_home(void **state)
{
	(void)state;
	for (uint64_t i = 0; i < 20; i++)
		worker(100 + i, "far", NULL);
	worker(W1, "h", NULL);
	reader(R1, "h");
	open_at(R1, "", TARGET_AUTO, NULL, SHARD_DYNAMIC);
	assert_int_equal(list(2), W1);
	assert_int_equal(assigns(W1), 1);
	reader(R2, "nowhere");
	open_at(R2, "", TARGET_AUTO, NULL, SHARD_DYNAMIC);
	assert_in_range(list(2), 100, 119);
}

/* Ten thousand workers, one in a thousand with the tag: all of those are used, alike, and
 * finding them costs about what it costs without a tag. */
static void
a_rare_tag_is_found(void **state)
{
	static const char *const wheres[] = { NULL, "rare" };
	int64_t took[2], t;
	struct msg m;
	uint64_t peer;
	size_t n[2] = { 0 }, wrong = 0;

	(void)state;
	for (uint64_t i = 0; i < 10000; i++)
		worker(1000 + i, i % 3 ? "a" : "b", i % 1000 == 999 ? "rare" : NULL);
	for (size_t k = 0; k < 2; k++) {
		struct split all = { .kind = SPLIT_RANGE, .cuttable = true, .count = INT64_MAX, .times = 1, .weight = INT64_MAX };
		struct msg u = { .type = MSG_UNITS, .units = { .listing = 1, .last = true, .times = 1 } };
		uint64_t lister = 0;

		reader(R1 + k, "c");
		forget();
		m = (struct msg){ .type = MSG_OPEN, .req = 7, .open = { .job.name = mem_strdup(""), .spec = mem_strdup("range"),
			.type = mem_strdup("int"), .job.sharding = SHARD_DYNAMIC, .job.order = ORDER_STABLE, .job.shards = 20000,
			.job.epoch = 1, .job.where = wheres[k] ? mem_strdup(wheres[k]) : NULL } };
		disp_message(d, ++now, R1 + k, &m);
		msg_clear(&m);
		disp_changes(d, NULL, NULL);
		while (disp_outbox(d, &peer, &m)) {
			if (m.type == MSG_LIST) {
				lister = peer;
				u.req = m.req;
			}
			msg_clear(&m);
		}
		assert_int_not_equal(lister, 0);
		split_list_add(&u.units.units, &all);
		t = clock_mono_ns();
		disp_message(d, ++now, lister, &u);
		took[k] = clock_mono_ns() - t;
		msg_clear(&u);
		disp_changes(d, NULL, NULL);
		while (disp_outbox(d, &peer, &m)) {
			n[k] += m.type == MSG_ASSIGN;
			wrong += k && m.type == MSG_ASSIGN && (peer - 1000) % 1000 != 999;
			msg_clear(&m);
		}
	}
	print_message("20000 streams on 10000 workers: %.1f ms; on the 10 with a rare tag: %.1f ms\n", (double)took[0] / 1e6,
		      (double)took[1] / 1e6);
	assert_int_equal(n[0], 20000);
	assert_int_equal(n[1], 20000);
	assert_int_equal(wrong, 0);
	assert_true(took[1] < 5 * took[0] + 100 * MS);
}

static void
slots_that_do_not_fit_do_not_raise_what_is_wanted(void **state)
{
	const char *name = "slots_most";
	struct buf b = { 0 };
	uint8_t *at;

	(void)state;
	for (uint64_t w = 20; w < 30; w++)
		worker(w, "h", NULL);
	worker(W2, "h", "gpu");
	reader(R1, "h");
	open_at(R1, "", TARGET_ANY, "gpu", SHARD_DYNAMIC);
	list(1000000);
	assert_true(disp_status(d, now, REPORT_ALL, "", &b));
	at = memmem(b.data, b.len, name, strlen(name));
	assert_non_null(at);
	assert_int_equal(at[strlen(name)], 8); /* four times the two that it can use now */
	buf_clear(&b);
}

/* The elements that they would have made are not forgotten, though no worker has a slot for it now. */
static void
what_is_left_when_the_only_worker_drains_is_another_streams(void **state)
{
	struct stream_key key = { begin("calm", 1000), 0, 1 };
	const struct iteration *it = iter_find(d, key.iteration);
	uint32_t n = it->n_streams;

	(void)state;
	say(W1, (struct msg){ .type = MSG_BYE, .bye.drain = true });
	for (; key.stream < n; key.stream++) {
		assert_int_equal(it->n_streams, n);
		say(W1, (struct msg){ .type = MSG_ASSIGNED, .assigned.key = key });
		say(W1, (struct msg){ .type = MSG_SPLIT_REQ, .split_req = { key, 0, 1 } });
		assert_true(got(W1, MSG_SPLIT)->split.end);
	}
	assert_int_equal(it->n_streams, n + 1);
	hello(W2, ROLE_WORKER);
	assert_int_equal(got(W2, MSG_ASSIGN)->assign.key.stream, n);
}
