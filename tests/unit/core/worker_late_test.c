/* SPDX-License-Identifier: MIT
 *
 * A worker keeps, for groups that come late, what the present ones have.
 */
#include "worker_kit.h"

#define EACH_SETUP setup
#define EACH_TEARDOWN teardown

/* A stream of a shared job with one group, or two; the first leaves out [skip, skip_end). */
static void
share(size_t groups, uint64_t skip, uint64_t skip_end)
{
	struct range r = { skip, skip_end };
	struct msg_view views[] = { { 0, 1, { &r, skip_end ? 1 : 0 } }, { 0, 1, { 0 } } };

	told((struct msg){ .type = MSG_ASSIGN, .assign = { .key = key, .places = 1, .shared = true,
		.views = { views, groups } } });
}

/* A group comes; the answer. */
static struct msg_view_ok
comes(uint32_t view, uint64_t first, bool later)
{
	told((struct msg){ .type = MSG_VIEW, .view_add = { key, view, first, later } });
	for (size_t i = 0; i < n_acts; i++)
		if (acts[i].kind == WORKER_TELL && acts[i].msg.type == MSG_VIEW_OK) {
			assert_int_equal(acts[i].msg.view_ok.view, view);
			return acts[i].msg.view_ok;
		}
	fail_msg("no answer");
	return (struct msg_view_ok){ 0 };
}

/* The chunk with the handle is sent to that reader now, and begins there. */
static void
sent_from(int handle, uint64_t seat, uint64_t from)
{
	for (size_t i = 0; i < n_acts; i++)
		if (acts[i].kind == WORKER_CHUNK && acts[i].handle == &names[handle] && acts[i].msg.chunk.seat == seat) {
			assert_int_equal(acts[i].msg.chunk.offset + acts[i].msg.chunk.skip, from);
			return;
		}
	fail_msg("chunk %d is not sent", handle);
}

/* Three chunks of ten elements and 100 bytes, which the group has. */
static void
make_three(void)
{
	credit(0, 1, 9);
	for (int i = 0; i < 3; i++) {
		produce(WORKER_ALL_VIEWS, i, 10 * (uint64_t)i, 10, 100);
		ack(0, 1, 10 * (uint64_t)i, 10 * (uint64_t)i + 10);
		assert_int_equal(count(WORKER_FREE, -1), 0);
	}
}

static void
a_late_group_gets_what_the_others_have_already(void **state)
{
	(void)state;
	share(1, 0, 0);
	make_three();
	produce(WORKER_ALL_VIEWS, 3, 30, 10, 100); /* this one they have not */
	assert_true(comes(1, 0, true).can);
	credit(1, 2, 9);
	for (int i = 0; i < 4; i++)
		sent_from(i, 2, 10 * (uint64_t)i);
	ack(1, 2, 0, 40);
	assert_int_equal(count(WORKER_FREE, -1), 0); /* there may come others */
	ack(0, 1, 30, 40);
	produce(WORKER_ALL_VIEWS, 4, 40, 10, 100);
	assert_int_equal(count(WORKER_CHUNK, 4), 2);
	assert_int_equal(comes(2, 0, true).begin, 0);
}

static void
what_is_kept_for_nobody_goes_first(void **state)
{
	(void)state;
	share(1, 0, 0);
	make_three();
	produce(WORKER_ALL_VIEWS, 3, 30, 10, 800); /* there is room for 1000 */
	assert_int_equal(count(WORKER_FREE, 0), 1);
	assert_int_equal(count(WORKER_STALL, -1), 0);
	assert_int_equal(comes(1, 0, true).begin, 10);
	assert_int_equal(count(WORKER_STALL, -1), 1); /* it is wanted now */
	produce(WORKER_ALL_VIEWS, 4, 40, 10, 100);
	assert_int_equal(count(WORKER_FREE, -1), 0);
}

static void
a_group_that_wants_the_start_does_not_begin_later(void **state)
{
	struct msg_view_ok ok;

	(void)state;
	share(1, 0, 0);
	make_three();
	assert_true(comes(1, 0, false).can);
	produce(WORKER_ALL_VIEWS, 3, 30, 10, 600);
	credit(1, 2, 9);
	ack(1, 2, 0, 40);
	ack(0, 1, 30, 40);
	produce(WORKER_ALL_VIEWS, 4, 40, 10, 300);
	assert_false(comes(2, 0, false).can);
	ok = comes(2, 0, true);
	assert_true(ok.can);
	assert_true(ok.begin > 0);
	assert_int_equal(comes(2, 0, true).begin, ok.begin); /* asked again */
}

static void
a_group_that_goes_on_at_a_turn_gets_nothing_before_it(void **state)
{
	(void)state;
	share(2, 0, 0);
	credit(0, 1, 9);
	produce(WORKER_ALL_VIEWS, 0, 0, 10, 100);
	assert_int_equal(comes(2, 25, false).begin, 25);
	credit(2, 3, 9);
	produce(WORKER_ALL_VIEWS, 1, 10, 10, 100);
	assert_int_equal(count(WORKER_CHUNK, 1), 1);
	produce(WORKER_ALL_VIEWS, 2, 20, 10, 100);
	assert_int_equal(count(WORKER_CHUNK, 2), 2);
	sent_from(2, 1, 20);
	sent_from(2, 3, 25);
}

static void
nothing_is_left_out_because_others_have_it(void **state)
{
	(void)state;
	share(1, 0, 20);
	produce(WORKER_ALL_VIEWS, 0, 20, 10, 100); /* those before it are not given */
	assert_int_equal(comes(1, 0, true).begin, 20);
}

static void
what_is_still_to_be_left_out_has_to_be_made_again(void **state)
{
	(void)state;
	share(1, 50, 60);
	produce(WORKER_ALL_VIEWS, 0, 0, 10, 100);
	assert_false(comes(1, 0, true).can);
	produce(WORKER_ALL_VIEWS, 1, 60, 10, 100);
	assert_int_equal(comes(1, 0, true).begin, 60);
}

static void
a_group_that_ended_before_it_was_added_is_confirmed(void **state)
{
	(void)state;
	share(1, 0, 0);
	told((struct msg){ .type = MSG_READER_GONE, .reader_gone = { key, 5, { 0 }, 3, true } });
	assert_int_equal(acts[0].msg.type, MSG_GONE_OK);
	assert_true(acts[0].msg.gone_ok.ended);
	assert_int_equal(acts[0].msg.gone_ok.view, 3);
}

/* The dispatcher says that a group has ended since another comes, whose VIEW may be behind that. */
static void
a_group_that_ends_before_the_next_one_is_added_holds_nothing_up(void **state)
{
	(void)state;
	share(1, 0, 0);
	credit(0, 1, 9);
	produce(WORKER_ALL_VIEWS, 0, 0, 10, 400);
	told((struct msg){ .type = MSG_READER_GONE, .reader_gone = { .key = key, .seat = 1, .ended = true } });
	assert_int_equal(comes(1, 0, true).begin, 0);
	produce(WORKER_ALL_VIEWS, 1, 10, 10, 500);
	credit(1, 2, 9);
	sent_from(0, 2, 0);
	sent_from(1, 2, 10);
	ack(1, 2, 0, 20);
	produce(WORKER_ALL_VIEWS, 2, 20, 10, 600);
	assert_int_equal(count(WORKER_STALL, -1), 0);
	assert_int_equal(count(WORKER_CHUNK, 2), 1);
}
