/* SPDX-License-Identifier: MIT */
#include "reader_kit.h"

#define EACH_TEARDOWN teardown

static void
each_element_is_delivered_once(void **state)
{
	(void)state;
	begin((struct reader_opts){ 0 }, 1);
	streams(1, 1, STREAM_RUNNING, 0);
	assert_non_null(act(READER_CONNECT, 0));
	assert_string_equal(endpoint, "ep");
	assert_int_equal(act(READER_SEND, MSG_CREDIT)->msg.credit.session, 1);
	chunk(0, 0, 1, 0, 5, 0);
	assert_int_equal(act(READER_DELIVER, 0)->count, 5);
	chunk(1, 0, 1, 0, 5, 0); /* again */
	assert_null(act(READER_DELIVER, 0));
	assert_ptr_equal(act(READER_FREE, 0)->handle, &names[1]);
	chunk(2, 0, 1, 3, 5, 0); /* overlapping */
	assert_int_equal(act(READER_DELIVER, 0)->first, 2);
	assert_int_equal(act(READER_DELIVER, 0)->count, 3);
	chunk(3, 0, 1, 8, 5, 4); /* its front was for others */
	assert_int_equal(act(READER_DELIVER, 0)->first, 4);
	chunk(4, 0, 2, 20, 5, 0); /* a chunk of a generation that does not exist */
	assert_null(act(READER_DELIVER, 0));
	written(6);
	assert_ptr_equal(act(READER_FREE, 0)->handle, &names[0]);
	assert_int_equal(act(READER_SEND, MSG_CHUNK_ACK)->msg.chunk_ack.ranges.v[0].end, 6);
	assert_null(act(READER_TELL, MSG_ACK)); /* waits for company */
	reader_tick(r, now += 60 * MS);
	collect();
	assert_int_equal(act(READER_TELL, MSG_ACK)->msg.ack.list.v[0].ranges.v[0].end, 6);
	chunk(5, 0, 1, 0, 5, 0); /* again, and written long ago */
	assert_non_null(act(READER_SEND, MSG_CHUNK_ACK));
}

static void
what_is_held_is_told_and_older_generations_dropped(void **state)
{
	(void)state;
	begin((struct reader_opts){ 0 }, 1);
	streams(1, 1, STREAM_RUNNING, 0);
	chunk(0, 0, 1, 0, 5, 0);
	written(2);
	told((struct msg){ .type = MSG_HOLD, .hold.key = { 7, 0, 2 } });
	assert_int_equal(act(READER_TELL, MSG_HELD)->msg.held.ranges.n, 1);
	assert_int_equal(act(READER_TELL, MSG_HELD)->msg.held.ranges.v[0].end, 5);
	assert_non_null(act(READER_DISCONNECT, 0));
	chunk(1, 0, 1, 5, 5, 0);
	assert_null(act(READER_DELIVER, 0));
	streams(1, 2, STREAM_RUNNING, 0);
	assert_non_null(act(READER_CONNECT, 0));
}

static void
the_end_is_acknowledged_at_once(void **state)
{
	(void)state;
	begin((struct reader_opts){ 0 }, 1);
	streams(1, 1, STREAM_ENDED, 5);
	chunk(0, 0, 1, 0, 5, 0);
	written(5);
	assert_non_null(act(READER_TELL, MSG_ACK));
	told((struct msg){ .type = MSG_ACKED, .acked = { .iteration = 7, .seat = 3, .seq = 1 } });
	told((struct msg){ .type = MSG_DONE, .done = { .iteration = 7, .elements = 5 } });
	assert_non_null(act(READER_TELL, MSG_CLOSE));
	told((struct msg){ .type = MSG_CLOSED, .closed = { 7, 3 } });
	assert_int_equal(act(READER_DONE, 0)->code, 0);
}

static void
stable_order_takes_blocks_in_turn(void **state)
{
	static const struct { uint32_t stream, count; } want[] = { { 0, 2 }, { 1, 2 }, { 0, 1 }, { 1, 2 }, { 1, 1 } };
	size_t n = 0;

	(void)state;
	begin((struct reader_opts){ .job.order = ORDER_STABLE }, 2);
	streams(2, 1, STREAM_RUNNING, 0);
	chunk(0, 1, 1, 0, 5, 0);
	assert_null(act(READER_DELIVER, 0)); /* it is stream 0's turn */
	chunk(1, 0, 1, 0, 3, 0);
	for (size_t i = 0; i < n_acts; i++)
		if (acts[i].kind == READER_DELIVER) {
			assert_true(n < 3);
			assert_int_equal(acts[i].stream, want[n].stream);
			assert_int_equal(acts[i].count, want[n++].count);
		}
	struct msg_stream v = { .stream = 0, .gen = 1, .state = STREAM_ENDED, .length = 3, .worker = WORKER };
	told((struct msg){ .type = MSG_STREAMS, .streams = { .iteration = 7, .since = 1, .version = 2, .total = 2,
		.list = { &v, 1 } } });
	for (size_t i = 0; i < n_acts; i++)
		if (acts[i].kind == READER_DELIVER) {
			assert_int_equal(acts[i].stream, want[n].stream);
			assert_int_equal(acts[i].count, want[n++].count);
		}
	assert_int_equal(n, 5);
}

static void
failed(uint32_t stream, uint32_t gen, uint64_t length, uint64_t split)
{
	static uint64_t version = 10;
	struct msg_stream v = { .stream = stream, .gen = gen, .state = STREAM_FAILED, .length = length,
		.split = split, .worker = WORKER, .endpoint = (char *)(uintptr_t)"ep" };

	told((struct msg){ .type = MSG_STREAMS, .streams = { .iteration = 7, .since = 1, .version = version++,
		.all_known = true, .total = 2, .list = { &v, 1 } } });
}

static uint64_t
delivered(void)
{
	uint64_t n = 0;

	for (size_t i = 0; i < n_acts; i++)
		n += acts[i].kind == READER_DELIVER ? acts[i].count : 0;
	return n;
}

/* Blocks of two: stream 0 fails at its fifth element, behind two blocks of stream 1. */
static void
stable_order_ends_at_the_element_that_failed(void **state)
{
	(void)state;
	begin((struct reader_opts){ .job.order = ORDER_STABLE }, 2);
	streams(2, 1, STREAM_RUNNING, 0);
	chunk(0, 0, 1, 0, 4, 0);
	written(2);
	failed(0, 1, 4, 0);
	assert_int_equal(delivered(), 0); /* it is the turn of stream 1 */
	chunk(1, 1, 1, 0, 9, 0);
	assert_int_equal(delivered(), 6); /* two of 1, two of 0, two of 1 */
	assert_null(act(READER_TELL, MSG_REACHED));
	written(5);
	assert_null(act(READER_TELL, MSG_REACHED));
	written(1);
	assert_int_equal(act(READER_TELL, MSG_REACHED)->msg.reached.key.stream, 0);
	assert_int_equal(act(READER_TELL, MSG_REACHED)->msg.reached.seat, 3);
	/* another worker has it now, and comes further */
	streams(1, 2, STREAM_RUNNING, 0);
	written(0);
	assert_null(act(READER_TELL, MSG_REACHED));
	chunk(2, 0, 2, 4, 2, 0);
	assert_int_equal(delivered(), 4);
}

/* Split g is split g div 2 of stream g mod 2: what fails in the second one of stream 0
 * comes behind the first one of stream 1. */
static void
source_order_ends_in_the_split_that_failed(void **state)
{
	(void)state;
	begin((struct reader_opts){ .job.order = ORDER_SOURCE, .job.sharding = SHARD_DYNAMIC }, 2);
	streams(2, 1, STREAM_RUNNING, 0);
	chunk(0, 0, 1, 0, 4, 0);
	written(4);
	failed(0, 1, 4, 1);
	assert_null(act(READER_TELL, MSG_REACHED));
	chunk(1, 1, 1, 0, 3, 0);
	assert_int_equal(delivered(), 3);
	struct msg_chunk c = { .key = { 7, 1, 1 }, .seat = 3, .session = 1, .offset = 3, .count = 2, .split = 1 };
	reader_chunk(r, now += MS, WORKER, &c, &names[2], 100);
	collect();
	assert_int_equal(delivered(), 0);
	written(3);
	assert_int_equal(delivered(), 0);
	assert_int_equal(act(READER_TELL, MSG_REACHED)->msg.reached.key.stream, 0);
}

static void
a_position_is_gone_on_from_and_others_are_refused(void **state)
{
	struct reader_opts o = { .job.checkpoint = true };
	struct buf b = { 0 };
	struct err e;

	(void)state;
	begin(o, 1);
	streams(1, 1, STREAM_RUNNING, 0);
	chunk(0, 0, 1, 0, 5, 0);
	written(3);
	assert_null(act(READER_SEND, MSG_CHUNK_ACK)); /* not before it is saved */
	reader_position(r, &b);
	written(1);
	reader_saved(r, now);
	collect();
	assert_int_equal(act(READER_SEND, MSG_CHUNK_ACK)->msg.chunk_ack.ranges.v[0].end, 3);
	teardown(NULL);
	o.position = b.data;
	o.position_len = b.len;
	begin(o, 0);
	struct msg_open *m = &act(READER_TELL, MSG_OPEN)->msg.open;
	assert_true(m->resume);
	assert_int_equal(m->iteration, 7);
	assert_int_equal(m->seat, 3);
	assert_int_equal(m->have.v[0].ranges.v[0].end, 3);
	assert_true(m->pass_seed); /* the job had none */
	teardown(NULL);
	o.dataset = "other";
	struct reader *none = NULL;
	assert_int_equal(reader_new(&o, now, &none, &e), ST_DATA);
	assert_string_equal(e.text, "the position belongs to dataset `d`, not to `other`");
	o.position_len--;
	assert_int_equal(reader_new(&o, now, &none, &e), ST_DATA);
	buf_clear(&b);
	begin((struct reader_opts){ 0 }, 0);
}

static void
errors_end_it_with_their_code(void **state)
{
	(void)state;
	begin((struct reader_opts){ 0 }, 0);
	told((struct msg){ .type = MSG_ERROR, .req = 1, .error = { ST_NOINPUT, (char *)(uintptr_t)"no dataset", NULL } });
	assert_int_equal(act(READER_DONE, 0)->code, ST_NOINPUT);
	assert_string_equal(act(READER_DONE, 0)->err->text, "no dataset");
}

static void
taken_for_lost_it_stops(void **state)
{
	(void)state;
	begin((struct reader_opts){ 0 }, 1);
	told((struct msg){ .type = MSG_GONE, .gone = { 7, 3, ST_TEMP, NULL } });
	assert_int_equal(act(READER_DONE, 0)->code, ST_TEMP);
}

static void
it_stops_when_its_job_was_forgotten(void **state)
{
	(void)state;
	begin((struct reader_opts){ 0 }, 1);
	told((struct msg){ .type = MSG_GONE, .gone = { 7, 3, ST_NOINPUT, (char *)(uintptr_t)"forgotten" } });
	assert_int_equal(act(READER_DONE, 0)->code, ST_NOINPUT);
	assert_string_equal(act(READER_DONE, 0)->err->text, "forgotten");
}

/* Chunks of stream 0 come and are written, until the reader may ask for READER_WINDOW at once. */
static void
open_window(void)
{
	for (int i = 0; i < READER_WINDOW; i++)
		chunk(i, 0, 1, 5 * (uint64_t)i, 5, 0);
	written(5 * READER_WINDOW);
}

static uint64_t
credit_of(uint64_t worker)
{
	uint64_t total = 0;

	for (size_t i = 0; i < n_acts; i++)
		if (acts[i].kind == READER_SEND && acts[i].worker == worker && acts[i].msg.type == MSG_CREDIT)
			total = acts[i].msg.credit.total;
	return total;
}

/* A reader that wants one element should not have asked for many. */
static void
credit_grows_as_chunks_come(void **state)
{
	(void)state;
	begin((struct reader_opts){ 0 }, 1);
	streams(1, 1, STREAM_RUNNING, 0);
	assert_int_equal(credit_of(WORKER), 1);
	chunk(0, 0, 1, 0, 5, 0);
	assert_int_equal(credit_of(WORKER), 1 + 1);
	written(5);
	assert_int_equal(credit_of(WORKER), 1 + 2);
	chunk(1, 0, 1, 5, 5, 0);
	chunk(2, 0, 1, 10, 5, 0);
	written(15);
	assert_int_equal(credit_of(WORKER), 3 + 4);
	for (int i = 3; i < READER_WINDOW + 3; i++)
		chunk(i, 0, 1, 5 * (uint64_t)i, 5, 0);
	written(5 * (READER_WINDOW + 3));
	assert_int_equal(credit_of(WORKER), READER_WINDOW + 3 + READER_WINDOW);
}

static void
a_broken_connection_begins_a_new_session(void **state)
{
	(void)state;
	begin((struct reader_opts){ 0 }, 1);
	streams(1, 1, STREAM_RUNNING, 0);
	open_window();
	chunk(READER_WINDOW, 0, 1, 5 * READER_WINDOW, 5, 0);
	reader_worker_gone(r, now, WORKER);
	collect();
	assert_int_equal(act(READER_SEND, MSG_CREDIT)->msg.credit.session, 2);
	assert_int_equal(act(READER_SEND, MSG_CREDIT)->msg.credit.total, READER_WINDOW - 1);
}

static void
stopping_early_says_what_was_written(void **state)
{
	(void)state;
	begin((struct reader_opts){ 0 }, 1);
	streams(1, 1, STREAM_RUNNING, 0);
	chunk(0, 0, 1, 0, 5, 0);
	written(2);
	reader_close(r, now, false);
	collect();
	assert_int_equal(act(READER_TELL, MSG_CLOSE)->msg.close.list.v[0].ranges.v[0].end, 2);
	told((struct msg){ .type = MSG_CLOSED, .closed = { 7, 3 } });
	assert_int_equal(act(READER_DONE, 0)->code, 0);
}

/* Its predecessor had acknowledged something behind a gap. */
static void
an_ordered_reader_passes_over_what_others_acknowledged(void **state)
{
	struct msg_floor floor = { 0, 9 };
	struct msg_acked acked = { .iteration = 7, .seat = 3, .seq = 1, .floors = { &floor, 1 } };

	(void)state;
	begin((struct reader_opts){ .job.order = ORDER_STABLE }, 1);
	streams(1, 1, STREAM_RUNNING, 0);
	chunk(0, 0, 1, 0, 4, 0);
	chunk(1, 0, 1, 9, 2, 0);
	assert_null(act(READER_DELIVER, 0));
	written(4);
	reader_tick(r, now += 100 * MS);
	collect();
	assert_int_equal(act(READER_TELL, MSG_ACK)->msg.ack.seq, 1);
	told((struct msg){ .type = MSG_ACKED, .acked = acked });
	assert_int_equal(act(READER_DELIVER, 0)->offset, 9);
}

static void
acknowledgements_come_at_the_pace_of_the_dispatcher(void **state)
{
	struct msg_acked acked = { .iteration = 7, .seat = 3, .seq = 1, .pace_ms = 700 };

	(void)state;
	begin((struct reader_opts){ 0 }, 1);
	streams(1, 1, STREAM_RUNNING, 0);
	chunk(0, 0, 1, 0, 5, 0);
	written(2);
	reader_tick(r, now += 60 * MS);
	collect();
	assert_int_equal(act(READER_TELL, MSG_ACK)->msg.ack.seq, 1);
	told((struct msg){ .type = MSG_ACKED, .acked = acked });
	written(1);
	reader_tick(r, now += 600 * MS);
	collect();
	assert_null(act(READER_TELL, MSG_ACK));
	reader_tick(r, now += 200 * MS);
	collect();
	assert_int_equal(act(READER_TELL, MSG_ACK)->msg.ack.seq, 2);
	acked.seq = 2;
	acked.pace_ms = UINT32_MAX; /* not for ever */
	told((struct msg){ .type = MSG_ACKED, .acked = acked });
	written(1);
	reader_tick(r, now += 2 * SEC);
	collect();
	assert_int_equal(act(READER_TELL, MSG_ACK)->msg.ack.seq, 3);
}

static void
a_silent_worker_is_called_anew(void **state)
{
	(void)state;
	begin((struct reader_opts){ 0 }, 1);
	streams(1, 1, STREAM_RUNNING, 0);
	open_window();
	int seconds = 0;
	do {
		told((struct msg){ .type = MSG_BEAT }); /* the dispatcher is there */
		reader_tick(r, now += SEC);
		collect();
	} while (!act(READER_CONNECT, 0) && ++seconds < 20);
	assert_in_range(seconds, 5, 8);
	assert_non_null(act(READER_DISCONNECT, 0));
	assert_string_equal(endpoint, "ep");
	assert_int_equal(act(READER_SEND, MSG_CREDIT)->msg.credit.session, 2);
	assert_int_equal(act(READER_SEND, MSG_CREDIT)->msg.credit.total, READER_WINDOW);
}

/* A reader that is killed before it has saved anything must leave nothing for which others
 * would have to wait: it takes nothing before the dispatcher knows of its position. */
/* Two workers, the first on this host; stream N is on worker N. */
static void
near_and_far(uint32_t state)
{
	struct msg_stream v[2];

	for (uint32_t i = 0; i < 2; i++)
		v[i] = (struct msg_stream){ .stream = i, .gen = 1, .state = i ? STREAM_RUNNING : state,
			.worker = !i && state == STREAM_FINISHED ? 0 : WORKER + i, .endpoint = (char *)(uintptr_t)"ep", .local = !i,
			.length = state == STREAM_FINISHED ? 5 * READER_WINDOW : 0 };
	told((struct msg){ .type = MSG_STREAMS, .streams = { .iteration = 7, .version = 1, .all_known = true,
		.total = 2, .list = { v, 2 } } });
}

static void
local_workers_have_credit_first(void **state)
{
	(void)state;
	begin((struct reader_opts){ 0 }, 2);
	near_and_far(STREAM_RUNNING);
	assert_int_equal(credit_of(WORKER + 1), 1);
	open_window();
	assert_int_equal(credit_of(WORKER), 2 * READER_WINDOW);
	assert_int_equal(credit_of(WORKER + 1), 0);
	near_and_far(STREAM_FINISHED); /* nothing local is left */
	assert_int_equal(credit_of(WORKER + 1), READER_WINDOW);
}

static void
a_reader_that_waits_takes_from_afar(void **state)
{
	(void)state;
	begin((struct reader_opts){ 0 }, 2);
	near_and_far(STREAM_RUNNING);
	open_window();
	reader_tick(r, now += 2 * SEC); /* with its BEAT it sees how long it has waited */
	collect();
	reader_tick(r, now += 2 * SEC);
	collect();
	assert_int_equal(credit_of(WORKER + 1), READER_WINDOW);
}

static void
nothing_is_taken_before_a_position_is_safe(void **state)
{
	struct buf b = { 0 };
	struct msg_acked acked = { .iteration = 7, .seat = 3, .seq = 1 };

	(void)state;
	begin((struct reader_opts){ .job.checkpoint = true }, 1);
	streams(1, 1, STREAM_RUNNING, 0);
	assert_null(act(READER_SEND, MSG_CREDIT));
	reader_position(r, &b);
	reader_saved(r, now);
	collect();
	assert_int_equal(act(READER_TELL, MSG_ACK)->msg.ack.seq, 1);
	assert_int_equal(act(READER_TELL, MSG_ACK)->msg.ack.list.n, 0);
	assert_null(act(READER_SEND, MSG_CREDIT));
	told((struct msg){ .type = MSG_ACKED, .acked = acked });
	assert_int_equal(act(READER_SEND, MSG_CREDIT)->msg.credit.total, 1);
	buf_clear(&b);
}

static void
no_code_of_the_dispatcher_is_taken_for_an_answer(void **state)
{
	static const struct { uint32_t said; enum status is; } codes[] = {
		{ 1, ST_NO }, { 2, ST_BUG }, { 3, ST_BUG }, { 4, ST_BUG }, { 75, ST_TEMP }, { 255, ST_BUG } };

	for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
		if (i)
			teardown(state);
		begin((struct reader_opts){ 0 }, 1);
		told((struct msg){ .type = MSG_DONE, .done = { .iteration = 7, .code = codes[i].said } });
		told((struct msg){ .type = MSG_CLOSED, .closed = { .iteration = 7, .seat = 3 } });
		assert_int_equal(act(READER_DONE, 0)->code, codes[i].is);
		assert_int_equal(act(READER_DONE, 0)->err->kind, codes[i].is);
		teardown(state);
		begin((struct reader_opts){ 0 }, 0);
		told((struct msg){ .type = MSG_ERROR, .req = act(READER_TELL, MSG_OPEN)->msg.req,
			.error.code = codes[i].said });
		assert_int_equal(act(READER_DONE, 0)->code, codes[i].is);
		teardown(state);
		begin((struct reader_opts){ 0 }, 0);
		told((struct msg){ .type = MSG_REFUSED, .refused.code = codes[i].said });
		assert_int_equal(act(READER_DONE, 0)->code, codes[i].is);
	}
}
