/* SPDX-License-Identifier: MIT */
#include "host/work/turns.h"

#include <pthread.h>

#include "base/mem.h"
#include "base/thread.h"

struct turn {
	void (*run)(void *arg);
	void *arg;
	struct turn *next;
};

struct turns {
	pthread_mutex_t lock;
	pthread_cond_t given, done;
	struct turn *first, **last; /* not begun */
	pthread_t *threads;
	size_t n_threads, most, idle, waiting; /* waiting: turns not begun */
	bool end;
};

static void *
turns_thread(void *arg)
{
	struct turns *t = arg;

	pthread_mutex_lock(&t->lock);
	for (;;) {
		struct turn *turn = t->first;

		if (!turn) {
			t->idle++;
			pthread_cond_broadcast(&t->done);
			while (!t->first && !t->end)
				pthread_cond_wait(&t->given, &t->lock);
			t->idle--;
			if (t->first)
				continue;
			break;
		}
		t->first = turn->next;
		if (!t->first)
			t->last = &t->first;
		t->waiting--;
		pthread_mutex_unlock(&t->lock);
		turn->run(turn->arg);
		mem_free(turn);
		pthread_mutex_lock(&t->lock);
	}
	pthread_mutex_unlock(&t->lock);
	return NULL;
}

struct turns *
turns_new(size_t most)
{
	struct turns *t = mem_zalloc(sizeof *t);

	pthread_mutex_init(&t->lock, NULL);
	pthread_cond_init(&t->given, NULL);
	thread_cond_init(&t->done);
	t->last = &t->first;
	t->most = most;
	t->threads = mem_array(most, sizeof *t->threads);
	return t;
}

enum status
turns_give(struct turns *t, void (*run)(void *arg), void *arg, struct err *e)
{
	struct turn *turn = mem_zalloc(sizeof *turn);
	enum status st = ST_OK;

	*turn = (struct turn){ run, arg, NULL };
	pthread_mutex_lock(&t->lock);
	if (t->idle <= t->waiting && t->n_threads < t->most) {
		st = thread_start(&t->threads[t->n_threads], turns_thread, t, "a stream", e);
		t->n_threads += st == ST_OK;
		if (t->n_threads) /* those there are will come to it */
			st = ST_OK;
	}
	if (st == ST_OK) {
		*t->last = turn;
		t->last = &turn->next;
		t->waiting++;
		pthread_cond_signal(&t->given);
	} else {
		mem_free(turn);
	}
	pthread_mutex_unlock(&t->lock);
	return st;
}

bool
turns_wait(struct turns *t, int64_t until_ns)
{
	bool done;

	pthread_mutex_lock(&t->lock);
	while (!(done = !t->first && t->idle == t->n_threads) && thread_cond_wait(&t->done, &t->lock, until_ns))
		;
	pthread_mutex_unlock(&t->lock);
	return done;
}

void
turns_free(struct turns **tp)
{
	struct turns *t = *tp;

	if (!t)
		return;
	*tp = NULL;
	pthread_mutex_lock(&t->lock);
	t->end = true;
	pthread_cond_broadcast(&t->given);
	pthread_mutex_unlock(&t->lock);
	for (size_t i = 0; i < t->n_threads; i++)
		pthread_join(t->threads[i], NULL);
	pthread_mutex_destroy(&t->lock);
	pthread_cond_destroy(&t->given);
	pthread_cond_destroy(&t->done);
	mem_free(t->threads);
	mem_free(t);
}
