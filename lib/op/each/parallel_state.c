/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/thread.h"
#include "op/each/parallel_inner.h"
#include "op/state.h"

enum {
	PARALLEL_OLD_MOST = 64 * PARALLEL_MOST,
	PARALLEL_REST_NS = 1000 * 1000 * 1000, /* how long saving waits for the thread that pulls */
	PARALLEL_LOOK_NS = 20 * 1000 * 1000
};

static int
parallel_by_number(const void *a, const void *b)
{
	const struct parallel_job *const *x = a, *const *y = b;

	return ((*x)->number > (*y)->number) - ((*x)->number < (*y)->number);
}

/* Collects the jobs that still have something to give, in the order of their input. */
static uint32_t
parallel_left(struct parallel *p, struct parallel_job **v)
{
	uint32_t n = 0;

	for (uint32_t k = 0; k < p->window; k++) {
		struct parallel_job *j = &p->jobs[k];

		if (j->phase != PARALLEL_FREE && !(j == p->lent && j->over))
			v[n++] = j;
	}
	qsort(v, n, sizeof *v, parallel_by_number);
	return n;
}

/* Stops pulling until the next call, so that the state of the inputs can be saved, too. False:
 * the thread that pulls is still waiting for input. */
static bool
parallel_rest(struct parallel *p)
{
	int64_t now = clock_mono_ns(), end = now + PARALLEL_REST_NS;

	p->pause = true;
	for (; p->pulling && now < end && !op_stopped(p->self->ctx); now = clock_mono_ns())
		thread_cond_wait(&p->news, &p->lock, now + PARALLEL_LOOK_NS);
	return !p->pulling;
}

static void
parallel_put(struct buf *out, uint64_t index, uint64_t items, const struct run *in, uint32_t from)
{
	state_put_u64(out, index + from);
	state_put_u64(out, items);
	state_put_run(out, in, from);
}

/* Saves the input of all jobs. Threads that evaluate may go on, since they do not change it. */
static void
parallel_put_all(struct parallel *p, struct buf *out)
{
	struct parallel_job **v = mem_array(p->window, sizeof(*v));
	uint32_t n = parallel_left(p, v);
	const struct parallel_input *cur = p->cur;

	state_put_u64(out, p->seen);
	state_put_u64(out, n + (cur != NULL) + (p->n_old - p->at_old));
	for (uint32_t k = 0; k < n; k++)
		parallel_put(out, v[k]->index, v[k]->given_items, &v[k]->in, v[k]->given_at);
	if (cur)
		parallel_put(out, cur->index, p->cut ? 0 : cur->items, &cur->run, p->cut);
	for (size_t k = p->at_old; k < p->n_old; k++)
		parallel_put(out, p->old[k].index, p->old[k].items, &p->old[k].in, 0);
	mem_free(v);
}

bool
parallel_save(struct op_inst *self, struct parallel_use *u, struct buf *out)
{
	struct parallel *p = u->threads;

	if (!p)
		return false;
	pthread_mutex_lock(&p->lock);
	bool alone = p->alone;
	state_put_u64(out, alone);
	if (!alone && parallel_rest(p)) {
		self->unsaved = p->status != ST_OK && p->status != ST_END && p->status != ST_AGAIN;
		parallel_put_all(p, out);
	} else if (!alone) {
		self->unsaved = true;
	}
	pthread_mutex_unlock(&p->lock);
	return !alone;
}

static enum status
parallel_restore_jobs(struct op_inst *self, struct parallel *p, struct state_in in, struct err *e)
{
	p->seen = state_get_u64(&in, INT64_MAX);
	uint64_t n = state_get_u64(&in, PARALLEL_OLD_MOST);
	for (uint64_t k = 0; k < n && !in.bad; k++) {
		struct parallel_old old = { .index = state_get_u64(&in, INT64_MAX) };

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
parallel_restore(struct op_inst *self, struct parallel_use *u, const uint8_t **bytes, size_t *n,
		 enum status *st, struct err *e)
{
	struct parallel *p = u->threads;
	struct state_in in = state_begin(*bytes, *n);

	if (!p)
		return false;
	p->alone = state_get_u64(&in, 1);
	if (!in.bad && p->alone) {
		*bytes = in.p;
		*n = (size_t)(in.end - in.p);
		return false;
	}
	*st = parallel_restore_jobs(self, p, in, e);
	return true;
}
