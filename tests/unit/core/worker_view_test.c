/* SPDX-License-Identifier: MIT
 *
 * A worker whose streams have several views.
 */
#include "core/work/worker.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"

#define EACH_SETUP setup
#define EACH_TEARDOWN teardown

#define MS 1000000ll

static struct worker *w;
static int64_t now;
static struct worker_action acts[64];
static size_t n_acts;
static char names[64]; /* handles are addresses in here */
static const struct stream_key key = { 7, 0, 1 };

static void
collect(void)
{
	while (n_acts)
		msg_clear(&acts[--n_acts].msg);
	while (worker_action(w, &acts[n_acts]))
		assert_true(++n_acts < 64);
}

/* How many actions of this kind there are; -1: the handle of the only one is another. */
static int
count(enum worker_action_kind kind, int handle)
{
	int n = 0;

	for (size_t i = 0; i < n_acts; i++)
		if (acts[i].kind == kind && acts[i].handle != (handle < 0 ? acts[i].handle : &names[handle]))
			return -1;
		else
			n += acts[i].kind == kind;
	return n;
}

static void
told(struct msg m)
{
	struct msg copy;

	msg_copy(&copy, &m);
	worker_message(w, now += MS, &copy);
	msg_clear(&copy);
	collect();
}

static void
assign(uint32_t places, struct msg_view *views, size_t n, int order)
{
	told((struct msg){ .type = MSG_ASSIGN, .assign = { .key = key, .order = (uint32_t)order, .places = places,
		.views = { views, n } } });
	assert_int_equal(count(WORKER_START, -1), 1);
}

static int
setup(void **state)
{
	static const struct worker_opts o = { .peer = 1, .name = "w", .host = "h", .endpoint = "e", .slots = 1,
		.memory = 1000 };

	(void)state;
	w = worker_new(&o, now = 1);
	told((struct msg){ .type = MSG_WELCOME, .welcome = { WIRE_VERSION, 5, false, 1000, 5000 } });
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	worker_stop(w);
	collect();
	while (n_acts)
		msg_clear(&acts[--n_acts].msg);
	worker_free(&w);
	return 0;
}

/* Reader `seat` of that view gets credit. */
static void
credit(uint32_t view, uint64_t seat, uint64_t total)
{
	struct msg m = { .type = MSG_CREDIT, .credit = { key, seat, 1, total, { 0 }, view } };

	worker_data(w, now += MS, 100 + seat, &m);
	collect();
}

static void
ack(uint32_t view, uint64_t seat, uint64_t start, uint64_t end)
{
	struct range r = { start, end };
	struct msg m = { .type = MSG_CHUNK_ACK, .chunk_ack = { key, seat, { &r, 1 }, { 0 }, view } };

	worker_data(w, now += MS, 100 + seat, &m);
	collect();
}

static void
produce(uint32_t view, int handle, uint64_t offset, uint32_t n, size_t bytes)
{
	worker_produced(w, now += MS, key, view, &names[handle], offset, n, bytes, 0);
	collect();
}

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
