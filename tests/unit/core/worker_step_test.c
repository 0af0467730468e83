/* SPDX-License-Identifier: MIT
 *
 * A careful stream at its worker.
 */
#include "worker_kit.h"

#define EACH_SETUP setup
#define EACH_TEARDOWN teardown

static struct msg_view one[] = { { 0, 1, { 0 } } };

static void
step(uint64_t offset)
{
	worker_step(w, now += MS, key, offset, false);
	collect();
}

/* The STEP that was said now; NULL: none. */
static const struct msg *
said(void)
{
	for (size_t i = 0; i < n_acts; i++)
		if (acts[i].kind == WORKER_TELL && acts[i].msg.type == MSG_STEP)
			return &acts[i].msg;
	return NULL;
}

static void
answer(uint64_t req, bool free)
{
	told((struct msg){ .type = MSG_STEP_OK, .req = req, .step_ok = { key, free } });
}

static void
a_run_is_made_after_the_answer(void **state)
{
	(void)state;
	assign(1, one, 1, ORDER_ANY);
	step(5);
	assert_int_equal(said()->step.offset, 5);
	assert_false(said()->step.held);
	uint64_t req = said()->req;
	answer(req + 1, false);
	assert_int_equal(count(WORKER_STEP, -1), 0);
	answer(req, true);
	assert_int_equal(count(WORKER_STEP, -1), 1);
	answer(req, true); /* said again */
	assert_int_equal(count(WORKER_STEP, -1), 0);
}

/* The budget is 1000 bytes. */
static void
one_that_is_held_up_says_so_and_makes_nothing(void **state)
{
	(void)state;
	assign(1, one, 1, ORDER_ANY);
	credit(0, 1, 1);
	produce(0, 0, 0, 1, 500);
	produce(0, 1, 1, 1, 600);
	assert_int_equal(count(WORKER_STALL, -1), 1);
	step(2);
	assert_true(said()->step.held);
	answer(said()->req, false);
	assert_int_equal(count(WORKER_STEP, -1), 0);
	ack(0, 1, 0, 1);
	assert_int_equal(count(WORKER_RESUME, -1), 1);
	assert_false(said()->step.held);
	answer(said()->req, false);
	assert_int_equal(count(WORKER_STEP, -1), 1);
}

/* It may have to get to the next place where it can be, and its readers wait for what only others make. */
static void
one_that_is_to_be_handed_over_is_not_held_up(void **state)
{
	(void)state;
	assign(1, one, 1, ORDER_ANY);
	credit(0, 1, 1);
	produce(0, 0, 0, 1, 500);
	produce(0, 1, 1, 1, 600);
	step(2);
	assert_true(said()->step.held);
	told((struct msg){ .type = MSG_YIELD, .yield.key = key });
	assert_false(said()->step.held);
	answer(said()->req, false);
	assert_int_equal(count(WORKER_STEP, -1), 1);
}

/* It is stalled between the question and the answer. */
static void
an_answer_from_before_it_was_held_up_does_not_count(void **state)
{
	(void)state;
	assign(1, one, 1, ORDER_ANY);
	credit(0, 1, 1);
	step(2);
	uint64_t req = said()->req;
	produce(0, 0, 0, 1, 500);
	produce(0, 1, 1, 1, 600);
	assert_true(said()->step.held);
	answer(req, false);
	assert_int_equal(count(WORKER_STEP, -1), 0);
	ack(0, 1, 0, 1);
	answer(req, false);
	assert_int_equal(count(WORKER_STEP, -1), 0);
}

static void
it_is_asked_again_until_there_is_an_answer(void **state)
{
	(void)state;
	assign(1, one, 1, ORDER_ANY);
	step(7);
	uint64_t req = said()->req;
	told((struct msg){ .type = MSG_WELCOME, .welcome = { WIRE_VERSION, 5, false, 1000, 5000 } });
	assert_int_equal(said()->step.offset, 7);
	assert_true(said()->req > req);
	answer(said()->req, false);
	assert_int_equal(count(WORKER_STEP, -1), 1);
	told((struct msg){ .type = MSG_WELCOME, .welcome = { WIRE_VERSION, 5, false, 1000, 5000 } });
	assert_null(said());
}
