/* SPDX-License-Identifier: MIT */
#include "host/work/turns.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/clock.h"

#define SEC 1000000000ll

static atomic_int ran, at_once, most;
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;

static void
run(void *arg)
{
	int now = atomic_fetch_add(&at_once, 1) + 1, seen = atomic_load(&most);

	while (now > seen && !atomic_compare_exchange_weak(&most, &seen, now))
		;
	pthread_mutex_lock(&gate);
	pthread_mutex_unlock(&gate);
	atomic_fetch_add((atomic_int *)arg, 1);
	atomic_fetch_sub(&at_once, 1);
}

static void
all_are_run_and_no_more_at_once_than_there_are_threads(void **state)
{
	struct turns *t = turns_new(3);
	struct err e;

	(void)state;
	pthread_mutex_lock(&gate);
	for (int i = 0; i < 100; i++)
		assert_int_equal(turns_give(t, run, &ran, &e), ST_OK);
	assert_false(turns_wait(t, clock_mono_ns())); /* they stand at the gate */
	pthread_mutex_unlock(&gate);
	assert_true(turns_wait(t, clock_mono_ns() + 20 * SEC));
	assert_int_equal(atomic_load(&ran), 100);
	assert_true(atomic_load(&most) <= 3);
	assert_int_equal(turns_give(t, run, &ran, &e), ST_OK);
	assert_true(turns_wait(t, clock_mono_ns() + 20 * SEC));
	assert_int_equal(atomic_load(&ran), 101);
	turns_free(&t);
	assert_null(t);
	turns_free(&t);
}

static pthread_t who[2];

static void
note(void *arg)
{
	*(pthread_t *)arg = pthread_self();
}

static void
a_thread_stays_for_the_next_turn(void **state)
{
	struct turns *t = turns_new(8);
	struct err e;

	(void)state;
	for (int i = 0; i < 2; i++) {
		assert_int_equal(turns_give(t, note, &who[i], &e), ST_OK);
		assert_true(turns_wait(t, clock_mono_ns() + 20 * SEC));
	}
	assert_true(pthread_equal(who[0], who[1]));
	turns_free(&t);
}
