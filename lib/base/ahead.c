/* SPDX-License-Identifier: MIT */
#include "base/ahead.h"

#include "base/mem.h"

enum { AHEAD_OPEN, AHEAD_BEGUN, AHEAD_DONE };

/* Does a piece that the lock's holder has found open; unlocks meanwhile. */
static void
ahead_do(struct ahead *a, size_t piece)
{
	a->state[piece] = AHEAD_BEGUN;
	pthread_mutex_unlock(&a->lock);
	a->work(a->arg, piece);
	pthread_mutex_lock(&a->lock);
	a->state[piece] = AHEAD_DONE;
	pthread_cond_broadcast(&a->done);
}

/* Does the next piece that may be begun, if there is one; the lock is held before and after. */
static bool
ahead_next(struct ahead *a)
{
	while (a->next < a->n && a->state[a->next] != AHEAD_OPEN)
		a->next++;
	if (a->over || a->next == a->n || a->next - a->needed > a->far)
		return false;
	ahead_do(a, a->next++);
	return true;
}

static bool
ahead_work(void *arg)
{
	struct ahead *a = arg;

	pthread_mutex_lock(&a->lock);
	bool did = ahead_next(a);
	pthread_mutex_unlock(&a->lock);
	return did;
}

void
ahead_begin_within(struct ahead *a, size_t n, size_t far, void (*work)(void *arg, size_t piece), void *arg)
{
	uint32_t others = pool_size() - 1;

	*a = (struct ahead){ .work = work, .arg = arg, .n = n, .far = far, .state = mem_zalloc(n),
		.user = { .work = ahead_work, .arg = a, .most = others } };
	pthread_mutex_init(&a->lock, NULL);
	pthread_cond_init(&a->done, NULL);
	for (size_t i = 1; i < n && i <= others; i++)
		pool_want(&a->user);
}

void
ahead_begin(struct ahead *a, size_t n, void (*work)(void *arg, size_t piece), void *arg)
{
	ahead_begin_within(a, n, n, work, arg);
}

void
ahead_give(struct ahead *a, void (*work)(void *arg, size_t piece), void *arg)
{
	ahead_begin(a, 1, work, arg);
	if (a->user.most)
		pool_want(&a->user);
}

void
ahead_need(struct ahead *a, size_t piece)
{
	pthread_mutex_lock(&a->lock);
	a->needed = piece;
	if (a->user.most && a->far < a->n && a->next < a->n)
		pool_want(&a->user);
	if (a->state[piece] == AHEAD_OPEN)
		ahead_do(a, piece);
	while (a->state[piece] != AHEAD_DONE)
		if (!ahead_next(a)) {
			pool_wait_begin();
			pthread_cond_wait(&a->done, &a->lock);
			pool_wait_end();
		}
	pthread_mutex_unlock(&a->lock);
}

void
ahead_end(struct ahead *a)
{
	if (!a->n)
		return;
	pthread_mutex_lock(&a->lock);
	a->over = true;
	pthread_mutex_unlock(&a->lock);
	pool_leave(&a->user);
	pthread_mutex_destroy(&a->lock);
	pthread_cond_destroy(&a->done);
	mem_free(a->state);
	a->n = 0;
}
