/* SPDX-License-Identifier: MIT */
#include "base/pool.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#include "base/machine.h"
#include "base/mem.h"
#include "base/thread.h"
#include "base/trace.h"

enum { POOL_MOST = 1024 }; /* most threads, including those that wait */

int64_t pool_worth_ns = 40 * 1000;

static struct pool {
	pthread_mutex_t lock;    /* guards everything below */
	pthread_cond_t wake;     /* wakes threads: a user wants one */
	pthread_cond_t back;     /* wakes pool_leave: a thread has finished a piece */
	/* the ring: the user whose turn it is; NULL: no user wants a thread */
	struct pool_user *first;
	uint32_t size;           /* 0: not known yet */
	uint32_t running;        /* number of threads at work, without those that wait in it */
	uint32_t working;        /* number of threads at work */
	uint32_t idle, called;   /* number asleep; number woken or started but not yet up */
	bool ending;
	pthread_t *threads;
	size_t n, cap;
} pool = { .lock = PTHREAD_MUTEX_INITIALIZER, .wake = PTHREAD_COND_INITIALIZER,
	   .back = PTHREAD_COND_INITIALIZER };

/* The user that this thread of the pool works for; NULL: it rests, or is another thread. */
static _Thread_local struct pool_user *pool_mine;

static uint32_t
pool_processors(void)
{
	uint32_t n = machine_cpus();

	return n < POOL_MOST ? n : POOL_MOST;
}

void
pool_set_size(uint32_t threads)
{
	pthread_mutex_lock(&pool.lock);
	pool.size = threads < POOL_MOST ? threads : POOL_MOST;
	pthread_mutex_unlock(&pool.lock);
}

static uint32_t
pool_size_now(void)
{
	if (!pool.size)
		pool.size = pool_processors();
	return pool.size;
}

uint32_t
pool_size(void)
{
	pthread_mutex_lock(&pool.lock);
	uint32_t n = pool_size_now();
	pthread_mutex_unlock(&pool.lock);
	return n;
}

static void
pool_enter(struct pool_user *u)
{
	struct pool_user *at = pool.first;

	if (u->next)
		return;
	u->next = at ? at : u;
	u->before = at ? at->before : u;
	u->before->next = u->next->before = u; /* goes last in turn */
	if (!at)
		pool.first = u;
}

static void
pool_drop(struct pool_user *u)
{
	if (!u->next)
		return;
	if (pool.first == u)
		pool.first = u->next == u ? NULL : u->next;
	u->before->next = u->next;
	u->next->before = u->before;
	u->next = u->before = NULL;
}

/* The next user that may have another thread; it goes last in turn. */
static struct pool_user *
pool_pick(void)
{
	struct pool_user *u = pool.first;

	if (!u || pool.running >= pool_size_now())
		return NULL;
	do {
		if (!u->most || u->busy < u->most) {
			pool.first = u->next;
			return u;
		}
		u = u->next;
	} while (u != pool.first);
	return NULL;
}

static void
pool_work(struct pool_user *u)
{
	uint32_t asked = u->asked;
	bool more;

	u->busy++;
	pool.running++;
	pool.working++;
	pthread_mutex_unlock(&pool.lock);
	pool_mine = u;
	more = u->work(u->arg);
	pool_mine = NULL;
	pthread_mutex_lock(&pool.lock);
	pool.running--;
	pool.working--;
	if (u->left || (!more && u->asked == asked))
		pool_drop(u);
	else
		pool_enter(u); /* another thread may have found nothing to do, and removed it */
	if (--u->busy == 0)
		pthread_cond_broadcast(&pool.back);
}

static void *
pool_thread(void *arg)
{
	struct pool_user *u;

	(void)arg;
	pthread_mutex_lock(&pool.lock);
	pool.called--;
	while (!pool.ending) {
		if ((u = pool_pick()) != NULL) {
			pool_work(u);
			continue;
		}
		pool.idle++;
		trace_flush();
		pthread_cond_wait(&pool.wake, &pool.lock);
		pool.idle--;
		pool.called -= pool.called > 0;
	}
	pthread_mutex_unlock(&pool.lock);
	return NULL;
}

/* Ends the threads at the end of the process. A thread that is still at work is left alone,
 * since it may wait for something that never comes. */
static void
pool_end(void)
{
	pthread_mutex_lock(&pool.lock);
	bool still = pool.working > 0;
	pool.ending = true;
	pthread_cond_broadcast(&pool.wake);
	pthread_mutex_unlock(&pool.lock);
	for (size_t k = 0; k < pool.n && !still; k++)
		pthread_join(pool.threads[k], NULL);
	if (!still)
		mem_free(pool.threads);
}

/* Starts another thread, which counts as called until it is up. */
static void
pool_start(void)
{
	if (pool.n == POOL_MOST || pool.ending)
		return;
	if (!pool.n)
		atexit(pool_end);
	if (pool.n == pool.cap)
		pool.threads = mem_grow(pool.threads, &pool.cap, pool.n + 1, sizeof *pool.threads);
	/* If no thread can be started, those that exist do the work. */
	if (thread_start(&pool.threads[pool.n], pool_thread, NULL, "the pool", NULL) == ST_OK) {
		pool.n++;
		pool.called++;
	}
}

/* Makes sure that a thread comes, if there may be another. */
static void
pool_call(void)
{
	if (!pool.first || pool.running + pool.called >= pool_size_now())
		return;
	if (pool.idle > pool.called) {
		pool.called++;
		pthread_cond_signal(&pool.wake);
	} else {
		pool_start();
	}
}

void
pool_want(struct pool_user *u)
{
	pthread_mutex_lock(&pool.lock);
	u->asked++;
	if (!u->left)
		pool_enter(u);
	if (!u->left && (!u->most || u->busy < u->most))
		pool_call();
	pthread_mutex_unlock(&pool.lock);
}

void
pool_leave(struct pool_user *u)
{
	pool_wait_begin();
	pthread_mutex_lock(&pool.lock);
	u->left = true;
	pool_drop(u);
	while (u->busy)
		pthread_cond_wait(&pool.back, &pool.lock);
	pthread_mutex_unlock(&pool.lock);
	pool_wait_end();
}

void
pool_wait_begin(void)
{
	if (!pool_mine)
		return;
	if (pool_mine->waits)
		pool_mine->waits(pool_mine->arg);
	pthread_mutex_lock(&pool.lock);
	pool.running--;
	pool_call();
	pthread_mutex_unlock(&pool.lock);
}

void
pool_wait_end(void)
{
	if (!pool_mine)
		return;
	pthread_mutex_lock(&pool.lock);
	pool.running++;
	pthread_mutex_unlock(&pool.lock);
}
