/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/thread.h"
#include "op/each/hands_inner.h"
#include "op/state.h"

enum {
	HANDS_OLD_MOST = 64 * HANDS_MOST,
	HANDS_REST_NS = 1000 * 1000 * 1000, /* how long a state waits for input */
	HANDS_LOOK_NS = 20 * 1000 * 1000
};

static int
hands_by_number(const void *a, const void *b)
{
	const struct hands_job *const *x = a, *const *y = b;

	return ((*x)->number > (*y)->number) - ((*x)->number < (*y)->number);
}

/* The jobs that have something to give yet, in the order of their input. */
static uint32_t
hands_left(struct hands *p, struct hands_job **v)
{
	uint32_t n = 0;

	for (uint32_t k = 0; k < p->window; k++) {
		struct hands_job *j = &p->jobs[k];

		if (j->phase != HANDS_FREE && !(j == p->lent && j->over))
			v[n++] = j;
	}
	qsort(v, n, sizeof *v, hands_by_number);
	return n;
}

/* Nobody pulls from now on until the next call, so what stands before it can be
 * saved too. False: the thread that pulls has been waiting for input for long. */
static bool
hands_rest(struct hands *p)
{
	int64_t now = clock_mono_ns(), end = now + HANDS_REST_NS;

	p->pause = true;
	for (; p->pulling && now < end && !op_stopped(p->self->ctx); now = clock_mono_ns())
		thread_cond_wait(&p->news, &p->lock, now + HANDS_LOOK_NS);
	return !p->pulling;
}

static void
hands_put(struct buf *out, uint64_t index, uint64_t items, const struct run *in, uint32_t from)
{
	state_put_u64(out, index + from);
	state_put_u64(out, items);
	state_put_run(out, in, from);
}

/* Threads that evaluate go on: they do not change a job's input. */
static void
hands_put_all(struct hands *p, struct buf *out)
{
	struct hands_job **v = mem_array(p->window, sizeof(*v));
	uint32_t n = hands_left(p, v);
	const struct hands_input *cur = p->cur;

	state_put_u64(out, p->seen);
	state_put_u64(out, n + (cur != NULL) + (p->n_old - p->at_old));
	for (uint32_t k = 0; k < n; k++)
		hands_put(out, v[k]->index, v[k]->given_items, &v[k]->in, v[k]->given_at);
	if (cur)
		hands_put(out, cur->index, p->cut ? 0 : cur->items, &cur->run, p->cut);
	for (size_t k = p->at_old; k < p->n_old; k++)
		hands_put(out, p->old[k].index, p->old[k].items, &p->old[k].in, 0);
	mem_free(v);
}

bool
hands_save(struct op_inst *self, struct hands_use *u, struct buf *out)
{
	struct hands *p = u->hands;

	if (!p)
		return false;
	pthread_mutex_lock(&p->lock);
	bool alone = p->alone;
	state_put_u64(out, alone);
	if (!alone && hands_rest(p)) {
		self->unsaved = p->status != ST_OK && p->status != ST_END && p->status != ST_AGAIN;
		hands_put_all(p, out);
	} else if (!alone) {
		self->unsaved = true;
	}
	pthread_mutex_unlock(&p->lock);
	return !alone;
}

static enum status
hands_restore_jobs(struct op_inst *self, struct hands *p, struct state_in in, struct err *e)
{
	p->seen = state_get_u64(&in, INT64_MAX);
	uint64_t n = state_get_u64(&in, HANDS_OLD_MOST);
	for (uint64_t k = 0; k < n && !in.bad; k++) {
		struct hands_old old = { .index = state_get_u64(&in, INT64_MAX) };

		old.items = state_get_u64(&in, UINT32_MAX);
		if (!state_get_run(&in, &old.in) || !old.in.n) {
			run_clear(&old.in);
			continue;
		}
		p->old = mem_grow(p->old, &p->cap_old, p->n_old + 1, sizeof *p->old);
		p->old[p->n_old++] = old;
	}
	return state_finish(self, &in, e);
}

bool
hands_restore(struct op_inst *self, struct hands_use *u, const uint8_t **bytes, size_t *n,
	      enum status *st, struct err *e)
{
	struct hands *p = u->hands;
	struct state_in in = state_begin(*bytes, *n);

	if (!p)
		return false;
	p->alone = state_get_u64(&in, 1);
	if (!in.bad && p->alone) {
		*bytes = in.p;
		*n = (size_t)(in.end - in.p);
		return false;
	}
	*st = hands_restore_jobs(self, p, in, e);
	return true;
}
