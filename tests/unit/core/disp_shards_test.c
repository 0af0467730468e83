/* SPDX-License-Identifier: MIT
 *
 * Jobs that are divided into shards, at the dispatcher.
 */
#include "dispatcher_kit.h"

#define EACH_SETUP setup
#define EACH_TEARDOWN teardown

static void
open_shards(uint64_t peer, int sharding, uint64_t shards, const char *shard)
{
	say(peer, (struct msg){ .type = MSG_OPEN, .req = 7, .open = { .job.name = text("job"), .spec = text("files"),
		.type = text("int"), .job.sharding = sharding, .job.shards = shards, .job.shard = text(shard), .job.epoch = 1,
		.job.min_workers = 1, .job.wait_ms = 500 } });
}

/* Answers LIST with so many files in each of two sources. */
static void
list_files(size_t first, size_t second, uint64_t times)
{
	struct split v[32] = { { 0 } };
	char name[32][16];

	for (size_t i = 0; i < first + second; i++) {
		snprintf(name[i], sizeof name[i], "%c%zu", i < first ? 'a' : 'b', i < first ? i : i - first);
		v[i] = (struct split){ .kind = SPLIT_FILE, .cuttable = true, .leaf = i >= first, .path = name[i],
			.count = 1 << 30, .times = 1, .weight = 1 << 30 };
	}
	say(W1, (struct msg){ .type = MSG_UNITS, .req = got(W1, MSG_LIST)->req, .units = { .listing = 1, .last = true,
		.times = times, .files = true, .units = { v, first + second, first + second } } });
}

/* All that a stream reads, as a text. */
static void
splits_of(uint64_t it, uint32_t stream, char *out)
{
	struct stream_key key = { it, stream, 1 };
	bool end = false;

	*out = '\0';
	for (uint64_t k = 0; !end;) {
		say(W1, (struct msg){ .type = MSG_SPLIT_REQ, .req = 1, .split_req = { key, k, 1 } });
		const struct msg_split *s = &got(W1, MSG_SPLIT)->split;

		assert_in_range(s->splits.n, 0, 1);
		for (size_t i = 0; i < s->splits.n; i++, k++) {
			assert_int_equal(s->splits.v[i].start, 0); /* files are whole */
			assert_int_equal(s->splits.v[i].count, 1 << 30);
			strcat(strcat(out, s->splits.v[i].path), " ");
		}
		end = s->end;
	}
}

static void
a_file_goes_to_its_shard_in_each_pass(void **state)
{
	char have[200];
	uint64_t it;

	(void)state;
	hello(W1, ROLE_WORKER);
	hello(R1, ROLE_READER);
	open_shards(R1, SHARD_FILE, 2, "");
	assert_int_equal(got(W1, MSG_LIST)->list.sharding, SHARD_FILE);
	list_files(5, 3, 2);
	it = got(R1, MSG_JOB)->job.iteration;
	assert_int_equal(got(R1, MSG_JOB)->job.opts.shards, 2);
	assert_true(got(R1, MSG_STREAMS)->streams.all_known);
	splits_of(it, 1, have);
	assert_string_equal(have, "a1 a3 b1 a1 a3 b1 ");
	splits_of(it, 0, have);
	assert_string_equal(have, "a0 a2 a4 b0 b2 a0 a2 a4 b0 b2 ");
}

static void
fewer_files_than_shards_are_refused(void **state)
{
	(void)state;
	hello(W1, ROLE_WORKER);
	hello(R1, ROLE_READER);
	open_shards(R1, SHARD_FILE_OR_DATA, 5, "");
	list_files(9, 4, 1);
	assert_int_equal(got(R1, MSG_ERROR)->error.code, ST_DATA);
	assert_non_null(strstr(got(R1, MSG_ERROR)->error.text, "4 files for 5 shards"));
	assert_non_null(strstr(got(R1, MSG_ERROR)->error.help, "--shards 4"));
}

static void
the_number_of_shards_is_that_of_the_slots_at_the_start(void **state)
{
	(void)state;
	hello(W1, ROLE_WORKER);
	hello(W2, ROLE_WORKER);
	hello(R1, ROLE_READER);
	open_shards(R1, SHARD_DATA, 0, "");
	units(W1, got(W1, MSG_LIST)->req, 100);
	assert_int_equal(got(R1, MSG_JOB)->job.opts.shards, 4);
	assert_false(got(W1, MSG_ASSIGN)->assign.by_split);
	assert_int_equal(got(W1, MSG_ASSIGN)->assign.sharding, SHARD_DATA);
	assert_int_equal(got(W1, MSG_ASSIGN)->assign.streams, 4);
	/* A reader that knows the number may say it. */
	hello(R2, ROLE_READER);
	open_shards(R2, SHARD_DATA, 4, "");
	assert_non_null(got(R2, MSG_JOB));
}

static void
auto_shards_are_no_more_than_the_files(void **state)
{
	(void)state;
	hello(W1, ROLE_WORKER);
	hello(W2, ROLE_WORKER);
	hello(R1, ROLE_READER);
	open_shards(R1, SHARD_FILE, 0, "");
	list_files(3, 0, 1);
	assert_int_equal(got(R1, MSG_JOB)->job.opts.shards, 3);
}

static void
another_number_of_shards_is_another_job(void **state)
{
	(void)state;
	hello(W1, ROLE_WORKER);
	hello(R1, ROLE_READER);
	open_shards(R1, SHARD_DATA, 3, "");
	hello(R2, ROLE_READER);
	open_shards(R2, SHARD_DATA, 4, "");
	assert_int_equal(got(R2, MSG_ERROR)->error.code, ST_USAGE);
	assert_non_null(strstr(got(R2, MSG_ERROR)->error.text, "shards=3"));
	assert_non_null(strstr(got(R2, MSG_ERROR)->error.text, "shards=4"));
}

static void
ends(uint64_t worker, uint64_t it, uint32_t stream, uint64_t length)
{
	struct stream_key key = { it, stream, 1 };

	say(worker, (struct msg){ .type = MSG_ASSIGNED, .assigned.key = key });
	say(worker, (struct msg){ .type = MSG_STREAM_END, .stream_end = { .key = key, .length = length, .made = length } });
}

static void
acks(uint64_t reader, uint64_t it, uint64_t seat, uint64_t seq, uint32_t stream, uint64_t end)
{
	struct range all = { 0, end };
	struct msg_stream_ranges l = { stream, { &all, 1 } };

	say(reader, (struct msg){ .type = MSG_ACK, .req = seq, .ack = { it, seat, seq, { &l, 1 } } });
}

static void
who_reads_some_shards_is_told_of_those_and_done_with_them(void **state)
{
	const struct msg_streams *s;
	uint64_t it;

	(void)state;
	hello(W1, ROLE_WORKER);
	hello(R1, ROLE_READER);
	hello(R2, ROLE_READER);
	open_shards(R1, SHARD_DATA, 3, "2,0");
	units(W1, got(W1, MSG_LIST)->req, 100);
	it = got(R1, MSG_JOB)->job.iteration;
	s = &got(R1, MSG_STREAMS)->streams;
	assert_int_equal(s->total, 2);
	assert_int_equal(s->list.n, 2);
	for (size_t i = 0; i < 2; i++)
		assert_int_not_equal(s->list.v[i].stream, 1);
	open_shards(R2, SHARD_DATA, 3, "1");
	assert_int_equal(got(R2, MSG_STREAMS)->streams.total, 1);
	ends(W1, it, 1, 33);
	assert_null(got(R1, MSG_STREAMS));
	assert_non_null(got(R2, MSG_STREAMS));
	acks(R1, it, 1, 1, 1, 33); /* it is not its shard */
	assert_null(got(R2, MSG_DONE));
	acks(R2, it, 2, 1, 1, 33);
	assert_int_equal(got(R2, MSG_DONE)->done.code, 0);
	assert_int_equal(got(R2, MSG_DONE)->done.elements, 33);
	assert_null(got(R1, MSG_DONE));
	ends(W1, it, 0, 34);
	acks(R1, it, 1, 2, 0, 34);
	assert_null(got(R1, MSG_DONE));
	ends(W1, it, 2, 33);
	acks(R1, it, 1, 3, 2, 33);
	assert_int_equal(got(R1, MSG_DONE)->done.elements, 67);
}

static void
a_lost_worker_asks_only_the_readers_of_its_shards(void **state)
{
	unsigned holds = 0;

	(void)state;
	hello(W1, ROLE_WORKER);
	hello(R1, ROLE_READER);
	hello(R2, ROLE_READER);
	open_shards(R1, SHARD_DATA, 3, "0");
	units(W1, got(W1, MSG_LIST)->req, 100);
	open_shards(R2, SHARD_DATA, 3, "1,2");
	forget();
	disp_peer_gone(d, now, W1);
	wait_for(SEC);
	for (size_t i = 0; i < n_sent; i++) {
		if (sent[i].m.type != MSG_HOLD)
			continue;
		holds++;
		assert_int_equal(sent[i].m.hold.key.stream == 0, sent[i].peer == R1);
	}
	assert_int_equal(holds, 3);
}

static void
what_does_not_go_together_is_refused(void **state)
{
	static const struct { int sharding, order; uint64_t shards; const char *shard, *says; int target; } wrong[] = {
		{ SHARD_DYNAMIC, ORDER_ANY, 0, "1", "no shards to choose from", TARGET_AUTO },
		{ SHARD_OFF, ORDER_ANY, 3, "1", "no shards to choose from", TARGET_AUTO },
		{ SHARD_DATA, ORDER_ANY, 3, "0,3", "no shard 3: the job has 3 shards", TARGET_AUTO },
		{ SHARD_DATA, ORDER_ANY, 3, "a", "not a list of shards", TARGET_AUTO },
		{ SHARD_FILE, ORDER_SOURCE, 0, "", "do not come in order `source`", TARGET_AUTO },
		{ SHARD_HINT, ORDER_SOURCE, 2, "", "do not come in order `source`", TARGET_AUTO },
		{ SHARD_DATA, ORDER_ANY, 3, "1", "target `local` cannot choose its shards", TARGET_LOCAL },
	};

	(void)state;
	hello(W1, ROLE_WORKER);
	hello(R1, ROLE_READER);
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		say(R1, (struct msg){ .type = MSG_OPEN, .req = 7, .open = { .spec = text("s"), .type = text("int"),
			.job = { .sharding = wrong[i].sharding, .order = wrong[i].order, .shards = wrong[i].shards,
				 .target = wrong[i].target, .shard = text(wrong[i].shard), .epoch = 1, .min_workers = 1, .wait_ms = 500 } } });
		assert_int_equal(got(R1, MSG_ERROR)->error.code, ST_USAGE);
		assert_non_null(strstr(got(R1, MSG_ERROR)->error.text, wrong[i].says));
	}
	/* With `auto` it is known once the job has begun. */
	open_shards(R1, SHARD_DATA, 0, "2");
	units(W1, got(W1, MSG_LIST)->req, 100);
	assert_int_equal(got(R1, MSG_ERROR)->error.code, ST_USAGE);
	assert_non_null(strstr(got(R1, MSG_ERROR)->error.help, "from 0 to 1"));
}

static void
shards_of_an_ordered_job_have_a_reader_each(void **state)
{
	struct msg_open o = { .spec = text("s"), .type = text("int"), .job = { .name = text("job"), .sharding = SHARD_DATA,
		.order = ORDER_STABLE, .shards = 3, .shard = text("0"), .epoch = 1, .min_workers = 1, .wait_ms = 500 } };

	(void)state;
	hello(W1, ROLE_WORKER);
	hello(R1, ROLE_READER);
	hello(R2, ROLE_READER);
	say(R1, (struct msg){ .type = MSG_OPEN, .req = 7, .open = o });
	units(W1, got(W1, MSG_LIST)->req, 100);
	assert_non_null(got(R1, MSG_JOB));
	o.job.shard = text("2,0");
	say(R2, (struct msg){ .type = MSG_OPEN, .req = 7, .open = o });
	assert_int_equal(got(R2, MSG_ERROR)->error.code, ST_TEMP);
	o.job.shard = text("1,2");
	say(R2, (struct msg){ .type = MSG_OPEN, .req = 7, .open = o });
	assert_non_null(got(R2, MSG_JOB));
}
