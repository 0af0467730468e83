/* SPDX-License-Identifier: MIT
 *
 * The pool: how many threads work at once, for whom, and what those who wait change.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/pool.h"

/* Work that counts, until there is none left; and doors at which threads wait. */
struct job {
	struct pool_user user;
	pthread_mutex_t lock;
	pthread_cond_t moved;
	int left, done, inside, most_inside;
	bool door;             /* shut: work waits in front of it */
	bool says_so;
	struct job *order;     /* where all of them write down who worked */
	char names[64];
	int n_names;
	char name;
};

static void
job_note(struct job *j)
{
	struct job *o = j->order;

	if (!o)
		return;
	pthread_mutex_lock(&o->lock);
	if (o->n_names < (int)sizeof o->names - 1)
		o->names[o->n_names++] = j->name;
	pthread_cond_broadcast(&o->moved);
	pthread_mutex_unlock(&o->lock);
}

static bool
job_work(void *arg)
{
	struct job *j = arg;

	pthread_mutex_lock(&j->lock);
	if (!j->left) {
		pthread_mutex_unlock(&j->lock);
		return false;
	}
	j->left--;
	if (++j->inside > j->most_inside)
		j->most_inside = j->inside;
	pthread_cond_broadcast(&j->moved);
	if (j->says_so)
		pool_wait_begin();
	while (j->door)
		pthread_cond_wait(&j->moved, &j->lock);
	if (j->says_so)
		pool_wait_end();
	j->inside--;
	j->done++;
	pthread_cond_broadcast(&j->moved);
	pthread_mutex_unlock(&j->lock);
	job_note(j);
	return true;
}

static void
job_init(struct job *j, int left, uint32_t most)
{
	*j = (struct job){ .left = left };
	j->user = (struct pool_user){ .work = job_work, .arg = j, .most = most };
	pthread_mutex_init(&j->lock, NULL);
	pthread_cond_init(&j->moved, NULL);
}

static void
job_want(struct job *j, int times)
{
	while (times--)
		pool_want(&j->user);
}

static void
job_await(struct job *j, const int *what, int n)
{
	pthread_mutex_lock(&j->lock);
	while (*what < n)
		pthread_cond_wait(&j->moved, &j->lock);
	pthread_mutex_unlock(&j->lock);
}

static void
job_open(struct job *j)
{
	pthread_mutex_lock(&j->lock);
	j->door = false;
	pthread_cond_broadcast(&j->moved);
	pthread_mutex_unlock(&j->lock);
}

static void
all_work_is_done(void **state)
{
	struct job j;

	(void)state;
	pool_set_size(3);
	job_init(&j, 1000, 0);
	job_want(&j, 3);
	job_await(&j, &j.done, 1000);
	pool_leave(&j.user);
	assert_true(j.most_inside <= 3);
	/* a user that has left wants nothing more */
	j.left = 5;
	pool_want(&j.user);
	pool_leave(&j.user);
	assert_int_equal(j.left, 5);
}

static void
no_more_than_most_work_for_one(void **state)
{
	struct job j;

	(void)state;
	pool_set_size(4);
	job_init(&j, 200, 2);
	j.door = true;
	job_want(&j, 8);
	job_await(&j, &j.inside, 2);
	job_open(&j);
	job_await(&j, &j.done, 200);
	pool_leave(&j.user);
	assert_int_equal(j.most_inside, 2);
}

static void
the_pool_is_no_larger_than_said(void **state)
{
	struct job a, b;

	(void)state;
	pool_set_size(2);
	job_init(&a, 2, 0);
	job_init(&b, 1, 0);
	a.door = true;
	job_want(&a, 2);
	job_await(&a, &a.inside, 2);
	job_want(&b, 1); /* none is left for it */
	job_open(&a);
	job_await(&b, &b.done, 1);
	pool_leave(&a.user);
	pool_leave(&b.user);
	assert_int_equal(pool_size(), 2);
}

/* A thread that waits and says so leaves its place to another one. */
static void
who_waits_makes_room(void **state)
{
	struct job a, b;

	(void)state;
	pool_set_size(1);
	job_init(&a, 3, 0);
	job_init(&b, 50, 0);
	a.door = a.says_so = true;
	job_want(&a, 3);
	job_await(&a, &a.inside, 3);
	job_want(&b, 1);
	job_await(&b, &b.done, 50);
	assert_int_equal(a.done, 0);
	assert_int_equal(b.most_inside, 1);
	job_open(&a);
	job_await(&a, &a.done, 3);
	pool_leave(&a.user);
	pool_leave(&b.user);
}

/* With one thread, those who want are served in turn, a piece each. */
static void
they_take_turns(void **state)
{
	struct job order, j[3];
	int count[3] = { 0 };

	(void)state;
	pool_set_size(1);
	job_init(&order, 1, 0);
	order.door = true; /* holds the thread until all are there */
	job_want(&order, 1);
	job_await(&order, &order.inside, 1);
	for (int k = 0; k < 3; k++) {
		job_init(&j[k], 10, 0);
		j[k].order = &order;
		j[k].name = (char)('a' + k);
		job_want(&j[k], 1);
	}
	job_open(&order);
	job_await(&order, &order.n_names, 30);
	for (int at = 0; at < 30; at++) {
		count[order.names[at] - 'a']++;
		for (int k = 0; k < 3; k++)
			assert_true(count[k] >= at / 3 && count[k] <= at / 3 + 1);
	}
	for (int k = 0; k < 3; k++)
		pool_leave(&j[k].user);
	pool_leave(&order.user);
}

static void *
job_wanter(void *arg)
{
	for (int k = 0; k < 300; k++)
		pool_want(&((struct job *)arg)->user);
	return NULL;
}

/* Leaving while others still want, again and again. */
static void
leaving_waits_for_who_is_at_work(void **state)
{
	(void)state;
	pool_set_size(4);
	for (int k = 0; k < 50; k++) {
		struct job j;
		pthread_t t;

		job_init(&j, 100000, 0);
		pthread_create(&t, NULL, job_wanter, &j);
		job_await(&j, &j.done, 5);
		pool_leave(&j.user);
		assert_int_equal(j.inside, 0);
		int done = j.done;
		pthread_join(t, NULL);
		assert_int_equal(j.done, done);
		pthread_mutex_destroy(&j.lock);
		pthread_cond_destroy(&j.moved);
	}
}
