/* SPDX-License-Identifier: MIT
 *
 * Pieces of work that threads of the pool do ahead.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/ahead.h"

enum { PIECES = 500 };

static atomic_int done[PIECES];
static atomic_bool shut; /* pieces wait */
static atomic_size_t allowed; /* the last piece that may be begun */
static atomic_bool too_far;
static struct ahead pieces;

static void
count(void *arg, size_t piece)
{
	assert_ptr_equal(arg, &pieces);
	if (piece > atomic_load(&allowed))
		atomic_store(&too_far, true);
	atomic_fetch_add(&done[piece], 1);
	while (atomic_load(&shut))
		;
}

static void
start(uint32_t threads)
{
	for (size_t i = 0; i < PIECES; i++)
		atomic_store(&done[i], 0);
	atomic_store(&allowed, PIECES);
	pool_set_size(threads);
}

static void
begin(uint32_t threads, size_t n)
{
	start(threads);
	ahead_begin(&pieces, n, count, &pieces);
}

static void
each_is_done_once_before_it_is_needed(void **state)
{
	(void)state;
	for (uint32_t threads = 1; threads < 6; threads++)
		for (size_t n = 1; n <= PIECES; n += 499) {
			begin(threads, n);
			for (size_t i = 0; i < n; i++) {
				ahead_need(&pieces, i);
				assert_int_equal(atomic_load(&done[i]), 1);
			}
			ahead_end(&pieces);
			for (size_t i = 0; i < n; i++)
				assert_int_equal(atomic_load(&done[i]), 1);
		}
}

static void
with_one_thread_nothing_is_done_ahead(void **state)
{
	(void)state;
	begin(1, PIECES);
	for (size_t i = 0; i < PIECES; i += 2)
		ahead_need(&pieces, i);
	ahead_end(&pieces);
	for (size_t i = 0; i < PIECES; i++)
		assert_int_equal(atomic_load(&done[i]), i % 2 == 0);
}

static void
with_two_the_other_one_works_ahead(void **state)
{
	(void)state;
	begin(2, PIECES);
	while (!atomic_load(&done[PIECES - 1])) /* nobody needs anything */
		;
	for (size_t i = 0; i < PIECES; i++)
		ahead_need(&pieces, i);
	ahead_end(&pieces);
}

static void
not_too_far_ahead(void **state)
{
	(void)state;
	for (size_t far = 1; far < 10; far += 4) {
		start(4);
		atomic_store(&allowed, far);
		ahead_begin_within(&pieces, PIECES, far, count, &pieces);
		while (!atomic_load(&done[far])) /* so many though nobody needs anything */
			;
		for (size_t i = 0; i < PIECES; i++) {
			atomic_store(&allowed, i + far);
			ahead_need(&pieces, i);
			assert_int_equal(atomic_load(&done[i]), 1);
		}
		ahead_end(&pieces);
		assert_false(atomic_load(&too_far));
	}
}

static void
a_single_one_is_given_away(void **state)
{
	(void)state;
	start(2);
	ahead_give(&pieces, count, &pieces);
	while (!atomic_load(&done[0]))
		;
	ahead_need(&pieces, 0);
	ahead_end(&pieces);
	start(1); /* nobody is there */
	ahead_give(&pieces, count, &pieces);
	ahead_need(&pieces, 0);
	ahead_end(&pieces);
	assert_int_equal(atomic_load(&done[0]), 1);
}

static void
first_waits_for_second(void *arg, size_t piece)
{
	(void)arg;
	while (!piece && !atomic_load(&done[1]))
		;
	atomic_fetch_add(&done[piece], 1);
}

/* Once the other thread is inside the first piece, the second is left to whoever waits for the first. */
static void
who_waits_works(void **state)
{
	(void)state;
	for (int i = 0; i < 50; i++) {
		start(2);
		ahead_begin(&pieces, 2, first_waits_for_second, NULL);
		ahead_need(&pieces, 0);
		ahead_need(&pieces, 1);
		ahead_end(&pieces);
		assert_int_equal(atomic_load(&done[0]), 1);
		assert_int_equal(atomic_load(&done[1]), 1);
	}
}

static void *
end_it(void *arg)
{
	ahead_end(arg);
	return NULL;
}

/* The other thread is inside a piece when the end comes: it is waited for, and begins no other one. */
static void
at_the_end_none_is_begun(void **state)
{
	pthread_t ender;
	bool over = false;
	int n = 0;

	(void)state;
	atomic_store(&shut, true);
	begin(2, PIECES);
	while (!atomic_load(&done[0]))
		;
	assert_int_equal(pthread_create(&ender, NULL, end_it, &pieces), 0);
	while (!over) {
		pthread_mutex_lock(&pieces.lock);
		over = pieces.over;
		pthread_mutex_unlock(&pieces.lock);
	}
	atomic_store(&shut, false);
	pthread_join(ender, NULL);
	for (size_t i = 0; i < PIECES; i++)
		n += atomic_load(&done[i]);
	assert_int_equal(n, 1);
	ahead_end(&pieces); /* again: nothing */
	pool_set_size(0);
}

static bool nested_ran;
static pthread_mutex_t nested_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t nested_over = PTHREAD_COND_INITIALIZER;

static bool
nested(void *arg)
{
	(void)arg;
	pthread_mutex_lock(&nested_lock);
	bool ran = nested_ran;
	pthread_mutex_unlock(&nested_lock);
	if (ran)
		return false;
	ahead_begin(&pieces, PIECES, count, &pieces);
	for (size_t i = 0; i < PIECES; i++)
		ahead_need(&pieces, i);
	ahead_end(&pieces);
	pthread_mutex_lock(&nested_lock);
	nested_ran = true;
	pthread_cond_signal(&nested_over);
	pthread_mutex_unlock(&nested_lock);
	return false;
}

static void
a_thread_of_the_pool_may_need_them_too(void **state)
{
	struct pool_user u = { .work = nested, .most = 1 };

	(void)state;
	start(2);
	pool_want(&u);
	pthread_mutex_lock(&nested_lock);
	while (!nested_ran)
		pthread_cond_wait(&nested_over, &nested_lock);
	pthread_mutex_unlock(&nested_lock);
	pool_leave(&u);
	for (size_t i = 0; i < PIECES; i++)
		assert_int_equal(atomic_load(&done[i]), 1);
	pool_set_size(0);
}
