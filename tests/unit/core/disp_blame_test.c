/* SPDX-License-Identifier: MIT
 *
 * Streams that kill their workers. (Whole passes: tests/sim.)
 */
#include "dispatcher_kit.h"

#define EACH_SETUP setup
#define EACH_TEARDOWN teardown

static void
begun(uint64_t worker, const struct stream_key *key)
{
	say(worker, (struct msg){ .type = MSG_ASSIGNED, .assigned.key = *key });
	say(worker, (struct msg){ .type = MSG_SPLIT_REQ, .split_req = { *key, 0, 1 } });
}

static void
dies(uint64_t worker)
{
	forget();
	disp_peer_gone(d, now, worker);
	collect();
}

/* The reader says that it holds nothing; the next worker comes. */
static void
next_worker(uint64_t reader, uint64_t worker)
{
	struct msg *hold = got(reader, MSG_HOLD);

	if (hold)
		say(reader, (struct msg){ .type = MSG_HELD, .held = { .key = hold->hold.key, .seat = 1 } });
	hello(worker, ROLE_WORKER);
}

static void
a_stream_that_kills_three_workers_fails(void **state)
{
	struct stream_key key = { begin("poison", 1000), 0, 1 };

	(void)state;
	for (uint64_t w = W1; w < W1 + 3; w++) {
		assert_null(got(R1, MSG_DONE));
		begun(w, &key);
		dies(w);
		if (w == W1 + 2)
			break;
		next_worker(R1, w + 1);
		assert_int_equal(got(w + 1, MSG_ASSIGN)->assign.key.gen, ++key.gen);
	}
	assert_int_equal(got(R1, MSG_DONE)->done.code, ST_DATA);
	assert_non_null(strstr(got(R1, MSG_DONE)->done.text, "stream 0 of dataset id-range has cost 3 workers"));
	assert_non_null(strstr(got(R1, MSG_DONE)->done.text, "its split 0, the source from 0 on"));
}

static void
taken(struct stream_key key, uint64_t seq, uint64_t element)
{
	struct range one = { element, element + 1 };
	struct msg_stream_ranges list = { 0, { &one, 1 } };

	say(R1, (struct msg){ .type = MSG_ACK, .ack = { .iteration = key.iteration, .seat = 1, .seq = seq,
		.list = { &list, 1 } } });
}

static void
one_that_gets_on_does_not(void **state)
{
	struct stream_key key = { begin("slow", 1000), 0, 1 };

	(void)state;
	for (uint64_t w = W1; w < W1 + 7; w++) {
		begun(w, &key);
		taken(key, w, w - W1);
		dies(w);
		next_worker(R1, w + 1);
		key.gen++;
		assert_null(got(R1, MSG_DONE));
	}
}

static void
restart(uint64_t worker, struct stream_key key, uint64_t offset, const char *state)
{
	say(worker, (struct msg){ .type = MSG_RESTART, .restart = { .key = key, .offset = offset, .split = 1,
		.state = { (uint8_t *)text(state), strlen(state) } } });
}

/* A save, or a filter that lets little pass: its restart points are at the same element. */
static void
nor_one_that_gets_on_without_giving_anything(void **state)
{
	struct stream_key key = { begin("long", 1000), 0, 1 };
	char at[8];

	(void)state;
	for (uint64_t w = W1; w < W1 + 7; w++) {
		begun(w, &key);
		snprintf(at, sizeof at, "a %u", (unsigned)(w - W1));
		restart(w, key, 0, at);
		snprintf(at, sizeof at, "b %u", (unsigned)(w - W1));
		restart(w, key, 0, at);
		dies(w);
		next_worker(R1, w + 1);
		key.gen++;
		assert_null(got(R1, MSG_DONE));
		/* and nothing of that is made again */
		const struct msg_assign *a = &got(w + 1, MSG_ASSIGN)->assign;
		assert_int_equal(a->offset, 0);
		assert_memory_equal(a->state.p, at, a->state.n);
		assert_int_equal(a->state.n, 3);
	}
}

static void
one_that_kills_behind_such_a_point_still_fails(void **state)
{
	struct stream_key key = { begin("poison", 1000), 0, 1 };
	uint64_t w = W1;

	(void)state;
	begun(w, &key);
	restart(w, key, 0, "a");
	restart(w, key, 0, "b");
	for (; !got(R1, MSG_DONE); w++) {
		assert_true(w < W1 + 4);
		dies(w);
		if (got(R1, MSG_DONE))
			break;
		next_worker(R1, w + 1);
		key.gen++;
		begun(w + 1, &key);
	}
	assert_int_equal(got(R1, MSG_DONE)->done.code, ST_DATA);
}

/* Its elements are not acknowledged, so it begins before its last restart point each time, and passes it
 * once more: with another state, since it fails elements on the way. */
static void
one_that_passes_its_last_point_again_has_not_got_on(void **state)
{
	struct stream_key key = { begin("poison", 1000), 0, 1 };
	uint64_t w = W1;
	char at[8];

	(void)state;
	begun(w, &key);
	restart(w, key, 0, "begin");
	restart(w, key, 4, "last");
	for (; !got(R1, MSG_DONE); w++) {
		assert_true(w < W1 + 4);
		snprintf(at, sizeof at, "c %u", (unsigned)(w - W1));
		if (w > W1)
			restart(w, key, 4, at);
		dies(w);
		if (got(R1, MSG_DONE))
			break;
		next_worker(R1, w + 1);
		assert_int_equal(got(w + 1, MSG_ASSIGN)->assign.offset, 0);
		key.gen++;
		begun(w + 1, &key);
	}
	assert_int_equal(got(R1, MSG_DONE)->done.code, ST_DATA);
}

/* Its first worker made much ahead, and all die of the same element behind that, while the reader takes
 * what comes before it one by one. */
static void
to_be_read_behind_is_not_to_get_on(void **state)
{
	struct stream_key key = { begin("poison", 1000), 0, 1 };
	uint64_t w = W1;

	(void)state;
	begun(w, &key);
	restart(w, key, 200, "far");
	for (;; w++) {
		assert_true(w < W1 + 6);
		taken(key, w, w - W1);
		dies(w);
		if (got(R1, MSG_DONE))
			break;
		next_worker(R1, w + 1);
		key.gen++;
		begun(w + 1, &key);
	}
	assert_int_equal(got(R1, MSG_DONE)->done.code, ST_DATA);
	assert_true(w > W1 + 3); /* it counts less than if nothing was taken */
}

/* A careful worker is about to make the element at `at`; held: once readers take what it has. */
static void
step(uint64_t worker, struct stream_key key, uint64_t at, bool held, bool ahead)
{
	say(worker, (struct msg){ .type = MSG_STEP, .req = 7, .step = { key, at, held, ahead } });
	assert_int_equal(got(worker, MSG_STEP_OK) != NULL, !held);
	if (!held)
		assert_int_equal(got(worker, MSG_STEP_OK)->req, 7);
}

/* The next worker gets the stream; gives whether it is to be made carefully. */
static bool
goes_on(uint64_t worker, struct stream_key *key)
{
	next_worker(R1, worker);
	key->gen++;
	bool careful = got(worker, MSG_ASSIGN)->assign.careful;
	begun(worker, key);
	return careful;
}

/* The reader has one element more each time of those that a worker made before it died. */
static void
one_that_seems_to_get_on_to_an_element_that_kills_is_found_there(void **state)
{
	struct stream_key key = { begin("poison", 1000), 0, 1 };
	bool careful = false;
	uint64_t w = W1;

	(void)state;
	begun(w, &key);
	for (;; w++) {
		assert_true(w < W1 + 5);
		taken(key, w, w - W1);
		for (uint64_t at = 0; careful && at <= 40; at += 10)
			step(w, key, at, false, false);
		dies(w);
		if (got(R1, MSG_DONE))
			break;
		careful = goes_on(w + 1, &key);
		assert_int_equal(careful, w > W1);
	}
	assert_int_equal(w, W1 + 4);
	assert_int_equal(got(R1, MSG_DONE)->done.code, ST_DATA);
}

/* The reader waits for another stream, and takes nothing of this one. */
static void
one_that_is_held_up_when_its_workers_are_killed_does_not(void **state)
{
	struct stream_key key = { begin("innocent", 1000), 0, 1 };

	(void)state;
	begun(W1, &key);
	for (uint64_t w = W1; w < W1 + 9; w++) {
		if (w > W1 + 1) {
			step(w, key, 0, false, false);
			step(w, key, 10, true, false);
		}
		dies(w);
		goes_on(w + 1, &key);
		assert_null(got(R1, MSG_DONE));
	}
}

static void
unless_threads_may_have_made_more_meanwhile(void **state)
{
	struct stream_key key = { begin("poison", 1000), 0, 1 };
	uint64_t w = W1;

	(void)state;
	begun(w, &key);
	for (;; w++) {
		assert_true(w < W1 + 5);
		if (w > W1 + 1)
			step(w, key, 10, true, true);
		dies(w);
		if (got(R1, MSG_DONE))
			break;
		goes_on(w + 1, &key);
	}
	assert_int_equal(got(R1, MSG_DONE)->done.code, ST_DATA);
}

/* One that has got far once is lost at places that it got past then. */
static void
nor_one_whose_workers_die_where_others_did_not(void **state)
{
	struct stream_key key = { begin("innocent", 1000), 0, 1 };

	(void)state;
	begun(W1, &key);
	for (uint64_t w = W1; w < W1 + 9; w++) {
		if (w > W1 + 1)
			step(w, key, w == W1 + 2 ? 100000 : 500, false, false);
		dies(w);
		goes_on(w + 1, &key);
		assert_null(got(R1, MSG_DONE));
	}
}

static void
lives(uint64_t worker, unsigned seconds)
{
	while (seconds--) {
		say(R1, (struct msg){ .type = MSG_BEAT });
		say(worker, (struct msg){ .type = MSG_BEAT });
		wait_for(1000 * MS);
	}
}

static void
care_ends_early_once_and_then_when_a_loss_would_not_count(void **state)
{
	struct stream_key key = { begin("innocent", 1000), 0, 1 };

	(void)state;
	begun(W1, &key);
	dies(W1);
	assert_false(goes_on(W1 + 1, &key));
	dies(W1 + 1);
	assert_true(goes_on(W1 + 2, &key));
	step(W1 + 2, key, 10, false, false);
	assert_false(got(W1 + 2, MSG_STEP_OK)->step_ok.free);
	lives(W1 + 2, 61);
	step(W1 + 2, key, 20, false, false);
	assert_true(got(W1 + 2, MSG_STEP_OK)->step_ok.free);
	dies(W1 + 2);
	assert_true(goes_on(W1 + 3, &key));
	lives(W1 + 3, 61);
	step(W1 + 3, key, 20, false, false);
	assert_false(got(W1 + 3, MSG_STEP_OK)->step_ok.free);
	lives(W1 + 3, 540);
	step(W1 + 3, key, 30, false, false);
	assert_true(got(W1 + 3, MSG_STEP_OK)->step_ok.free);
	dies(W1 + 3);
	assert_false(goes_on(W1 + 4, &key)); /* the count of losses has begun anew */
}

static void
nor_one_whose_workers_leave_in_order(void **state)
{
	struct stream_key key = { begin("calm", 1000), 0, 1 };

	(void)state;
	for (uint64_t w = W1; w < W1 + 7; w++) {
		begun(w, &key);
		say(w, (struct msg){ .type = MSG_BYE });
		next_worker(R1, w + 1);
		key.gen++;
		assert_null(got(R1, MSG_DONE));
	}
}

/* Whether it was now given the iteration's first stream; others are new. */
static bool
given(uint64_t worker, uint64_t iteration)
{
	for (size_t i = 0; i < n_sent; i++)
		if (sent[i].peer == worker && sent[i].m.type == MSG_ASSIGN &&
		    sent[i].m.assign.key.iteration == iteration && !sent[i].m.assign.key.stream)
			return true;
	return false;
}

/* Two streams die together twice: then each gets a worker of its own, and only the one
 * that kills that, too, fails. */
static void
an_innocent_stream_is_told_from_a_guilty_one(void **state)
{
	struct stream_key bad = { begin("bad", 1000), 0, 1 }, good;
	struct msg *m;

	(void)state;
	hello(R2, ROLE_READER);
	open_job(R2, "good", "range", 1);
	units(W1, got(W1, MSG_LIST)->req, 1000);
	good = got(W1, MSG_ASSIGN)->assign.key;
	for (uint64_t w = W1; w < W1 + 2; w++) {
		begun(w, &bad);
		begun(w, &good);
		dies(w);
		m = got(R2, MSG_HOLD);
		struct msg_held held = { .key = m->hold.key, .seat = 1 };
		struct msg_held other = { .key = got(R1, MSG_HOLD)->hold.key, .seat = 1 };
		say(R2, (struct msg){ .type = MSG_HELD, .held = held });
		say(R1, (struct msg){ .type = MSG_HELD, .held = other });
		hello(w + 1, ROLE_WORKER);
		bad.gen++, good.gen++;
	}
	/* on W1 + 2 there is one of them, and the other waits */
	bool bad_first = given(W1 + 2, bad.iteration);
	assert_int_equal(given(W1 + 2, good.iteration), !bad_first);
	hello(W1 + 3, ROLE_WORKER);
	assert_true(given(W1 + 3, bad_first ? good.iteration : bad.iteration));
	uint64_t killed = bad_first ? W1 + 2 : W1 + 3;
	begun(killed, &bad);
	begun(killed == W1 + 2 ? W1 + 3 : W1 + 2, &good);
	dies(killed);
	assert_int_equal(got(R1, MSG_DONE)->done.code, ST_DATA);
	assert_null(got(R2, MSG_DONE));
	assert_null(got(R2, MSG_HOLD));
}

static struct { struct disp_row row; uint8_t blob[4096]; } rows[64];
static size_t n_rows;

static void
keep(void *arg, const struct disp_row *r)
{
	(void)arg;
	for (size_t i = 0; i < n_rows;)
		if (rows[i].row.kind == r->kind && !memcmp(rows[i].row.key, r->key, r->n_key * sizeof r->key[0]))
			rows[i] = rows[--n_rows];
		else
			i++;
	if (!r->blob)
		return;
	assert_true(n_rows < 64 && r->n <= sizeof rows[0].blob);
	rows[n_rows].row = *r;
	memcpy(rows[n_rows++].blob, r->blob, r->n);
}

static void
losses_are_remembered_over_a_restart(void **state)
{
	struct disp_opts o = { .instance = 5, .seed = 3, .durable = true, .spec_id = spec_id, .job_gc_ns = 60 * SEC };
	struct err e;

	teardown(state);
	d = disp_new(&o, now);
	on_row = keep;
	struct stream_key key = { begin("poison", 1000), 0, 1 };
	for (uint64_t w = W1; w < W1 + 3; w++) {
		begun(w, &key);
		assert_null(got(R1, MSG_DONE));
		dies(w);
		if (w == W1 + 2)
			break;
		forget();
		disp_free(&d);
		d = disp_new(&o, now);
		for (size_t i = 0; i < n_rows; i++) {
			rows[i].row.blob = rows[i].blob;
			assert_int_equal(disp_load(d, &rows[i].row, &e), ST_OK);
		}
		assert_int_equal(disp_loaded(d, now, &e), ST_OK);
		hello(R1, ROLE_READER);
		next_worker(R1, w + 1);
		assert_int_equal(got(w + 1, MSG_ASSIGN)->assign.key.gen, ++key.gen);
	}
	assert_int_equal(got(R1, MSG_DONE)->done.code, ST_DATA);
	on_row = NULL;
}

/* The stream that the worker is given within so many seconds; in each of them it makes elements for
 * so long, and else waits for readers. UINT32_MAX: none. */
static uint32_t
assigned_after(uint64_t worker, uint64_t it, unsigned seconds, int64_t work)
{
	struct msg_clock c = { .iteration = it, .work_ns = (uint64_t)work, .wait_ns = (uint64_t)(SEC - work) };

	for (unsigned i = 0; i < seconds; i++) {
		say(R1, (struct msg){ .type = MSG_BEAT });
		say(worker, (struct msg){ .type = MSG_BEAT, .beat.clocks = { &c, 1 } });
		wait_for(SEC);
		if (got(worker, MSG_ASSIGN))
			return got(worker, MSG_ASSIGN)->assign.key.stream;
	}
	return UINT32_MAX;
}

/* All of them wait for a worker of their own, and there is but one: the reader of an ordered job
 * can do nothing with the others before the first. */
static void
of_several_suspects_the_one_that_is_read_first_comes_first(void **state)
{
	uint64_t it;

	(void)state;
	hello(W1, ROLE_WORKER);
	hello(R1, ROLE_READER);
	say(R1, (struct msg){ .type = MSG_OPEN, .req = 7, .open = { .job.name = text("job"), .spec = text("range"),
		.type = text("int"), .job.sharding = SHARD_DYNAMIC, .job.order = ORDER_STABLE, .job.shards = 4, .job.epoch = 1,
		.job.min_workers = 1, .job.wait_ms = 500 } });
	units(W1, got(W1, MSG_LIST)->req, 1000);
	it = got(R1, MSG_JOB)->job.iteration;
	for (uint32_t gen = 1; gen <= 2; gen++) {
		for (uint32_t i = 0; i < 4; i++)
			begun(W1 + gen - 1, &(struct stream_key){ it, i, gen });
		dies(W1 + gen - 1);
		for (uint32_t i = 4; i-- > 0;)
			say(R1, (struct msg){ .type = MSG_HELD, .held = { .key = { it, i, gen + 1 }, .seat = 1 } });
		hello(W1 + gen, ROLE_WORKER);
	}
	for (size_t i = 0; i < n_sent; i++)
		if (sent[i].peer == W1 + 2 && sent[i].m.type == MSG_ASSIGN)
			assert_int_equal(sent[i].m.assign.key.stream, 0);
	assert_non_null(got(W1 + 2, MSG_ASSIGN));
	begun(W1 + 2, &(struct stream_key){ it, 0, 3 });
	/* The next one comes when the worker can only wait for the reader, */
	assert_int_equal(assigned_after(W1 + 2, it, 10, 0), 1);
	begun(W1 + 2, &(struct stream_key){ it, 1, 3 });
	/* not while it is making something. */
	assert_int_equal(assigned_after(W1 + 2, it, 20, SEC), UINT32_MAX);
	/* Those that have ended harm nobody any more, though they got no further than at a loss before. */
	for (uint32_t i = 0; i < 2; i++)
		say(W1 + 2, (struct msg){ .type = MSG_STREAM_END, .stream_end = { .key = { it, i, 3 }, .length = 1, .made = 1 } });
	assert_int_equal(assigned_after(W1 + 2, it, 5, SEC), 2);
}
