/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/clock.h"
#include "base/thread.h"

static void *
mask_taken(void *arg)
{
	pthread_sigmask(SIG_BLOCK, NULL, arg);
	return NULL;
}

static void
a_thread_is_started_with_signals_blocked(void **state)
{
	sigset_t inside, before, after;
	pthread_t t;
	struct err e = { 0 };

	(void)state;
	pthread_sigmask(SIG_BLOCK, NULL, &before);
	assert_int_equal(thread_start(&t, mask_taken, &inside, "a test", &e), ST_OK);
	pthread_join(t, NULL);
	pthread_sigmask(SIG_BLOCK, NULL, &after);
	assert_true(sigismember(&inside, SIGINT) && sigismember(&inside, SIGTERM));
	assert_int_equal(sigismember(&before, SIGINT), sigismember(&after, SIGINT));
}

static void
a_wait_ends_at_its_moment(void **state)
{
	pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	pthread_cond_t news;
	int64_t until = clock_mono_ns() + 2 * 1000 * 1000;

	(void)state;
	thread_cond_init(&news);
	pthread_mutex_lock(&lock);
	while (thread_cond_wait(&news, &lock, until))
		;
	assert_true(clock_mono_ns() >= until);
	assert_false(thread_cond_wait(&news, &lock, 0)); /* a moment long gone */
	pthread_mutex_unlock(&lock);
	pthread_cond_destroy(&news);
}
