/* SPDX-License-Identifier: MIT
 *
 * How much a stream makes while its readers have had little of it.
 */
#include "worker_kit.h"

#define EACH_SETUP setup
#define EACH_TEARDOWN teardown

static void
little_is_made_before_readers_ask(void **state)
{
	(void)state;
	assign(1, NULL, 0, ORDER_ANY);
	produce(WORKER_ALL_VIEWS, 0, 0, 2, 100);
	assert_int_equal(count(WORKER_STALL, -1), 1);
	credit(0, 1, 1);
	assert_int_equal(count(WORKER_CHUNK, 0), 1);
	assert_int_equal(count(WORKER_RESUME, -1), 1);
	produce(WORKER_ALL_VIEWS, 1, 2, 2, 100);
	assert_int_equal(count(WORKER_STALL, -1), 0);
	produce(WORKER_ALL_VIEWS, 2, 4, 2, 100);
	assert_int_equal(count(WORKER_STALL, -1), 1); /* it keeps more than twice what was sent */
	credit(0, 1, 2);
	assert_int_equal(count(WORKER_RESUME, -1), 1);
}

/* It has had the first rounds, which the other, who is away, has not. */
static void
a_reader_that_waits_is_not_too_early(void **state)
{
	struct range had = { 0, 9 };
	struct msg_view views[] = { { 0, 1, { 0 } }, { 1, 1, { &had, 1 } } };

	(void)state;
	assign(2, views, 2, ORDER_STABLE);
	credit(1, 1, 1);
	for (uint32_t i = 0; i < 9; i++) {
		produce(0, (int)i, i, 1, 50);
		assert_int_equal(count(WORKER_STALL, -1), 0);
	}
	produce(1, 9, 9, 1, 50);
	assert_int_equal(count(WORKER_CHUNK, 9), 1);
	assert_int_equal(count(WORKER_STALL, -1), 1); /* nobody waits now */
}

/* The consumers of rounds begin at different times. The first may be ahead of the others by a share of
 * the memory, and not by a chunk. */
static void
a_view_without_a_reader_does_not_stop_the_others(void **state)
{
	struct msg_view views[] = { { 0, 1, { 0 } }, { 1, 1, { 0 } }, { 2, 1, { 0 } }, { 3, 1, { 0 } } };

	(void)state;
	assign(4, views, 4, ORDER_STABLE);
	credit(0, 1, 9);
	for (uint32_t i = 0; i < 16; i++) {
		produce(i % 4, (int)i, i / 4, 1, 50);
		assert_int_equal(count(WORKER_CHUNK, (int)i), i % 4 == 0);
		assert_int_equal(count(WORKER_STALL, -1), 0);
	}
}
