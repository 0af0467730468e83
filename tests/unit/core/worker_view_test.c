/* SPDX-License-Identifier: MIT
 *
 * A worker whose streams have several views.
 */
#include "worker_kit.h"

#define EACH_SETUP setup
#define EACH_TEARDOWN teardown

static void
a_chunk_of_all_views_counts_once_and_is_freed_by_the_last(void **state)
{
	struct msg_view views[] = { { 0, 1, { 0 } }, { 0, 1, { 0 } } };

	(void)state;
	assign(1, views, 2, ORDER_ANY);
	credit(0, 1, 9);
	credit(1, 2, 9);
	produce(WORKER_ALL_VIEWS, 0, 0, 4, 300);
	assert_int_equal(count(WORKER_CHUNK, 0), 2);
	assert_int_equal(worker_kept_bytes(w), 300);
	ack(0, 1, 0, 4);
	assert_int_equal(count(WORKER_FREE, -1), 0);
	assert_int_equal(worker_kept_bytes(w), 300);
	ack(1, 1, 0, 4); /* a seat of another view says nothing */
	assert_int_equal(count(WORKER_FREE, -1), 0);
	ack(1, 2, 0, 4);
	assert_int_equal(count(WORKER_FREE, 0), 1);
	assert_int_equal(worker_kept_bytes(w), 0);
}

static void
a_view_that_skips_a_chunk_does_not_get_it(void **state)
{
	struct range skip[] = { { 0, 4 } }, both[] = { { 0, 2 } };
	struct msg_view views[] = { { 0, 1, { skip, 1 } }, { 0, 1, { both, 1 } } };

	(void)state;
	assign(1, views, 2, ORDER_ANY);
	credit(0, 1, 9);
	credit(1, 2, 9);
	produce(WORKER_ALL_VIEWS, 0, 0, 2, 100);
	assert_int_equal(count(WORKER_FREE, 0), 1); /* nobody wants it */
	produce(WORKER_ALL_VIEWS, 1, 2, 2, 100);
	assert_int_equal(count(WORKER_CHUNK, 1), 1);
	ack(1, 2, 2, 4);
	assert_int_equal(count(WORKER_FREE, 1), 1);
	produce(WORKER_ALL_VIEWS, 2, 4, 2, 100);
	assert_int_equal(count(WORKER_CHUNK, 2), 2);
}

static void
who_is_gone_leaves_its_chunks_to_its_own_view(void **state)
{
	struct msg_view views[] = { { 0, 1, { 0 } }, { 1, 1, { 0 } } };

	(void)state;
	assign(2, views, 2, ORDER_STABLE);
	credit(0, 1, 9);
	credit(1, 2, 9);
	produce(0, 0, 0, 2, 100);
	produce(1, 1, 0, 2, 100);
	told((struct msg){ .type = MSG_READER_GONE, .reader_gone = { key, 1, { 0 }, 0 } });
	assert_int_equal(count(WORKER_CHUNK, -1), 0);
	credit(1, 3, 9); /* it reads the other view */
	assert_int_equal(count(WORKER_CHUNK, -1), 0);
	credit(0, 1, 9); /* it is not taken back */
	assert_int_equal(count(WORKER_CHUNK, -1), 0);
	credit(0, 4, 9);
	assert_int_equal(count(WORKER_CHUNK, 0), 1);
	credit(2, 5, 9); /* there is no such view */
	assert_int_equal(count(WORKER_CHUNK, -1), 0);
}

static void
a_stream_waits_for_its_slowest_view(void **state)
{
	struct msg_view views[] = { { 0, 1, { 0 } }, { 1, 1, { 0 } } };

	(void)state;
	assign(2, views, 2, ORDER_ANY);
	credit(0, 1, 9);
	produce(0, 0, 0, 2, 600);
	produce(1, 1, 0, 2, 600);
	assert_int_equal(count(WORKER_STALL, -1), 1);
	ack(0, 1, 0, 2);
	/* Its reader has nothing and would take more, but the other view has not been read. */
	assert_int_equal(count(WORKER_RESUME, -1), 1);
	produce(0, 2, 2, 1, 300);
	produce(0, 3, 3, 1, 300);
	assert_int_equal(count(WORKER_STALL, -1), 1);
	ack(0, 1, 2, 3);
	ack(0, 1, 3, 4);
	assert_int_equal(count(WORKER_RESUME, -1), 1);
	produce(0, 4, 4, 1, 900);
	assert_int_equal(count(WORKER_STALL, -1), 1);
	credit(1, 2, 9);
	assert_int_equal(count(WORKER_CHUNK, 1), 1);
}

static void
a_part_of_a_chunk_is_asked_for_by_view(void **state)
{
	struct msg_view views[] = { { 0, 1, { 0 } }, { 1, 1, { 0 } } };

	(void)state;
	assign(2, views, 2, ORDER_STABLE);
	credit(1, 2, 9);
	assert_int_equal(count(WORKER_WANT, -1), 1);
	assert_int_equal(acts[0].view, 1);
	produce(0, 0, 0, 1, 10);
	assert_int_equal(count(WORKER_WANT, -1), 0); /* still asked for */
	produce(1, 1, 0, 1, 10);
	assert_int_equal(count(WORKER_CHUNK, 1), 1);
	assert_int_equal(count(WORKER_WANT, -1), 1);
}

static void
a_part_of_a_chunk_is_asked_for_with_the_number_of_its_takers(void **state)
{
	struct msg_view views[] = { { 0, 1, { 0 } }, { 0, 1, { 0 } }, { 0, 1, { 0 } } };

	(void)state;
	assign(1, views, 3, ORDER_ANY);
	told((struct msg){ .type = MSG_READER_GONE, .reader_gone = { .key = key, .seat = 9, .view = 2, .ended = true } });
	credit(1, 2, 9);
	assert_int_equal(count(WORKER_WANT, -1), 1);
	assert_int_equal(acts[0].view, WORKER_ALL_VIEWS);
	assert_int_equal(acts[0].takers, 2);
}

static void
a_ticket_is_for_one_view(void **state)
{
	const struct secret secret = { 3, 4 };
	struct msg_view views[] = { { 0, 1, { 0 } }, { 1, 1, { 0 } } };
	struct msg_credit c = { key, 5, 1, 9, secret_derive(secret, (uint64_t[]){ 5, 1 }, 2), 0 };

	(void)state;
	told((struct msg){ .type = MSG_ASSIGN, .assign = { .key = key, .places = 2, .views = { views, 2 },
		.secret = secret } });
	assert_false(worker_admits(w, &c));
	c.view = 1;
	assert_true(worker_admits(w, &c));
	c.view = 2;
	assert_false(worker_admits(w, &c));
}

static void
views_that_cannot_be_are_one_view(void **state)
{
	struct msg_view views[] = { { 0, 1, { 0 } }, { 3, 1, { 0 } } };

	(void)state;
	assign(2, views, 2, ORDER_ANY);
	credit(0, 1, 9);
	produce(WORKER_ALL_VIEWS, 0, 0, 1, 10);
	assert_int_equal(count(WORKER_CHUNK, 0), 1);
	produce(1, 1, 1, 1, 10);
	assert_int_equal(count(WORKER_FREE, 1), 1);
}

/* The TAKES that was told last; NULL: none. */
static const struct msg *
takes(void)
{
	for (size_t i = n_acts; i-- > 0;)
		if (acts[i].msg.type == MSG_TAKES)
			return &acts[i].msg;
	return NULL;
}

static void
ticks(int64_t ns)
{
	worker_tick(w, now += ns);
	collect();
}

static void
readers_that_got_a_chunk_are_told_once_until_the_dispatcher_begins_anew(void **state)
{
	uint64_t first;

	(void)state;
	assign(1, NULL, 0, ORDER_ANY);
	credit(0, 1, 9);
	assert_null(takes());
	produce(WORKER_ALL_VIEWS, 0, 0, 1, 10);
	assert_int_equal(takes()->takes.list.n, 1);
	assert_int_equal(takes()->takes.list.v[0].seat, 1);
	first = takes()->req;
	credit(0, 2, 9);
	credit(0, 3, 9);
	for (int i = 1; i < 6; i++) {
		produce(WORKER_ALL_VIEWS, i, (uint64_t)i, 1, 10);
		assert_null(takes()); /* the first is not answered */
	}
	told((struct msg){ .type = MSG_TAKES_OK, .req = first + 1 });
	assert_null(takes());
	told((struct msg){ .type = MSG_TAKES_OK, .req = first });
	assert_in_range(worker_next_deadline(w), 0, now + 20 * MS);
	ticks(20 * MS);
	assert_int_equal(takes()->takes.list.n, 2);
	ticks(3000 * MS);
	assert_int_equal(takes()->takes.list.n, 2);
	told((struct msg){ .type = MSG_WELCOME, .welcome = { WIRE_VERSION, 5, false, 1000, 5000 } });
	ticks(20 * MS);
	assert_int_equal(takes()->takes.list.n, 3);
}
