/* SPDX-License-Identifier: MIT */
#include "worker_base.h"

#define EACH_SETUP setup
#define EACH_TEARDOWN teardown

#define SEC 1000000000ll

static struct stream_key key = { 7, 0, 1 };

static struct worker_action *
act(enum worker_action_kind kind, enum msg_type t)
{
	for (size_t i = 0; i < n_acts; i++)
		if (acts[i].kind == kind && (!t || acts[i].msg.type == t))
			return &acts[i];
	return NULL;
}

static void
asked(uint64_t peer, struct msg m)
{
	struct msg copy;

	msg_copy(&copy, &m);
	worker_data(w, now += MS, peer, &copy);
	msg_clear(&copy);
	collect();
}

static void
credit(uint64_t seat, uint32_t session, uint64_t total)
{
	asked(100 + seat, (struct msg){ .type = MSG_CREDIT, .credit = { key, seat, session, total, { 0 }, 0 } });
}

static void
credit_with(uint64_t seat, struct secret ticket)
{
	asked(100 + seat, (struct msg){ .type = MSG_CREDIT, .credit = { key, seat, 1, 1, ticket } });
}

static void
produce(int handle, uint64_t offset, uint32_t count, size_t bytes)
{
	worker_produced(w, now += MS, key, WORKER_ALL_VIEWS, &names[handle], offset, count, bytes, 0);
	collect();
}

static int
setup(void **state)
{
	static const struct worker_opts o = { .peer = 1, .name = "w", .host = "h", .endpoint = "e", .slots = 1,
		.memory = 1000 };

	(void)state;
	now = SEC;
	w = worker_new(&o, now);
	collect();
	assert_non_null(act(WORKER_TELL, MSG_HELLO));
	told((struct msg){ .type = MSG_WELCOME, .welcome = { WIRE_VERSION, 5, false, 1000, 5000 } });
	assert_non_null(act(WORKER_WELCOME, 0));
	told((struct msg){ .type = MSG_ASSIGN, .assign = { .key = key, .by_split = true } });
	assert_non_null(act(WORKER_START, MSG_ASSIGN));
	assert_non_null(act(WORKER_TELL, MSG_ASSIGNED));
	assert_int_equal(act(WORKER_TELL, MSG_SPLIT_REQ)->msg.split_req.k, 0);
	return 0;
}

static void
a_hungry_reader_wants_what_there_is(void **state)
{
	(void)state;
	credit(1, 1, 2);
	assert_non_null(act(WORKER_WANT, 0));
	produce(0, 0, 3, 10);
	assert_int_equal(act(WORKER_CHUNK, 0)->peer, 101);
	assert_int_equal(act(WORKER_CHUNK, 0)->msg.chunk.count, 3);
	assert_non_null(act(WORKER_WANT, 0));
	produce(1, 3, 3, 10);
	assert_non_null(act(WORKER_CHUNK, 0));
	produce(2, 6, 3, 10);
	assert_null(act(WORKER_CHUNK, 0)); /* no credit left */
	credit(1, 1, 2); /* said again: nothing new */
	assert_null(act(WORKER_CHUNK, 0));
	credit(1, 1, 3);
	assert_non_null(act(WORKER_CHUNK, 0));
}

static void
no_chunk_without_the_ticket_of_the_seat(void **state)
{
	const uint64_t seat = 1, other = 2;
	const uint64_t whose[] = { seat, 0 };
	const struct secret secret = { 3, 4 }, ticket = secret_derive(secret, whose, 2);
	struct range all = { 0, 3 };

	(void)state;
	key.gen++;
	told((struct msg){ .type = MSG_ASSIGN, .assign = { .key = key, .by_split = true, .secret = secret } });
	produce(0, 0, 3, 10);
	credit(1, 1, 9);
	assert_non_null(act(WORKER_SEND, MSG_VOID));
	credit_with(1, secret_derive(secret, (uint64_t[]){ other, 0 }, 2));
	assert_non_null(act(WORKER_SEND, MSG_VOID));
	assert_null(act(WORKER_CHUNK, 0));
	credit_with(1, ticket);
	assert_int_equal(act(WORKER_CHUNK, 0)->peer, 101);
	credit_with(1, (struct secret){ ticket.high, ticket.low ^ 1 });
	assert_non_null(act(WORKER_SEND, MSG_VOID));
	asked(9, (struct msg){ .type = MSG_CHUNK_ACK, .chunk_ack = { key, 1, { &all, 1 }, secret, 0 } });
	assert_null(act(WORKER_FREE, 0));
	asked(101, (struct msg){ .type = MSG_CHUNK_ACK, .chunk_ack = { key, 1, { &all, 1 }, ticket, 0 } });
	assert_ptr_equal(act(WORKER_FREE, 0)->handle, &names[0]);
	key.gen--;
}

static void
chunks_are_kept_until_acknowledged_within_the_budget(void **state)
{
	struct range part = { 0, 2 }, rest = { 2, 4 };

	(void)state;
	credit(1, 1, 9);
	for (int i = 0; i < 2; i++)
		produce(i, (uint64_t)i * 2, 2, 400);
	assert_null(act(WORKER_STALL, 0));
	produce(2, 4, 2, 400);
	assert_non_null(act(WORKER_STALL, 0));
	assert_int_equal(worker_kept_bytes(w), 1200);
	asked(101, (struct msg){ .type = MSG_CHUNK_ACK, .chunk_ack = { key, 1, { &part, 1 }, { 0 }, 0 } });
	assert_ptr_equal(act(WORKER_FREE, 0)->handle, &names[0]);
	assert_null(act(WORKER_RESUME, 0));
	asked(101, (struct msg){ .type = MSG_CHUNK_ACK, .chunk_ack = { key, 1, { &rest, 1 }, { 0 }, 0 } });
	assert_non_null(act(WORKER_RESUME, 0));
	assert_int_equal(worker_kept_bytes(w), 400);
}

/* 1000 bytes of memory, and one of two readers takes and says nothing. */
static void
a_reader_that_stands_still_does_not_stop_the_others(void **state)
{
	int sent[3] = { 0 };
	bool stalled = false;

	(void)state;
	credit(1, 1, 1000);
	credit(2, 1, 1000);
	for (int i = 0; i < 40; i++) {
		uint64_t at = (uint64_t)i * 10;
		struct range made = { at, at + 10 };

		assert_false(stalled);
		produce(i, at, 10, 100);
		if (!act(WORKER_CHUNK, 0))
			continue; /* in the queue: the next acknowledgement lets it go */
		for (size_t k = 0; k < n_acts; k++) {
			if (acts[k].kind == WORKER_CHUNK)
				sent[acts[k].peer - 100]++;
			stalled |= acts[k].kind == WORKER_STALL;
		}
		if (act(WORKER_CHUNK, 0)->peer == 102)
			asked(102, (struct msg){ .type = MSG_CHUNK_ACK, .chunk_ack = { key, 2, { &made, 1 }, { 0 }, 0 } });
		stalled &= !act(WORKER_RESUME, 0);
	}
	assert_in_range(sent[1], 1, 5);
	assert_int_equal(sent[2], 40 - sent[1]);
}

/* However the memory came to be full, a reader that has nothing gets a chunk. */
static void
a_reader_that_has_nothing_may_always_have_a_chunk(void **state)
{
	(void)state;
	credit(1, 1, 10);
	for (int i = 0; i < 4; i++)
		produce(i, (uint64_t)i * 10, 10, 250);
	assert_non_null(act(WORKER_STALL, 0));
	credit(2, 1, 10);
	assert_non_null(act(WORKER_RESUME, 0));
	produce(4, 40, 10, 250);
	assert_int_equal(act(WORKER_CHUNK, 0)->peer, 102);
	assert_non_null(act(WORKER_STALL, 0)); /* each reader has some: the memory counts again */
	struct range last = { 40, 50 };
	asked(102, (struct msg){ .type = MSG_CHUNK_ACK, .chunk_ack = { key, 2, { &last, 1 }, { 0 }, 0 } });
	assert_non_null(act(WORKER_RESUME, 0));
	credit(3, 1, 0); /* one that asks for nothing is owed nothing */
	assert_null(act(WORKER_RESUME, 0));
	produce(5, 50, 10, 250);
	assert_int_equal(act(WORKER_CHUNK, 0)->peer, 102);
	assert_non_null(act(WORKER_STALL, 0));
}

static void
what_a_lost_reader_had_goes_to_others_but_for_what_counts(void **state)
{
	struct range mine = { 0, 2 }, ledger = { 2, 3 };

	(void)state;
	credit(1, 1, 9);
	produce(0, 0, 2, 10);
	produce(1, 2, 4, 10);
	asked(101, (struct msg){ .type = MSG_CHUNK_ACK, .chunk_ack = { key, 1, { &mine, 1 }, { 0 }, 0 } });
	credit(2, 1, 9);
	assert_null(act(WORKER_CHUNK, 0));
	told((struct msg){ .type = MSG_READER_GONE, .reader_gone = { key, 1, { &ledger, 1 }, 0 } });
	assert_int_equal(act(WORKER_TELL, MSG_GONE_OK)->msg.gone_ok.acked.v[0].end, 2);
	assert_int_equal(act(WORKER_CHUNK, 0)->peer, 102);
	assert_int_equal(act(WORKER_CHUNK, 0)->msg.chunk.skip, 1);
	credit(1, 2, 99);
	assert_non_null(act(WORKER_SEND, MSG_VOID));
}

static void
a_new_session_gets_again_what_was_on_its_way(void **state)
{
	(void)state;
	credit(1, 1, 2);
	produce(0, 0, 2, 10);
	produce(1, 2, 2, 10);
	produce(2, 4, 2, 10);
	credit(2, 1, 1);
	assert_ptr_equal(act(WORKER_CHUNK, 0)->handle, &names[2]);
	credit(1, 2, 1);
	assert_ptr_equal(act(WORKER_CHUNK, 0)->handle, &names[0]);
	credit(1, 2, 3);
	assert_ptr_equal(act(WORKER_CHUNK, 0)->handle, &names[1]);
}

static void
splits_are_asked_for_ahead(void **state)
{
	struct split s = { .kind = SPLIT_RANGE, .count = 5, .times = 1 };

	(void)state;
	told((struct msg){ .type = MSG_SPLIT, .split = { key, 0, { &s, 1, 1 }, false } });
	assert_non_null(act(WORKER_SPLITS, MSG_SPLIT));
	assert_null(act(WORKER_TELL, MSG_SPLIT_REQ));
	worker_source_ended(w, key, 3, 9);
	worker_reached(w, key);
	worker_split_taken(w, now, key, 0, 7);
	collect();
	assert_int_equal(act(WORKER_TELL, MSG_SPLIT_REQ)->msg.split_req.k, 1);
	assert_int_equal(act(WORKER_TELL, MSG_SPLIT_REQ)->msg.split_req.given, 7);
	assert_true(act(WORKER_TELL, MSG_SPLIT_REQ)->msg.split_req.ended);
	assert_true(act(WORKER_TELL, MSG_SPLIT_REQ)->msg.split_req.reached);
	assert_int_equal(act(WORKER_TELL, MSG_SPLIT_REQ)->msg.split_req.reading, 0);
	assert_int_equal(act(WORKER_TELL, MSG_SPLIT_REQ)->msg.split_req.leaf, 3);
	assert_int_equal(act(WORKER_TELL, MSG_SPLIT_REQ)->msg.split_req.length, 9);
	told((struct msg){ .type = MSG_SPLIT, .split = { key, 1, { NULL, 0, 0 }, true } });
	assert_true(act(WORKER_SPLITS, MSG_SPLIT)->msg.split.end);
	worker_ended(w, now, key, 0, 0);
	collect();
	assert_non_null(act(WORKER_TELL, MSG_STREAM_END));
}

static void
requests_are_said_again_until_answered(void **state)
{
	(void)state;
	worker_ended(w, now, key, 0, 0);
	collect();
	for (int i = 0; i < 3; i++) {
		bool said = false;

		for (int k = 0; k < 4; k++) {
			told((struct msg){ .type = MSG_BEAT });
			worker_tick(w, now += SEC);
			collect();
			said |= act(WORKER_TELL, MSG_STREAM_END) != NULL;
		}
		assert_true(said);
	}
	told((struct msg){ .type = MSG_END_OK, .end_ok.key = key });
	for (int k = 0; k < 4; k++) {
		told((struct msg){ .type = MSG_BEAT });
		worker_tick(w, now += SEC);
		collect();
		assert_null(act(WORKER_TELL, MSG_STREAM_END));
	}
}

static void
leaving_hands_over_when_all_is_delivered(void **state)
{
	struct range all = { 0, 2 };

	(void)state;
	credit(1, 1, 9);
	produce(0, 0, 2, 10);
	worker_drain(w, now);
	collect();
	assert_non_null(act(WORKER_HANDOVER, 0));
	assert_true(act(WORKER_TELL, MSG_BYE)->msg.bye.drain);
	worker_handed(w, now, key, true, 2, 0, "state", 5, 2);
	collect();
	assert_null(act(WORKER_TELL, MSG_HANDOVER));
	asked(101, (struct msg){ .type = MSG_CHUNK_ACK, .chunk_ack = { key, 1, { &all, 1 }, { 0 }, 0 } });
	assert_int_equal(act(WORKER_TELL, MSG_HANDOVER)->msg.handover.offset, 2);
	told((struct msg){ .type = MSG_END_OK, .end_ok.key = key });
	assert_int_equal(worker_streams(w), 0);
	told((struct msg){ .type = MSG_BYE_OK });
	assert_non_null(act(WORKER_LEAVE, 0));
}

/* Its state cannot be saved as long as a thread of the chain waits for a split. */
static void
a_stream_on_its_way_out_asks_for_the_split_that_is_waited_for(void **state)
{
	struct split s = { .kind = SPLIT_RANGE, .count = 5, .times = 1 };

	(void)state;
	told((struct msg){ .type = MSG_SPLIT, .split = { key, 0, { &s, 1, 1 }, false } });
	worker_drain(w, now);
	collect();
	assert_non_null(act(WORKER_HANDOVER, 0));
	assert_null(act(WORKER_TELL, MSG_SPLIT_REQ));
	worker_split_taken(w, now, key, 0, 7);
	collect();
	assert_int_equal(act(WORKER_TELL, MSG_SPLIT_REQ)->msg.split_req.k, 1);
}

static void
leaving_with_nothing_in_hand_waits_for_no_dispatcher(void **state)
{
	(void)state;
	told((struct msg){ .type = MSG_WELCOME, .welcome = { WIRE_VERSION, 6, false, 1000, 5000 } });
	assert_int_equal(worker_streams(w), 0);
	worker_drain(w, now);
	collect();
	assert_null(act(WORKER_LEAVE, 0));
	worker_dispatcher_gone(w, now);
	collect();
	assert_non_null(act(WORKER_LEAVE, 0));
	assert_null(act(WORKER_LOST, 0));
}

static void
a_dispatcher_without_state_that_stays_away_is_given_up(void **state)
{
	(void)state;
	worker_dispatcher_gone(w, now);
	collect();
	assert_non_null(act(WORKER_TELL, MSG_HELLO));
	for (int i = 0; i < 49; i++) {
		worker_tick(w, now += 100 * MS);
		collect();
		assert_null(act(WORKER_LOST, 0));
	}
	worker_tick(w, now += 200 * MS);
	collect();
	assert_int_equal(act(WORKER_LOST, 0)->err->kind, ST_TEMP);
}

/* The WELCOME of a dispatcher that was started again was lost, and what it ordered behind that was not. */
static void
nothing_is_begun_for_a_dispatcher_that_has_not_said_who_it_is(void **state)
{
	struct msg assign = { .type = MSG_ASSIGN, .assign.key = { 9, 0, 1 } };

	(void)state;
	worker_dispatcher_gone(w, now);
	collect();
	told(assign);
	assert_null(act(WORKER_START, 0));
	assert_null(act(WORKER_TELL, MSG_ASSIGNED));
	told((struct msg){ .type = MSG_WELCOME, .welcome = { WIRE_VERSION, 6, false, 1000, 5000 } });
	assert_int_equal(worker_streams(w), 0);
	told(assign);
	assert_non_null(act(WORKER_START, 0));
	assert_int_equal(worker_streams(w), 1);
}

static void
another_state_means_all_streams_are_void(void **state)
{
	(void)state;
	credit(1, 1, 1);
	produce(0, 0, 2, 10);
	told((struct msg){ .type = MSG_WELCOME, .welcome = { WIRE_VERSION, 6, false, 1000, 5000 } });
	assert_non_null(act(WORKER_STOP, 0));
	assert_ptr_equal(act(WORKER_FREE, 0)->handle, &names[0]);
	assert_int_equal(worker_streams(w), 0);
}

/* Streams beyond the one slot */

static void
assign(uint64_t iteration, uint32_t stream, uint32_t order)
{
	told((struct msg){ .type = MSG_ASSIGN, .assign = { .key = { iteration, stream, 1 }, .order = order } });
	assert_non_null(act(WORKER_TELL, MSG_ASSIGNED));
}

static void
tick(int64_t ns)
{
	told((struct msg){ .type = MSG_BEAT });
	now += ns;
	worker_tick(w, now);
	collect();
}

static void
rested(uint64_t iteration, uint32_t stream)
{
	worker_rested(w, now += MS, (struct stream_key){ iteration, stream, 1 });
	collect();
}

static bool
acted(enum worker_action_kind kind, uint64_t iteration, uint32_t stream)
{
	for (size_t i = 0; i < n_acts; i++)
		if (acts[i].kind == kind && acts[i].key.iteration == iteration && acts[i].key.stream == stream)
			return true;
	return false;
}

static void
a_stream_beyond_the_slots_waits_for_one(void **state)
{
	(void)state;
	assign(7, 1, ORDER_ANY);
	assert_null(act(WORKER_START, 0));
	assert_null(act(WORKER_REST, 0));
	assert_true(worker_next_deadline(w) <= now + 200 * MS);
	tick(300 * MS); /* the first one has had its time */
	assert_true(acted(WORKER_REST, 7, 0));
	assert_null(act(WORKER_START, 0));
	rested(7, 0);
	assert_true(acted(WORKER_START, 7, 1));
	tick(300 * MS);
	assert_true(acted(WORKER_REST, 7, 1));
	rested(7, 1);
	assert_true(acted(WORKER_GO, 7, 0));
	worker_ended(w, now += MS, key, 0, 0);
	collect();
	assert_true(acted(WORKER_GO, 7, 1));
	tick(SEC);
	assert_null(act(WORKER_REST, 0)); /* nobody waits */
}

/* With an order the first stream is needed first, but it may never give anything. */
static void
a_stream_that_makes_nothing_does_not_keep_the_others_waiting(void **state)
{
	(void)state;
	assign(8, 0, ORDER_STABLE);
	assign(8, 1, ORDER_STABLE);
	worker_ended(w, now += MS, key, 0, 0);
	collect();
	assert_true(acted(WORKER_START, 8, 0));
	for (int i = 0; i < 8; i++) {
		assert_null(act(WORKER_REST, 0));
		tick(300 * MS);
	}
	assert_true(acted(WORKER_REST, 8, 0));
	rested(8, 0);
	assert_true(acted(WORKER_START, 8, 1));
}

static void
who_has_made_enough_gives_its_slot_to_who_has_nothing(void **state)
{
	(void)state;
	produce(0, 0, 2, 2000);
	assert_non_null(act(WORKER_STALL, 0));
	assert_null(act(WORKER_REST, 0)); /* it may as well keep it */
	assign(7, 1, ORDER_ANY);
	assert_true(acted(WORKER_REST, 7, 0));
	rested(7, 0);
	assert_true(acted(WORKER_START, 7, 1));
	tick(SEC);
	assert_null(act(WORKER_REST, 0)); /* a stream that stalls does not wait for a slot */
	credit(1, 1, 9);
	struct range all = { 0, 2 };
	asked(101, (struct msg){ .type = MSG_CHUNK_ACK, .chunk_ack = { key, 1, { &all, 1 }, { 0 }, 0 } });
	assert_true(acted(WORKER_RESUME, 7, 0));
	assert_true(acted(WORKER_REST, 7, 1));
	rested(7, 1);
	assert_true(acted(WORKER_GO, 7, 0));
}

static void
a_slot_whose_stream_does_not_rest_is_lent(void **state)
{
	(void)state;
	for (uint32_t i = 1; i < 8; i++)
		assign(7, i, ORDER_ANY);
	tick(250 * MS);
	assert_true(acted(WORKER_REST, 7, 0));
	tick(900 * MS);
	assert_null(act(WORKER_START, 0));
	for (uint32_t n = 1; n < worker_threads(1); n++) { /* none of them comes to rest */
		assert_true(worker_next_deadline(w) <= now + SEC);
		tick(SEC);
		assert_true(acted(WORKER_START, 7, n));
		tick(250 * MS);
		assert_true(acted(WORKER_REST, 7, n));
	}
	for (int i = 0; i < 9; i++) {
		tick(SEC);
		assert_null(act(WORKER_START, 0));
	}
	for (uint32_t n = 0; n < worker_threads(1) - 1; n++) { /* lent slots go back first */
		rested(7, n);
		assert_int_equal(act(WORKER_START, 0) != NULL, n == 0);
		if (n == 0)
			assert_true(acted(WORKER_START, 7, (uint32_t)worker_threads(1)));
	}
}

static void
with_an_order_the_stream_that_is_needed_first_goes_on(void **state)
{
	static char more[8];

	(void)state;
	worker_ended(w, now += MS, key, 0, 0);
	for (uint32_t i = 0; i < 3; i++)
		assign(8, i, ORDER_STABLE);
	tick(300 * MS); /* stream 0 is in its first round, as all are */
	assert_null(act(WORKER_REST, 0));
	worker_produced(w, now += MS, (struct stream_key){ 8, 0, 1 }, WORKER_ALL_VIEWS, more, 0, 64, 1, 0);
	collect();
	tick(300 * MS);
	assert_true(acted(WORKER_REST, 8, 0));
	rested(8, 0);
	assert_true(acted(WORKER_START, 8, 1));
	worker_produced(w, now += MS, (struct stream_key){ 8, 1, 1 }, WORKER_ALL_VIEWS, more + 1, 0, 64, 1, 0);
	collect();
	tick(300 * MS);
	rested(8, 1);
	assert_true(acted(WORKER_START, 8, 2)); /* before those that are ahead of it */
	assign(9, 0, ORDER_ANY);
	tick(300 * MS);
	assert_true(acted(WORKER_REST, 8, 2)); /* but iterations take turns */
	rested(8, 2);
	assert_true(acted(WORKER_START, 9, 0));
}

static void
what_has_not_begun_is_handed_over_as_it_came(void **state)
{
	uint8_t bytes[3] = { 1, 2, 3 };
	struct msg *m;

	(void)state;
	told((struct msg){ .type = MSG_ASSIGN, .assign = { .key = { 7, 1, 1 }, .by_split = true, .offset = 40,
		.split = 2, .failed = 1, .has_state = true, .state = { bytes, 3 } } });
	assert_null(act(WORKER_START, 0));
	assert_null(act(WORKER_TELL, MSG_SPLIT_REQ)); /* nor takes it splits */
	worker_drain(w, now += MS);
	collect();
	m = &act(WORKER_TELL, MSG_HANDOVER)->msg;
	assert_int_equal(m->handover.key.stream, 1);
	assert_int_equal(m->handover.offset, 40);
	assert_int_equal(m->handover.split, 2);
	assert_int_equal(m->handover.failed, 1);
	assert_int_equal(m->handover.state.n, 3);
	assert_true(acted(WORKER_HANDOVER, 7, 0));
}

static void
a_stream_yields_when_it_is_told_to(void **state)
{
	(void)state;
	produce(0, 0, 2, 10);
	told((struct msg){ .type = MSG_YIELD, .yield.key = key });
	assert_non_null(act(WORKER_HANDOVER, 0));
	assert_null(act(WORKER_TELL, MSG_YIELDED));
	told((struct msg){ .type = MSG_YIELD, .yield.key = key }); /* said again */
	assert_null(act(WORKER_HANDOVER, 0));
	worker_handed(w, now, key, true, 2, 0, "state", 5, 2);
	collect();
	assert_false(act(WORKER_TELL, MSG_YIELDED)->msg.yielded.stays);
	assert_null(act(WORKER_TELL, MSG_HANDOVER)); /* not before it is delivered */
	told((struct msg){ .type = MSG_YIELD, .yield.key = key });
	assert_false(act(WORKER_TELL, MSG_YIELDED)->msg.yielded.stays);
}

static void
a_stream_that_cannot_yield_goes_on(void **state)
{
	(void)state;
	told((struct msg){ .type = MSG_YIELD, .yield.key = key });
	worker_handed(w, now, key, false, 0, 0, NULL, 0, 0);
	collect();
	assert_true(act(WORKER_TELL, MSG_YIELDED)->msg.yielded.stays);
	told((struct msg){ .type = MSG_YIELD, .yield.key = key });
	assert_true(act(WORKER_TELL, MSG_YIELDED)->msg.yielded.stays);
	assert_null(act(WORKER_HANDOVER, 0));
	credit(1, 1, 9);
	produce(0, 0, 2, 10);
	assert_non_null(act(WORKER_CHUNK, 0));
}
