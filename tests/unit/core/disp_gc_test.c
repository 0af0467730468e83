/* SPDX-License-Identifier: MIT
 *
 * How long jobs are kept that nobody reads, and jobs that are forgotten by order.
 */
#include "durable_kit.h"

#include "value/mp.h"

#define EACH_SETUP setup
#define EACH_TEARDOWN teardown

#define DAY (86400 * SEC)

enum { R3 = 23 };

static bool
there(const char *job)
{
	struct buf b = { 0 };
	bool is = disp_status(d, now, REPORT_AUDIT, job, &b);

	buf_clear(&b);
	return is;
}

/* The field of the only job; -1 if it is null. */
static int64_t
forgotten_in_ms(void)
{
	struct buf b = { 0 };
	const uint8_t *p;
	size_t n;
	struct mp m;

	assert_true(disp_status(d, now, REPORT_AUDIT, "", &b));
	assert_true(mp_field(b.data, b.data + b.len, "jobs", 4, &p, &n));
	p = mp_head(p, p + n, &m);
	assert_int_equal(m.n, 1);
	assert_true(mp_field(p, b.data + b.len, "forgotten_in_ms", 15, &p, &n));
	mp_head(p, p + n, &m);
	buf_clear(&b);
	return m.kind == MP_INT ? (int64_t)m.u : -1;
}

static void
acks(uint64_t it, uint64_t end)
{
	struct range all = { 0, end };
	struct msg_stream_ranges l = { 0, { &all, 1 } };

	say(R1, (struct msg){ .type = MSG_ACK, .req = 1, .ack = { it, 1, 1, { &l, 1 } } });
}

static void
ends(uint64_t it, uint64_t length)
{
	struct stream_key key = { it, 0, 1 };

	say(W1, (struct msg){ .type = MSG_ASSIGNED, .assigned.key = key });
	say(W1, (struct msg){ .type = MSG_SPLIT_REQ, .split_req = { key, 0, 8 } });
	say(W1, (struct msg){ .type = MSG_SPLIT_REQ, .split_req = { key, 1, 8 } });
	say(W1, (struct msg){ .type = MSG_STREAM_END, .stream_end = { .key = key, .length = length, .made = length } });
	acks(it, length);
	assert_int_equal(got(R1, MSG_DONE)->done.code, 0);
}

static void
dies(uint64_t peer)
{
	forget();
	disp_peer_gone(d, now += MS, peer);
	collect();
}

/* Like `begin`, but the reader has a position. */
static uint64_t
begin_saved(const char *job, uint64_t count)
{
	hello(W1, ROLE_WORKER);
	hello(R1, ROLE_READER);
	say(R1, (struct msg){ .type = MSG_OPEN, .req = 7, .open = { .job.name = text(job), .spec = text("range"),
		.type = text("int"), .job.sharding = SHARD_DYNAMIC, .job.epoch = 1, .job.checkpoint = true,
		.job.min_workers = 1, .job.wait_ms = 500 } });
	units(W1, got(W1, MSG_LIST)->req, count);
	return got(R1, MSG_JOB)->job.iteration;
}

/* There need not be a worker yet. */
static void
comes_with_position(uint64_t peer, uint64_t it, uint64_t had)
{
	struct range all = { 0, had };
	struct msg_stream_ranges l = { 0, { &all, 1 } };

	hello(peer, ROLE_READER);
	say(peer, (struct msg){ .type = MSG_OPEN, .req = 8, .open = { .spec = text("range"), .type = text("int"),
		.job.sharding = SHARD_DYNAMIC, .job.epoch = 1, .job.checkpoint = true, .job.min_workers = 1,
		.job.wait_ms = 500, .iteration = it, .seat = 1, .resume = true, .have = { &l, 1 } } });
}

static void
resumes(uint64_t peer, uint64_t it, uint64_t had)
{
	hello(W1, ROLE_WORKER);
	comes_with_position(peer, it, had);
}

static void
a_job_that_is_over_is_kept_for_a_short_time(void **state)
{
	(void)state;
	ends(begin("job", 1000), 1000);
	assert_int_equal(forgotten_in_ms(), -1); /* it has a reader */
	dies(R1);
	assert_int_equal(forgotten_in_ms(), 60000);
	wait_for(20 * SEC);
	assert_int_equal(forgotten_in_ms(), 40000);
	wait_for(39 * SEC);
	assert_true(there("job"));
	wait_for(2 * SEC);
	assert_false(there("job"));
}

static void
a_named_job_that_stopped_halfway_is_kept_for_days(void **state)
{
	(void)state;
	acks(begin("job", 1000), 10);
	dies(R1);
	assert_int_equal(forgotten_in_ms(), 7 * 86400000);
	wait_for(7 * DAY - SEC);
	assert_true(there("job"));
	wait_for(2 * SEC);
	assert_false(there("job"));
}

static void
a_named_job_that_gave_nothing_is_not(void **state)
{
	(void)state;
	begin("job", 1000);
	dies(R1);
	wait_for(61 * SEC);
	assert_false(there("job"));
}

/* The acknowledgements that a dead reader gave to the worker are known only later. */
static void
that_it_has_given_something_may_turn_out_late(void **state)
{
	struct range r = { 0, 10 };
	struct stream_key key;

	(void)state;
	key = (struct stream_key){ begin("job", 1000), 0, 1 };
	struct msg_take take = { key, 1, 0 };
	say(W1, (struct msg){ .type = MSG_ASSIGNED, .assigned.key = key });
	say(W1, (struct msg){ .type = MSG_TAKES, .takes.list = { &take, 1 } });
	dies(R1);
	assert_non_null(got(W1, MSG_READER_GONE));
	assert_int_equal(forgotten_in_ms(), 60000);
	say(W1, (struct msg){ .type = MSG_GONE_OK, .gone_ok = { key, 1, { &r, 1 }, 0 } });
	assert_in_range(forgotten_in_ms(), 7 * 86400000ll - 100, 7 * 86400000ll);
	wait_for(7 * DAY - 10 * SEC);
	assert_true(there("job"));
	wait_for(11 * SEC);
	assert_false(there("job"));
}

static void
a_position_is_good_for_days(void **state)
{
	uint64_t it = begin_saved("", 1000);

	(void)state;
	acks(it, 10);
	dies(R1);
	assert_int_equal(forgotten_in_ms(), 7 * 86400000);
	wait_for(7 * DAY - SEC);
	resumes(R2, it, 10);
	assert_int_equal(got(R2, MSG_JOB)->job.iteration, it);
	assert_int_equal(forgotten_in_ms(), -1);
	/* its time begins anew when this one is gone, and it goes together with its seat */
	say(R2, (struct msg){ .type = MSG_BYE, .req = 3 });
	wait_for(7 * DAY + SEC);
	resumes(R1, it, 10);
	assert_int_equal(got(R1, MSG_ERROR)->error.code, ST_NOINPUT);
}

/* With a seat it would be one that may come back: whatever the other one reads would wait for it
 * when the worker is lost. */
static void
a_position_is_of_one_reader_also_while_that_waits_for_workers(void **state)
{
	uint64_t it = begin_saved("job", 1000);

	(void)state;
	acks(it, 10);
	dies(R1);
	dies(W1);
	comes_with_position(R2, it, 10);
	assert_null(got(R2, MSG_JOB));
	comes_with_position(R3, it, 10);
	assert_int_equal(got(R2, MSG_ERROR)->error.code, ST_TEMP);
	hello(W2, ROLE_WORKER);
	assert_int_equal(got(R3, MSG_JOB)->job.iteration, it);
	assert_null(got(R2, MSG_JOB));
}

static void
nor_is_a_finished_job_forgotten_that_has_a_position(void **state)
{
	uint64_t it = begin_saved("", 1000);

	(void)state;
	ends(it, 1000);
	dies(R1);
	wait_for(7 * DAY - SEC);
	resumes(R2, it, 1000);
	assert_int_equal(got(R2, MSG_DONE)->done.code, 0);
	say(R2, (struct msg){ .type = MSG_BYE, .req = 3 });
	wait_for(7 * DAY + SEC);
	resumes(R2, it, 1000);
	assert_int_equal(got(R2, MSG_ERROR)->error.code, ST_NOINPUT);
}

/* A reader that is only silent is waited for as long as its job is kept. */
static void
a_seat_follows_the_time_of_its_job(void **state)
{
	uint64_t it = begin("job", 1000);

	(void)state;
	acks(it, 10);
	wait_for(6 * DAY); /* R1 says nothing; W1 is lost, too */
	say(R1, (struct msg){ .type = MSG_HELLO, .req = 1, .hello = { .version = WIRE_VERSION, .role = ROLE_READER, .peer = R1,
		.name = text("n") } });
	say(R1, (struct msg){ .type = MSG_OPEN, .req = 9, .open = { .job.name = text("job"), .spec = text("range"),
		.type = text("int"), .job.sharding = SHARD_DYNAMIC, .job.epoch = 1, .iteration = it, .seat = 1 } });
	assert_int_equal(got(R1, MSG_JOB)->job.seat, 1);
	/* nor when it is silent for the second time */
	hello(W1, ROLE_WORKER);
	wait_for(4 * SEC);
	say(W1, (struct msg){ .type = MSG_BEAT });
	wait_for(2 * SEC); /* R1 is lost, and W1 is not */
	assert_in_range(forgotten_in_ms(), 6 * 86400000ll, 7 * 86400000ll);
}

static void
never_is_never(void **state)
{
	struct disp_opts o = { .instance = 5, .seed = 3, .spec_id = spec_id, .job_gc_ns = INT64_MAX,
		.unfinished_gc_ns = INT64_MAX };

	(void)state;
	disp_free(&d);
	d = disp_new(&o, now);
	ends(begin("job", 1000), 1000);
	dies(R1);
	acks(begin("other", 1000), 10);
	dies(R1);
	wait_for(40 * 365 * DAY);
	assert_true(there("job") && there("other"));
	assert_int_equal(disp_next_deadline(d), INT64_MAX);
}

static void
nothing_is_left_of_ten_thousand_jobs(void **state)
{
	(void)state;
	setup_durable();
	for (unsigned i = 0; i < 10000; i++) {
		char name[16];
		uint64_t it;

		/* a third each: named, anonymous, anonymous with a position */
		snprintf(name, sizeof name, "%u", i);
		it = i % 3 == 2 ? begin_saved("", 10) : begin(i % 3 ? "" : name, 10);
		ends(it, 10);
		dies(R1);
		wait_for(i % 3 == 2 ? 7 * DAY : 61 * SEC);
		assert_true(n_disk < 40);
	}
	wait_for(8 * DAY);
	assert_int_equal(rows_of(ROW_JOB) + rows_of(ROW_ITERATION) + rows_of(ROW_READER) + rows_of(ROW_STREAM), 0);
	assert_int_equal(rows_of(ROW_DATASET), 0);
	on_row = NULL;
}

/* By order */

static struct msg *
forgets(const char *job, const char *dataset, bool force)
{
	char *names[] = { text(job), text(dataset) };
	struct msg m = { .type = MSG_FORGET, .req = 4, .forget = { .force = force } };

	if (job)
		m.forget.jobs = (struct words){ names, 1 };
	if (dataset)
		m.forget.datasets = (struct words){ names + 1, 1 };
	hello(T1, ROLE_TOOL);
	say(T1, m);
	return got(T1, MSG_ERROR) ? got(T1, MSG_ERROR) : got(T1, MSG_FORGOTTEN);
}

static void
a_forgotten_job_begins_anew(void **state)
{
	uint64_t it;

	(void)state;
	setup_durable();
	it = begin("job", 1000);
	acks(it, 10);
	dies(R1);
	assert_int_equal(rows_of(ROW_JOB), 1);
	assert_int_equal(forgets("job", NULL, false)->forgotten.jobs, 1);
	assert_int_equal(got(W1, MSG_REVOKE)->revoke.key.iteration, it);
	assert_int_equal(rows_of(ROW_JOB) + rows_of(ROW_ITERATION) + rows_of(ROW_STREAM) + rows_of(ROW_LEDGER) +
			 rows_of(ROW_READER) + rows_of(ROW_UNITS) + rows_of(ROW_DATASET), 0);
	restart();
	assert_false(there("job"));
	assert_int_equal(forgets("job", NULL, false)->error.code, ST_NOINPUT);
	assert_int_not_equal(begin("job", 1000), it);
	on_row = NULL;
}

static void
a_job_with_readers_is_forgotten_by_force_alone(void **state)
{
	uint64_t it = begin("job", 1000);

	(void)state;
	acks(it, 10);
	assert_int_equal(forgets("job", NULL, false)->error.code, ST_TEMP);
	assert_string_equal(got(T1, MSG_ERROR)->error.text, "job `job` has 1 reader");
	assert_int_equal(forgets("job", NULL, true)->forgotten.readers, 1);
	assert_int_equal(got(R1, MSG_GONE)->gone.code, ST_NOINPUT);
	assert_int_equal(got(R1, MSG_GONE)->gone.iteration, it);
	assert_false(there("job"));
	/* its later messages are answered in the same way */
	say(R1, (struct msg){ .type = MSG_ACK, .req = 3, .ack = { .iteration = it, .seat = 1, .seq = 2 } });
	assert_int_equal(got(R1, MSG_GONE)->gone.code, ST_NOINPUT);
	wait_for(10 * SEC);
}

static void
readers_that_wait_are_told_too(void **state)
{
	(void)state;
	hello(W1, ROLE_WORKER);
	hello(R1, ROLE_READER);
	open_job(R1, "job", "range", 1); /* its units are not listed yet */
	assert_int_equal(forgets("job", NULL, false)->error.code, ST_TEMP);
	assert_int_equal(forgets("job", NULL, true)->forgotten.readers, 1);
	assert_int_equal(got(R1, MSG_ERROR)->error.code, ST_NOINPUT);
	assert_int_equal(got(R1, MSG_ERROR)->req, 7);
	assert_false(there("job"));
	open_job(R1, "job", "range", 1);
	assert_non_null(got(W1, MSG_LIST));
}

static void
all_that_is_named_is_forgotten_or_nothing(void **state)
{
	char *names[] = { text("job"), text("nobody") };

	(void)state;
	acks(begin("job", 1000), 10);
	dies(R1);
	hello(T1, ROLE_TOOL);
	say(T1, (struct msg){ .type = MSG_FORGET, .req = 4, .forget.jobs = { names, 2 } });
	assert_int_equal(got(T1, MSG_ERROR)->error.code, ST_NOINPUT);
	assert_string_equal(got(T1, MSG_ERROR)->error.text, "no job `nobody`");
	assert_true(there("job"));
	names[1] = names[0]; /* twice is once */
	say(T1, (struct msg){ .type = MSG_FORGET, .req = 4, .forget.jobs = { names, 2 } });
	assert_int_equal(got(T1, MSG_FORGOTTEN)->forgotten.jobs, 1);
	/* asked again, because the answer did not come */
	say(T1, (struct msg){ .type = MSG_FORGET, .req = 4, .forget = { .jobs = { names, 2 }, .again = true } });
	assert_int_equal(got(T1, MSG_FORGOTTEN)->forgotten.jobs, 0);
	/* only tools may */
	hello(R2, ROLE_READER);
	say(R2, (struct msg){ .type = MSG_FORGET, .req = 4 });
	assert_null(got(R2, MSG_FORGOTTEN));
}

static void
an_anonymous_job_is_forgotten_by_its_number(void **state)
{
	char number[24];
	struct buf b = { 0 };
	const uint8_t *p;
	size_t n;
	struct mp m;

	(void)state;
	ends(begin("", 1000), 1000);
	dies(R1);
	assert_true(disp_status(d, now, REPORT_AUDIT, "", &b));
	assert_true(mp_field(b.data, b.data + b.len, "jobs", 4, &p, &n));
	p = mp_head(p, p + n, &m);
	assert_true(mp_field(p, b.data + b.len, "job", 3, &p, &n));
	mp_head(p, p + n, &m);
	snprintf(number, sizeof number, "%llu", (unsigned long long)m.u);
	buf_clear(&b);
	assert_int_equal(forgets(number, NULL, false)->forgotten.jobs, 1);
	assert_false(there(number));
}

static void
a_dataset_in_use_is_forgotten_by_force_alone(void **state)
{
	(void)state;
	hello(T1, ROLE_TOOL);
	say(T1, (struct msg){ .type = MSG_REGISTER, .req = 2, .reg = { .spec = text("range"), .type = text("int") } });
	assert_int_equal(forgets(NULL, "id-other", false)->error.code, ST_NOINPUT);
	uint64_t it = begin("job", 1000);
	assert_int_equal(forgets(NULL, "id-range", false)->error.code, ST_TEMP);
	assert_string_equal(got(T1, MSG_ERROR)->error.text, "dataset `id-range` is in use: job `job` has readers");
	acks(it, 10);
	dies(R1);
	assert_int_equal(forgets(NULL, "id-range", false)->error.code, ST_TEMP);
	assert_string_equal(got(T1, MSG_ERROR)->error.text, "dataset `id-range` is in use: job `job` is not over");
	struct msg_forgotten sum = forgets(NULL, "id-range", true)->forgotten;
	assert_int_equal(sum.datasets, 1);
	assert_int_equal(sum.jobs, 1);
	assert_false(there("job"));
	assert_int_equal(forgets(NULL, "id-range", true)->error.code, ST_NOINPUT);
	/* a job that is kept for audits alone does not use it */
	ends(begin("", 10), 10);
	dies(R1);
	assert_int_equal(forgets(NULL, "id-range", false)->forgotten.jobs, 1);
}

static void
a_full_disk_forgets_nothing(void **state)
{
	(void)state;
	acks(begin("job", 1000), 10);
	dies(R1);
	disp_refuse_new(d, "full");
	assert_int_equal(forgets("job", NULL, false)->error.code, ST_IO);
	disp_refuse_new(d, NULL);
	assert_true(there("job"));
}

/* Opens the shared job `feats` in a group of its own. */
static void
opens_group(uint64_t peer, const char *group)
{
	hello(peer, ROLE_READER);
	say(peer, (struct msg){ .type = MSG_OPEN, .req = 7, .open = { .job.name = text("feats"), .spec = text("range"),
		.type = text("int"), .job.sharding = SHARD_DYNAMIC, .job.epoch = 1, .job.share = SHARE_LOSSLESS,
		.job.group = text(group), .job.min_workers = 1, .job.wait_ms = 500 } });
}

static void
a_group_that_ends_when_nobody_is_there_keeps_no_job(void **state)
{
	(void)state;
	hello(W1, ROLE_WORKER);
	opens_group(R1, "a");
	units(W1, got(W1, MSG_LIST)->req, 1000);
	opens_group(R2, "b");
	assert_non_null(got(R2, MSG_JOB));
	dies(R1);
	dies(R2);
	wait_for(50 * SEC); /* one of the groups has ended meanwhile */
	assert_true(there("feats"));
	assert_in_range(forgotten_in_ms(), 9900, 10000);
	wait_for(11 * SEC);
	assert_false(there("feats"));
}

/* A job that is refused for want of workers is not begun without its reader when one comes. */
static void
who_waits_for_workers_in_vain_has_begun_nothing(void **state)
{
	(void)state;
	hello(R1, ROLE_READER);
	open_job(R1, "job", "range", 1);
	assert_true(there("job"));
	wait_for(SEC);
	assert_int_equal(got(R1, MSG_ERROR)->error.code, ST_UNAVAIL);
	assert_false(there("job"));
	hello(W1, ROLE_WORKER);
	assert_null(got(W1, MSG_LIST));
	/* nor with the workers that are there, if they are too few */
	hello(R2, ROLE_READER);
	say(R2, (struct msg){ .type = MSG_OPEN, .req = 7, .open = { .job.name = text("many"), .spec = text("range"),
		.type = text("int"), .job.sharding = SHARD_DYNAMIC, .job.epoch = 1, .job.min_workers = 2, .job.wait_ms = 500 } });
	units(W1, got(W1, MSG_LIST)->req, 1000);
	struct stream_key key = got(W1, MSG_ASSIGN)->assign.key;
	say(W1, (struct msg){ .type = MSG_ASSIGNED, .assigned.key = key });
	wait_for(SEC);
	assert_int_equal(got(R2, MSG_ERROR)->error.code, ST_UNAVAIL);
	assert_false(there("many"));
	assert_int_equal(got(W1, MSG_REVOKE)->revoke.key.iteration, key.iteration);
}

static void
but_a_job_that_somebody_reads_or_waits_for_stays(void **state)
{
	(void)state;
	uint64_t it = begin_saved("job", 1000);
	dies(R1);
	dies(W1);
	comes_with_position(R2, it, 0);
	wait_for(SEC);
	assert_int_equal(got(R2, MSG_ERROR)->error.code, ST_UNAVAIL);
	assert_true(there("job"));
	hello(R1, ROLE_READER);
	open_job(R1, "two", "range", 1);
	wait_for(300 * MS);
	hello(R3, ROLE_READER);
	open_job(R3, "two", "range", 1);
	wait_for(300 * MS);
	assert_int_equal(got(R1, MSG_ERROR)->error.code, ST_UNAVAIL);
	assert_true(there("two"));
	wait_for(300 * MS);
	assert_false(there("two"));
}

static void
open_consumer(uint64_t peer, const char *consumer)
{
	hello(peer, ROLE_READER);
	say(peer, (struct msg){ .type = MSG_OPEN, .req = 7, .open = { .job.name = text("job"), .spec = text("range"),
		.type = text("int"), .job.sharding = SHARD_DYNAMIC, .job.order = ORDER_STABLE, .job.shards = 2, .job.epoch = 1,
		.job.consumer = text(consumer), .job.min_workers = 1, .job.wait_ms = 500 } });
}

static void
who_is_refused_in_the_place_of_the_last_reader_keeps_no_job(void **state)
{
	(void)state;
	hello(W1, ROLE_WORKER);
	open_consumer(R1, "0/2");
	open_consumer(R2, "1/2");
	units(W1, got(W1, MSG_LIST)->req, 1000);
	assert_non_null(got(R2, MSG_JOB));
	wait_for(20 * SEC); /* both are silent, and their seats are kept */
	hello(W1, ROLE_WORKER);
	open_consumer(R3, "0-1/2"); /* takes the seats of both, and has no right to them */
	assert_int_equal(got(R3, MSG_ERROR)->error.code, ST_USAGE);
	dies(R3);
	wait_for(61 * SEC);
	assert_false(there("job"));
}
