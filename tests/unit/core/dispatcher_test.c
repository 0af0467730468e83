/* SPDX-License-Identifier: MIT
 *
 * The dispatcher alone: what it answers. (Whole passes, and what becomes of
 * them under faults: tests/sim.)
 */
#include "dispatcher_kit.h"

#define EACH_SETUP setup
#define EACH_TEARDOWN teardown

static void
a_dataset_is_registered_once(void **state)
{
	(void)state;
	hello(T1, ROLE_TOOL);
	struct msg m = { .type = MSG_REGISTER, .req = 2, .reg = { .spec = text("a"), .type = text("int") } };
	say(T1, m);
	assert_string_equal(got(T1, MSG_DATASET)->dataset.id, "id-a");
	assert_false(got(T1, MSG_DATASET)->dataset.known);
	say(T1, m);
	assert_true(got(T1, MSG_DATASET)->dataset.known);
	m.reg.id = text("mine");
	m.reg.spec = text("b");
	say(T1, m);
	assert_string_equal(got(T1, MSG_DATASET)->dataset.id, "mine");
	m.reg.spec = text("c");
	say(T1, m);
	assert_int_equal(got(T1, MSG_ERROR)->error.code, ST_DATA);
	assert_non_null(strstr(got(T1, MSG_ERROR)->error.text, "belongs to `b`; you gave `c`"));
	say(T1, (struct msg){ .type = MSG_GET, .req = 3, .get.id = text("mine") });
	assert_string_equal(got(T1, MSG_DATASET)->dataset.spec, "b");
	say(T1, (struct msg){ .type = MSG_GET, .req = 3, .get.id = text("none") });
	assert_int_equal(got(T1, MSG_ERROR)->error.code, ST_NOINPUT);
}

static void
strangers_and_other_versions_are_turned_away(void **state)
{
	struct err e;

	(void)state;
	say(R1, (struct msg){ .type = MSG_GET, .req = 3, .get.id = text("x") });
	assert_non_null(got(R1, MSG_WHO));
	struct msg m = { .type = MSG_HELLO, .req = 1, .hello = { .version = 9, .role = ROLE_READER, .peer = R1 } };
	forget();
	disp_message(d, now, R1, &m);
	collect();
	assert_int_equal(got(R1, MSG_REFUSED)->refused.version, WIRE_VERSION);
	assert_int_equal(got(R1, MSG_REFUSED)->refused.code, ST_PROTO);
	say(R1, (struct msg){ .type = MSG_HELLO, .hello = { .version = WIRE_VERSION, .role = ROLE_READER, .peer = R2 } });
	assert_non_null(got(R1, MSG_REFUSED));
	forget();
	err_set(&e, ST_PROTO, "malformed");
	disp_bad_message(d, now, R1, &e);
	collect();
	assert_int_equal(got(R1, MSG_ERROR)->error.code, ST_PROTO);
}

static void
no_worker_is_said_after_the_time_given(void **state)
{
	(void)state;
	hello(R1, ROLE_READER);
	open_job(R1, "", "range", 1);
	assert_int_equal(n_sent, 0);
	wait_for(400 * MS);
	assert_null(got(R1, MSG_ERROR));
	wait_for(200 * MS);
	assert_int_equal(got(R1, MSG_ERROR)->error.code, ST_UNAVAIL);
	assert_non_null(strstr(got(R1, MSG_ERROR)->error.text, "0 of 1 workers"));
}

static void
a_failed_listing_is_told_and_tried_again(void **state)
{
	(void)state;
	hello(W1, ROLE_WORKER);
	hello(R1, ROLE_READER);
	for (int i = 0; i < 2; i++) {
		open_job(R1, "job", "range", 1);
		say(W1, (struct msg){ .type = MSG_UNITS, .req = got(W1, MSG_LIST)->req,
			.units = { .listing = 1, .last = true, .code = ST_NOINPUT, .text = text("no such file") } });
		assert_int_equal(got(R1, MSG_ERROR)->error.code, ST_NOINPUT);
		assert_int_equal(got(R1, MSG_ERROR)->req, 7);
	}
}

static void
options_of_a_shared_job_must_match(void **state)
{
	(void)state;
	begin("job", 1000);
	hello(R2, ROLE_READER);
	open_job(R2, "job", "range", 2);
	assert_int_equal(got(R2, MSG_ERROR)->error.code, ST_USAGE);
	assert_non_null(strstr(got(R2, MSG_ERROR)->error.text, "seed=1 target=auto; you asked for"));
	open_job(R2, "job", "other", 1);
	assert_non_null(strstr(got(R2, MSG_ERROR)->error.text, "dataset=id-range"));
	open_job(R2, "job", "range", 1);
	assert_int_equal(got(R2, MSG_JOB)->job.seat, 2);
}

/* A repeated question gets the same answer, and the end stays the end. */
static void
splits_are_given_once_and_for_ever(void **state)
{
	uint64_t it = begin("", 2);
	struct stream_key key = { it, 0, 1 };
	struct msg ask = { .type = MSG_SPLIT_REQ, .split_req = { key, 0, 64 } };

	(void)state;
	assert_non_null(got(W1, MSG_ASSIGN));
	for (uint64_t k = 0; k < 2; k++) {
		ask.split_req.k = k;
		for (int i = 0; i < 3; i++) {
			say(W1, ask);
			assert_int_equal(got(W1, MSG_SPLIT)->split.splits.n, 1);
			assert_int_equal(got(W1, MSG_SPLIT)->split.splits.v[0].start, k);
			assert_int_equal(got(W1, MSG_SPLIT)->split.splits.v[0].count, 1);
			assert_false(got(W1, MSG_SPLIT)->split.end);
		}
	}
	ask.split_req.k = 2;
	for (int i = 0; i < 3; i++) {
		say(W1, ask);
		assert_int_equal(got(W1, MSG_SPLIT)->split.splits.n, 0);
		assert_true(got(W1, MSG_SPLIT)->split.end);
	}
	ask.split_req.k = 5; /* out of turn */
	say(W1, ask);
	assert_null(got(W1, MSG_SPLIT));
	ask.split_req.key.gen = 9;
	say(W1, ask);
	assert_non_null(got(W1, MSG_REVOKE));
}

/* The k-th split of stream 0, `ms` after the one before, when it has given so many elements. */
static uint64_t
split_size_given(uint64_t it, uint64_t k, int64_t ms, uint64_t given)
{
	now += (ms - 1) * MS;
	say(W1, (struct msg){ .type = MSG_SPLIT_REQ, .split_req = { { it, 0, 1 }, k, 1, given } });
	assert_int_equal(got(W1, MSG_SPLIT)->split.splits.n, 1);
	return got(W1, MSG_SPLIT)->split.splits.v[0].count;
}

/* Size of a split when the stream gives elements between any two requests. */
static uint64_t
split_size(uint64_t it, uint64_t k, int64_t ms)
{
	return split_size_given(it, k, ms, k);
}

static void
splits_are_as_large_as_a_second_of_work(void **state)
{
	uint64_t it = begin("", 1000000), fast = 0, took = 5, n;

	(void)state;
	assert_int_equal(split_size(it, 0, 1), 1);
	assert_int_equal(split_size(it, 1, 1), 1);
	for (uint64_t k = 2; k < 5; k++) /* each element takes a second */
		assert_int_equal(split_size(it, k, 1000), 1);
	for (uint64_t k = 5; k < 12; k++) { /* now a split takes a millisecond */
		n = split_size_given(it, k, 1, took);
		took += n;
		assert_true(n <= 1000000);
		fast = n > fast ? n : fast;
	}
	assert_true(fast >= 65536);
}

/* exec, prefetch, batch: requests come at once, and nothing comes out meanwhile. */
static void
a_stream_that_reads_ahead_leaves_something_for_others(void **state)
{
	uint64_t it = begin("", 400), took = 0, n;
	bool assigned = false;

	(void)state;
	for (uint64_t k = 0; k < 64; k++) {
		n = split_size_given(it, k, 1, 0);
		assert_true(n <= took / 8 + 1);
		took += n;
		for (size_t i = 0; i < n_sent; i++)
			assigned |= sent[i].m.type == MSG_ASSIGN && sent[i].m.assign.key.stream == 1;
	}
	assert_true(took <= 150);
	/* The other slot did not have to wait until the work had been going on for long. */
	assert_true(assigned);
}

/* Also when its elements come one by one meanwhile, ten milliseconds after each other. */
static void
a_stream_that_reads_ahead_of_slow_work_leaves_something_for_others(void **state)
{
	uint64_t it = begin("", 400), took = 0;

	(void)state;
	for (uint64_t k = 0; k < 10; k++)
		took += split_size_given(it, k, 1, 0);
	for (uint64_t k = 10; k < 30; k++)
		took += split_size_given(it, k, k % 5 ? 11 : 1, k - 9);
	assert_true(took <= 200);
}

static void
a_stream_that_needs_much_for_its_first_element_gets_it(void **state)
{
	uint64_t it = begin("", 10000000), took = 0, k = 0;

	(void)state;
	while (took < 5000000 && k < 2000)
		took += split_size_given(it, k++, 2, 0);
	assert_true(took >= 5000000);
	assert_true(k < 600);
}

/* W1 has two slots. What is little is done by one stream, unless it takes long. */
static void
slow_work_gets_a_stream_on_every_slot(void **state)
{
	uint64_t it = begin("", 100);

	(void)state;
	assert_int_equal(split_size(it, 0, 1), 1);
	assert_int_equal(split_size(it, 1, 1), 1);
	wait_for(100 * MS);
	assert_null(got(W1, MSG_ASSIGN));
	wait_for(100 * MS);
	assert_int_equal(got(W1, MSG_ASSIGN)->assign.key.stream, 1);
	hello(W2, ROLE_WORKER);
	assert_int_equal(got(W2, MSG_ASSIGN)->assign.key.stream, 2);
}

/* A request is answered with several small files, with fewer as the end comes near,
 * and with one that is not small. */
static void
small_files_are_given_several_at_a_time(void **state)
{
	struct split files[1000] = { { 0 } };
	uint64_t given = 0, last = 64;
	char path[] = "f";

	(void)state;
	for (int i = 0; i < 1000; i++)
		files[i] = (struct split){ .kind = SPLIT_FILE, .whole = true, .path = path, .times = 1,
			.weight = i ? 1000 : 1000000 };
	hello(W1, ROLE_WORKER);
	hello(R1, ROLE_READER);
	open_job(R1, "", "files", 1);
	say(W1, (struct msg){ .type = MSG_UNITS, .req = got(W1, MSG_LIST)->req,
			      .units = { .listing = 1, .last = true, .times = 1, .units = { files, 1000, 1000 } } });
	uint64_t it = got(R1, MSG_JOB)->job.iteration;

	while (given < 1000) {
		say(W1, (struct msg){ .type = MSG_SPLIT_REQ, .split_req = { { it, 0, 1 }, given, 64 } });
		uint64_t n = got(W1, MSG_SPLIT)->split.splits.n;

		if (given == 0)
			assert_int_equal(n, 1);
		else
			assert_true(n >= 1 && n <= last && n <= 32);
		if (given == 1)
			assert_int_equal(n, 32);
		else if (given > 1)
			last = n;
		given += n;
	}
	assert_int_equal(given, 1000);
	assert_int_equal(last, 1);
}

static void
finish(uint64_t it, uint64_t length)
{
	struct stream_key key = { it, 0, 1 };
	struct range all = { 0, length };
	struct msg_stream_ranges l = { 0, { &all, 1 } };

	say(W1, (struct msg){ .type = MSG_ASSIGNED, .assigned.key = key });
	say(W1, (struct msg){ .type = MSG_STREAM_END, .stream_end = { .key = key, .length = length, .made = length } });
	assert_non_null(got(W1, MSG_END_OK));
	say(R1, (struct msg){ .type = MSG_ACK, .req = 1, .ack = { it, 1, 1, { &l, 1 } } });
}

static void
a_pass_ends_when_all_is_acknowledged(void **state)
{
	uint64_t it = begin("job", 1000);

	(void)state;
	finish(it, 1000);
	assert_int_equal(got(R1, MSG_DONE)->done.code, 0);
	assert_int_equal(got(R1, MSG_DONE)->done.elements, 1000);
	assert_non_null(got(W1, MSG_REVOKE));
	say(R1, (struct msg){ .type = MSG_CLOSE, .req = 2, .close = { .iteration = it, .seat = 1, .seq = 2 } });
	assert_non_null(got(R1, MSG_CLOSED));
	/* late comers see at once that it is over; the next epoch is another pass */
	hello(R2, ROLE_READER);
	open_job(R2, "job", "range", 1);
	assert_int_equal(got(R2, MSG_DONE)->done.elements, 1000);
	say(R2, (struct msg){ .type = MSG_OPEN, .req = 8, .open = { .job.name = text("job"), .dataset = text("id-range"),
		.job.sharding = SHARD_DYNAMIC, .job.epoch = 2, .job.seeded = true, .job.seed = 1, .job.wait_ms = 500 } });
	assert_non_null(got(W1, MSG_LIST));
	say(R2, (struct msg){ .type = MSG_BYE });
	wait_for(7 * 86400 * SEC + SEC); /* the second is not over */
	struct buf b = { 0 };
	assert_false(disp_status(d, now, REPORT_AUDIT, "job", &b));
	buf_clear(&b);
}

static void
an_empty_pass_is_over_at_once(void **state)
{
	(void)state;
	begin("", 0);
	assert_int_equal(got(R1, MSG_DONE)->done.code, 0);
}

static void
a_failed_element_ends_the_pass_for_all(void **state)
{
	uint64_t it = begin("job", 1000);
	struct stream_key key = { it, 0, 1 };

	(void)state;
	hello(R2, ROLE_READER);
	open_job(R2, "job", "range", 1);
	say(W1, (struct msg){ .type = MSG_STREAM_END, .stream_end = { .key = key, .code = ST_DATA,
		.text = text("op map: bad") } });
	assert_int_equal(got(R1, MSG_DONE)->done.code, ST_DATA);
	assert_string_equal(got(R2, MSG_DONE)->done.text, "op map: bad");
}

static void
its_end_is_told_to_all_who_are_there(void **state)
{
	(void)state;
	begin("job", 1000);
	hello(T1, ROLE_TOOL);
	say(R2, (struct msg){ .type = MSG_GET, .get.id = text("x") }); /* a stranger */
	forget();
	disp_end(d);
	collect();
	assert_non_null(got(W1, MSG_BYE));
	assert_non_null(got(R1, MSG_BYE));
	assert_non_null(got(T1, MSG_BYE));
	assert_null(got(R2, MSG_BYE));
}

/* A worker that cannot list the units, in UNITS or ERROR. */
static void
open_after(uint32_t said, uint32_t told)
{
	hello(R1, ROLE_READER);
	open_job(R1, "", "range", 1);
	say(W1, (struct msg){ .type = MSG_UNITS, .req = got(W1, MSG_LIST)->req, .units = { .listing = 1, .last = true,
		.code = said, .text = text("no") } });
	assert_int_equal(got(R1, MSG_ERROR)->error.code, told);
	open_job(R1, "", "range", 1);
	say(W1, (struct msg){ .type = MSG_ERROR, .req = got(W1, MSG_LIST)->req, .error = { .code = said,
		.text = text("no") } });
	assert_int_equal(got(R1, MSG_ERROR)->error.code, told);
	say(R1, (struct msg){ .type = MSG_BYE });
}

static void
no_code_of_a_worker_is_taken_for_an_answer(void **state)
{
	static const struct { uint32_t said, told; } codes[] = {
		{ 1, 1 }, { 2, ST_BUG }, { 3, ST_BUG }, { 4, ST_BUG }, { 63, ST_BUG }, { 64, 64 }, { 78, 78 },
		{ 79, ST_BUG }, { 124, 124 }, { 125, ST_BUG }, { 127, 127 }, { 137, ST_BUG }, { 255, ST_BUG } };

	(void)state;
	for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
		struct stream_key key = { begin("", 1000), 0, 1 };

		say(W1, (struct msg){ .type = MSG_STREAM_END, .stream_end = { .key = key, .code = codes[i].said,
			.text = text("no") } });
		assert_int_equal(got(R1, MSG_DONE)->done.code, codes[i].told);
		say(R1, (struct msg){ .type = MSG_BYE });
		open_after(codes[i].said, codes[i].told);
	}
}

static void
another_length_the_second_time_fails_the_pass(void **state)
{
	uint64_t it = begin("job", 1000);
	struct range some = { 0, 10 };
	struct msg_stream_ranges l = { 0, { &some, 1 } };

	(void)state;
	say(W1, (struct msg){ .type = MSG_ASSIGNED, .assigned.key = { it, 0, 1 } });
	say(R1, (struct msg){ .type = MSG_ACK, .req = 1, .ack = { it, 1, 1, { &l, 1 } } });
	say(W1, (struct msg){ .type = MSG_STREAM_END, .stream_end = { .key = { it, 0, 1 }, .length = 5, .made = 5 } });
	assert_int_equal(got(R1, MSG_DONE)->done.code, ST_DATA);
	assert_non_null(strstr(got(R1, MSG_DONE)->done.text, "came out differently"));
}

static void
the_last_reader_of_its_own_job_stops_the_work(void **state)
{
	(void)state;
	begin("", 1000);
	forget();
	disp_peer_gone(d, now, R1);
	collect();
	assert_non_null(got(W1, MSG_REVOKE));
	assert_true(disp_idle_since(d) == now);
}

static void
a_lost_worker_is_replaced_after_readers_were_asked(void **state)
{
	uint64_t it = begin("job", 1000);
	struct range held = { 3, 9 }, acked = { 0, 3 };
	struct msg_stream_ranges l = { 0, { &acked, 1 } };

	(void)state;
	hello(W2, ROLE_WORKER);
	say(W1, (struct msg){ .type = MSG_ASSIGNED, .assigned.key = { it, 0, 1 } });
	say(R1, (struct msg){ .type = MSG_ACK, .req = 1, .ack = { it, 1, 1, { &l, 1 } } });
	forget();
	disp_peer_gone(d, now, W1);
	collect();
	assert_int_equal(got(R1, MSG_HOLD)->hold.key.gen, 2);
	assert_null(got(W2, MSG_ASSIGN));
	say(R1, (struct msg){ .type = MSG_HELD, .held = { { it, 0, 2 }, 1, { &held, 1 } } });
	struct msg_assign *a = &got(W2, MSG_ASSIGN)->assign;
	assert_int_equal(a->key.gen, 2);
	assert_int_equal(a->views.v[0].skip.n, 1);
	assert_int_equal(a->views.v[0].skip.v[0].end, 9);
	/* messages of the first one do not count any more */
	say(W1, (struct msg){ .type = MSG_BEAT });
	assert_non_null(got(W1, MSG_WHO));
}

static void
a_silent_peer_is_lost(void **state)
{
	(void)state;
	begin("job", 1000);
	for (int i = 0; i < 4; i++) {
		wait_for(SEC);
		say(R1, (struct msg){ .type = MSG_BEAT });
	}
	assert_int_equal(disp_workers(d), 1);
	wait_for(SEC + 100 * MS);
	assert_int_equal(disp_workers(d), 0);
}

static void
a_full_disk_refuses_what_is_new_and_goes_on_with_the_rest(void **state)
{
	uint64_t it = begin("job", 1000);

	(void)state;
	disp_refuse_new(d, "no space left");
	hello(R2, ROLE_READER);
	open_job(R2, "job", "range", 1);
	assert_int_equal(got(R2, MSG_ERROR)->error.code, ST_IO);
	say(W1, (struct msg){ .type = MSG_SPLIT_REQ, .split_req = { { it, 0, 1 }, 0, 1 } });
	assert_true(disp_promises(got(W1, MSG_SPLIT)->type));
	disp_refuse_new(d, NULL);
	open_job(R2, "job", "range", 1);
	assert_non_null(got(R2, MSG_JOB));
}

static void
who_was_taken_for_lost_is_told(void **state)
{
	uint64_t it = begin("job", 1000);

	(void)state;
	disp_peer_gone(d, now, R1);
	hello(R1, ROLE_READER);
	say(R1, (struct msg){ .type = MSG_OPEN, .req = 9, .open = { .job.name = text("job"), .iteration = it, .seat = 1 } });
	assert_non_null(got(R1, MSG_GONE));
	say(R1, (struct msg){ .type = MSG_ACK, .req = 9, .ack = { .iteration = it, .seat = 1, .seq = 1 } });
	assert_non_null(got(R1, MSG_GONE));
}

static void
a_close_waits_for_the_ack_before_it(void **state)
{
	uint64_t it = begin("job", 1000);
	struct range had = { 0, 3 };
	struct msg_stream_ranges l = { 0, { &had, 1 } };

	(void)state;
	say(R1, (struct msg){ .type = MSG_CLOSE, .req = 2, .close = { .iteration = it, .seat = 1, .seq = 2 } });
	assert_null(got(R1, MSG_CLOSED)); /* number 1 was lost on the way */
	say(R1, (struct msg){ .type = MSG_ACK, .req = 1, .ack = { it, 1, 1, { &l, 1 } } });
	assert_non_null(got(R1, MSG_ACKED));
	say(R1, (struct msg){ .type = MSG_CLOSE, .req = 2, .close = { .iteration = it, .seat = 1, .seq = 2 } });
	assert_non_null(got(R1, MSG_CLOSED));
}

static void
only_a_reader_with_a_position_is_waited_for(void **state)
{
	struct msg m = { .type = MSG_OPEN, .req = 7, .open = { .job.name = text("job"), .spec = text("range"),
		.type = text("int"),
		.job.sharding = SHARD_DYNAMIC, .job.epoch = 1, .job.min_workers = 1, .job.wait_ms = 500, .job.checkpoint = true } };

	(void)state;
	hello(W1, ROLE_WORKER);
	hello(R1, ROLE_READER);
	say(R1, m);
	units(W1, got(W1, MSG_LIST)->req, 1000);
	uint64_t it = got(R1, MSG_JOB)->job.iteration;
	say(W1, (struct msg){ .type = MSG_ASSIGNED, .assigned.key = { it, 0, 1 } });
	struct msg_take take = { { it, 0, 1 }, 1, 0 };
	say(W1, (struct msg){ .type = MSG_TAKES, .takes.list = { &take, 1 } });
	/* it had time to save nothing: its elements go to whom comes next */
	forget();
	disp_peer_gone(d, now, R1);
	collect();
	assert_non_null(got(W1, MSG_READER_GONE));
	hello(R2, ROLE_READER);
	say(R2, m);
	say(R2, (struct msg){ .type = MSG_ACK, .req = 1, .ack = { .iteration = it, .seat = 2, .seq = 1 } });
	assert_non_null(got(R2, MSG_ACKED));
	/* this one may have saved what it had */
	take.seat = 2;
	say(W1, (struct msg){ .type = MSG_TAKES, .takes.list = { &take, 1 } });
	forget();
	disp_peer_gone(d, now, R2);
	collect();
	assert_null(got(W1, MSG_READER_GONE));
}

/* Both specs are told, and each may be as long as a spec may be: a message is not. */
static void
long_errors_are_cut(void **state)
{
	char one[20000], two[20000], *longest = mem_zalloc(WIRE_TEXT_MAX + 1);

	(void)state;
	memset(one, 'a', sizeof one);
	memset(two, 'b', sizeof two);
	one[sizeof one - 1] = two[sizeof two - 1] = '\0';
	hello(R1, ROLE_READER);
	say(R1, (struct msg){ .type = MSG_REGISTER, .req = 5, .reg = { .id = text("same"), .spec = one,
		.type = text("int") } });
	assert_non_null(got(R1, MSG_DATASET));
	say(R1, (struct msg){ .type = MSG_REGISTER, .req = 6, .reg = { .id = text("same"), .spec = two,
		.type = text("int") } });
	assert_non_null(got(R1, MSG_ERROR));
	assert_true(strlen(got(R1, MSG_ERROR)->error.text) > 8000);
	/* job and options are told twice */
	memset(longest, 'o', WIRE_TEXT_MAX);
	hello(R2, ROLE_READER);
	for (uint32_t k = 0; k < 2; k++)
		say(k ? R2 : R1, (struct msg){ .type = MSG_OPEN, .req = 7, .open = { .job.name = text("job"), .spec = text("range"),
			.type = text("int"), .job.sharding = SHARD_DYNAMIC, .job.epoch = 1, .job.shards = k, .job.options = longest,
			.job.min_workers = 1, .job.wait_ms = 500 } });
	assert_non_null(got(R2, MSG_ERROR));
	mem_free(longest);
}

static void
a_report_comes_in_parts(void **state)
{
	struct buf whole = { 0 }, parts = { 0 };
	uint32_t part = 0;
	struct msg *m;

	(void)state;
	begin("j", 10);
	hello(T1, ROLE_TOOL);
	do {
		say(T1, (struct msg){ .type = MSG_STATUS, .req = 20 + part, .status = { .job = text(""), .part = part } });
		m = got(T1, MSG_REPORT);
		assert_non_null(m);
		assert_int_equal(m->report.part, part);
		buf_put(&parts, m->report.value.p, m->report.value.n);
		if (!part)
			/* the report of that moment */
			assert_true(disp_status(d, now, REPORT_ALL, "", &whole));
		part++;
	} while (!m->report.last);
	assert_true(part > 2);
	assert_int_equal(parts.len, whole.len);
	assert_memory_equal(parts.data, whole.data, whole.len);
	/* It is forgotten with its last part. */
	say(T1, (struct msg){ .type = MSG_STATUS, .req = 90, .status = { .job = text(""), .part = 1 } });
	assert_int_equal(got(T1, MSG_ERROR)->error.code, ST_TEMP);
	buf_clear(&whole);
	buf_clear(&parts);
}
