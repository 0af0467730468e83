/* SPDX-License-Identifier: MIT
 *
 * Elements of a stream that do not fill a round, at the worker that made them.
 */
#include "worker_kit.h"

#define EACH_SETUP setup
#define EACH_TEARDOWN teardown

static struct msg_view pair[] = { { 0, 1, { 0 } }, { 1, 1, { 0 } } };

/* A stream of rounds of two, one of which is whole; then `rest` elements, and null if `pad`. */
static void
begin(int rest, bool pad)
{
	assign(2, pair, 2, ORDER_STABLE);
	credit(0, 1, 99);
	credit(1, 2, 99);
	produce(0, 0, 0, 1, 10);
	produce(1, 1, 0, 1, 10);
	for (int i = 0; i < rest + pad; i++) {
		worker_rest(w, now += MS, key, &names[10 + i], 10, i == rest);
		collect();
		assert_int_equal(count(WORKER_CHUNK, -1), 0);
	}
	worker_ended(w, now += MS, key, 2 + (uint64_t)rest, 2 + (uint64_t)rest);
	collect();
}

/* The ends of all streams are known: n elements from place `at` on are given. */
static void
tail(uint64_t at, uint32_t n)
{
	told((struct msg){ .type = MSG_ASSIGN, .assign = { .key = key, .order = ORDER_STABLE, .places = 2,
		.views = { pair, 2 }, .tail_known = true, .tail_at = at, .tail_n = n } });
}

/* The chunk that goes to `seat`; fails unless it is one of this handle, at this offset, and says that it is of
 * the tail. */
static void
sent_to(uint64_t seat, int handle, uint64_t offset)
{
	int n = 0;

	for (size_t i = 0; i < n_acts; i++) {
		if (acts[i].kind != WORKER_CHUNK || acts[i].peer != 100 + seat)
			continue;
		assert_ptr_equal(acts[i].handle, &names[handle]);
		assert_int_equal(acts[i].msg.chunk.offset, offset);
		assert_true(acts[i].msg.chunk.tail);
		n++;
	}
	assert_int_equal(n, 1);
}

/* The n-th chunk that goes to `seat`. */
static const struct worker_action *
nth_of(uint64_t seat, int n)
{
	for (size_t i = 0; i < n_acts; i++)
		if (acts[i].kind == WORKER_CHUNK && acts[i].peer == 100 + seat && !n--)
			return &acts[i];
	fail();
	return NULL;
}

static void
what_is_left_waits_until_its_places_are_known(void **state)
{
	(void)state;
	begin(1, false);
	assert_int_equal(worker_kept_bytes(w), 30);
	tail(1, 1); /* behind an element of another stream */
	sent_to(2, 10, 1);
	assert_int_equal(count(WORKER_FREE, -1), 0);
	ack(1, 2, 1, 2);
	assert_int_equal(count(WORKER_FREE, 10), 1);
}

static void
elements_that_are_spread_leave_their_places_to_null(void **state)
{
	static struct msg_view wide[] = { { 0, 2, { 0 } }, { 2, 2, { 0 } } };

	(void)state;
	assign(4, wide, 2, ORDER_STABLE);
	credit(0, 1, 99);
	credit(1, 2, 99);
	for (int i = 0; i < 3; i++)
		worker_rest(w, now += MS, key, &names[10 + i], 10, i == 2);
	worker_ended(w, now += MS, key, 2, 2);
	collect();
	told((struct msg){ .type = MSG_ASSIGN, .assign = { .key = key, .order = ORDER_STABLE, .places = 4,
		.views = { wide, 2 }, .tail_known = true, .tail_n = 4, .tail_all = 2 } });
	/* places 0 and 2, one of each consumer, and null in 1 and 3 */
	assert_ptr_equal(nth_of(1, 0)->handle, &names[10]);
	assert_int_equal(nth_of(1, 0)->msg.chunk.offset, 0);
	assert_ptr_equal(nth_of(2, 0)->handle, &names[11]);
	assert_int_equal(nth_of(2, 0)->msg.chunk.offset, 0);
	assert_ptr_equal(nth_of(1, 1)->handle, &names[12]);
	assert_int_equal(nth_of(1, 1)->msg.chunk.offset, 1);
	assert_ptr_equal(nth_of(2, 1)->handle, &names[12]);
	assert_int_equal(nth_of(2, 1)->msg.chunk.offset, 1);
}

static void
what_is_dropped_is_freed(void **state)
{
	(void)state;
	begin(1, false);
	tail(0, 0);
	assert_int_equal(count(WORKER_CHUNK, -1), 0);
	assert_int_equal(count(WORKER_FREE, 10), 1);
	assert_int_equal(worker_kept_bytes(w), 20);
	tail(0, 1); /* said is said */
	assert_int_equal(count(WORKER_CHUNK, -1), 0);
}

static void
null_goes_where_an_element_is_missing(void **state)
{
	(void)state;
	begin(1, true);
	tail(0, 2);
	sent_to(1, 10, 1);
	sent_to(2, 11, 1);
	ack(0, 1, 0, 2);
	ack(1, 2, 0, 2);
	assert_int_equal(worker_kept_bytes(w), 0);
}

static void
one_null_may_go_to_several_places_and_is_freed_once(void **state)
{
	(void)state;
	begin(0, true);
	tail(0, 2);
	sent_to(1, 10, 1);
	sent_to(2, 10, 1);
	ack(0, 1, 0, 2);
	assert_int_equal(worker_kept_bytes(w), 20);
	ack(1, 2, 0, 2);
	assert_int_equal(worker_kept_bytes(w), 0);
}

static void
null_that_is_not_needed_is_freed(void **state)
{
	(void)state;
	begin(1, true);
	tail(0, 1);
	sent_to(1, 10, 1);
	assert_int_equal(count(WORKER_FREE, 11), 1);
}

static void
places_may_be_known_before_the_end(void **state)
{
	(void)state;
	assign(2, pair, 2, ORDER_STABLE);
	credit(0, 1, 99);
	tail(0, 1);
	assert_int_equal(count(WORKER_CHUNK, -1), 0);
	worker_rest(w, now += MS, key, &names[10], 10, false);
	worker_ended(w, now += MS, key, 1, 1);
	collect();
	sent_to(1, 10, 0);
}

static void
what_a_view_has_had_is_not_given_again(void **state)
{
	struct range had[] = { { 0, 2 } };
	struct msg_view views[] = { { 0, 1, { had, 1 } }, { 1, 1, { 0 } } };

	(void)state;
	assign(2, views, 2, ORDER_STABLE);
	credit(0, 1, 99);
	credit(1, 2, 99);
	produce(1, 1, 0, 1, 10);
	worker_rest(w, now += MS, key, &names[10], 10, false);
	worker_ended(w, now += MS, key, 3, 3);
	tail(0, 1);
	assert_int_equal(count(WORKER_CHUNK, -1), 0);
	assert_int_equal(count(WORKER_FREE, 10), 1);
}

static void
a_stream_that_is_taken_away_frees_what_is_left(void **state)
{
	(void)state;
	begin(1, true);
	told((struct msg){ .type = MSG_REVOKE, .revoke.key = key });
	assert_int_equal(count(WORKER_CHUNK, -1), 0);
	assert_int_equal(worker_kept_bytes(w), 0);
	worker_rest(w, now += MS, key, &names[20], 10, false); /* its thread has not heard */
	collect();
	assert_int_equal(count(WORKER_FREE, 20), 1);
}
