/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "base/mem.h"
#include "op/hands_inner.h"
#include "op/state.h"

enum { HANDS_OLD_MOST = 64 * HANDS_MOST };

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

/* Nobody pulls until the next call, so what stands before it can be saved too.
 * Hands that evaluate go on: they do not change a job's input. */
void
hands_save(struct op_inst *self, struct hands_use *u, struct buf *out)
{
	struct hands *p = u->pool;
	struct hands_job **v = mem_array(p->window, sizeof(*v));

	pthread_mutex_lock(&p->lock);
	p->pause = true;
	while (p->pulling)
		pthread_cond_wait(&p->news, &p->lock);
	self->unsaved = p->status != ST_OK && p->status != ST_END && p->status != ST_AGAIN;
	uint32_t n = hands_left(p, v);
	state_put_u64(out, p->seen);
	state_put_u64(out, n + (p->n_old - p->at_old));
	for (uint32_t k = 0; k < n; k++) {
		state_put_u64(out, v[k]->index + v[k]->given_at);
		state_put_u64(out, v[k]->given_items);
		state_put_run(out, &v[k]->in, v[k]->given_at);
	}
	for (size_t k = p->at_old; k < p->n_old; k++) {
		state_put_u64(out, p->old[k].index);
		state_put_u64(out, p->old[k].items);
		state_put_run(out, &p->old[k].in, 0);
	}
	pthread_mutex_unlock(&p->lock);
	mem_free(v);
}

enum status
hands_restore(struct op_inst *self, struct hands_use *u, const uint8_t *bytes, size_t size,
	      struct err *e)
{
	struct hands *p = u->pool;
	struct state_in in = state_begin(bytes, size);

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
