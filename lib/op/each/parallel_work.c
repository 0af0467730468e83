/* SPDX-License-Identifier: MIT
 * Pulling input, cutting it into jobs and doing them: by threads of the pool, or
 * by the stream's own. The lock is held, but for the work itself.
 */
#include "base/clock.h"
#include "base/mem.h"
#include "base/trace.h"
#include "op/kit/cost.h"
#include "op/each/parallel_inner.h"
#include "op/pull.h"
#include "value/run_share.h"

enum {
	PARALLEL_BLOCK_NS = 200 * 1000,  /* time that making a job should take */
	/* number of elements after which their measured cost is relied on */
	PARALLEL_KNOWN = 32,
	PARALLEL_BYTES_AHEAD = 4 << 20
};

/* Whether handing work to the pool pays. The bound is lower while threads are in use, since
 * switching with every run would cost more than either way. */
bool
parallel_worth(const struct parallel *p)
{
	double least = (double)(p->alone ? pool_worth_ns : pool_worth_ns / 2);

	if (p->alone)
		return p->run_ns > least;
	return p->known < PARALLEL_KNOWN || p->pull_ns + p->elem_ns * p->run_n > least;
}

/* A slot for the next job; NULL: the window is full. Once full, it counts as full until half
 * of it is free, because threads that wake each other for every job do little else. */
struct parallel_job *
parallel_slot(struct parallel *p)
{
	uint32_t part = p->full ? 2 : 1;

	p->full = p->active >= (p->window + part - 1) / part
		  || (p->active > 1 && p->bytes >= PARALLEL_BYTES_AHEAD / part);
	if (p->full)
		return NULL;
	if (p->ordered)
		return &p->jobs[p->next % p->window];
	for (uint32_t k = 0; k < p->window; k++)
		if (p->jobs[k].phase == PARALLEL_FREE)
			return &p->jobs[k];
	return NULL;
}

void
parallel_let_go(struct parallel *p, struct parallel_input *in)
{
	if (--in->uses)
		return;
	pthread_mutex_unlock(&p->lock);
	run_reset(&in->run);
	pthread_mutex_lock(&p->lock);
	in->next = p->spare;
	p->spare = in;
}

/* Number of elements for the next job: as many of cur's as take PARALLEL_BLOCK_NS; one while
 * their cost is unknown, and few until it can be relied on. */
static uint32_t
parallel_block(const struct parallel *p)
{
	uint32_t left = p->cur->run.n - p->cut;
	double n = p->elem_ns > 0 ? PARALLEL_BLOCK_NS / p->elem_ns : 1;

	if (p->known < PARALLEL_KNOWN && n > (double)(p->known + 1))
		n = (double)(p->known + 1);
	return n >= left ? left : n < 1 ? 1 : (uint32_t)n;
}

static void
parallel_cut(struct parallel *p, struct parallel_job *j)
{
	struct parallel_input *in = p->cur;
	const struct run *r = &in->run;

	j->phase = PARALLEL_WORKING;
	j->number = p->next++;
	j->input = in;
	j->in = (struct run){ .e = r->e + p->cut, .n = parallel_block(p), .file = r->file,
		.line = r->line, .parts = r->parts, .n_parts = r->n_parts };
	j->index = in->index + p->cut;
	j->bytes = run_bytes(&j->in);
	j->items = j->given_items = p->cut ? 0 : in->items;
	j->at = j->given_at = 0;
	j->failed = j->over = false;
	j->item = NULL;
	in->uses++;
	p->active++;
	p->making++;
	p->bytes += j->bytes;
	p->cut += j->in.n;
	if (p->cut == r->n) {
		p->cur = NULL;
		parallel_let_go(p, in);
	}
}

/* Takes the next job to be made; NULL: there is nothing to do, or no room for its results. */
struct parallel_job *
parallel_take(struct parallel *p)
{
	struct parallel_job *j = NULL;

	for (uint32_t k = 0; p->waiting && k < p->window; k++) {
		struct parallel_job *w = &p->jobs[k];

		if (w->phase == PARALLEL_WAITING && (!j || w->number < j->number))
			j = w;
	}
	if (j) {
		p->waiting--;
		p->making++;
		j->phase = PARALLEL_WORKING;
	} else if (p->cur && (j = parallel_slot(p)) != NULL) {
		parallel_cut(p, j);
	}
	return j;
}

bool
parallel_may_pull(struct parallel *p)
{
	return !p->cur && !p->pulling && !p->pause && p->status == ST_OK && parallel_slot(p);
}

static struct parallel_input *
parallel_spare(struct parallel *p)
{
	struct parallel_input *in = p->spare;

	if (!in)
		return mem_zalloc(sizeof *in);
	p->spare = in->next;
	return in;
}

/* Fetches the next run of input; input that a restored state held comes first. */
static enum status
parallel_fetch(struct parallel *p, struct parallel_input *in)
{
	struct run *r;
	enum status st;

	in->items = 0;
	if (p->at_old < p->n_old) {
		struct parallel_old *old = &p->old[p->at_old++];

		run_move(&in->run, &old->in);
		in->index = old->index;
		in->items = old->items;
		return ST_OK;
	}
	st = op_pull(p->self->in[0], &r, &p->err);
	if (st != ST_OK)
		return st;
	run_share(&in->run, &in->parts, r);
	in->index = p->seen;
	p->seen += r->n;
	return ST_OK;
}

/* Pulls the next run into cur; the lock is released meanwhile. */
void
parallel_pull(struct parallel *p)
{
	struct parallel_input *in = parallel_spare(p);
	int64_t began = clock_mono_ns();
	enum status st;

	p->pulling = true;
	pthread_mutex_unlock(&p->lock);
	st = parallel_fetch(p, in);
	pthread_mutex_lock(&p->lock);
	p->pulling = false;
	p->status = st;
	if (st == ST_OK) {
		cost_learn(&p->pull_ns, (double)(clock_mono_ns() - began));
		cost_learn(&p->run_n, (double)in->run.n);
		in->uses = 1;
		p->cur = in;
		p->cut = 0;
	} else {
		in->next = p->spare;
		p->spare = in;
	}
	if (p->pause || (p->awaited && st != ST_OK))
		pthread_cond_signal(&p->news);
}

static struct expr_vm *
parallel_vm(struct parallel *p)
{
	if (p->n_vms)
		return p->vms[--p->n_vms];
	struct expr_vm *vm = op_vm_new(p->self, p->expr);
	expr_vm_set_time(vm, p->time); /* now() is the same for all threads */
	return vm;
}

/* Makes the job; the lock is released meanwhile. */
void
parallel_do(struct parallel *p, struct parallel_job *j)
{
	struct expr_vm *vm = parallel_vm(p);
	uint32_t at = j->at;

	pthread_mutex_unlock(&p->lock);
	int64_t began = clock_mono_ns();
	bool traced = trace_on();
	if (traced)
		trace_enter(p, began);
	parallel_make(p, vm, j);
	int64_t end = clock_mono_ns(), ns = end - began;
	if (traced)
		trace_leave(p, TRACE_INSIDE, op_text(p->self->node), j->out.n, run_bytes_near(&j->out), end);
	pthread_mutex_lock(&p->lock);
	p->vms = mem_grow(p->vms, &p->cap_vms, p->n_vms + 1, sizeof(*p->vms));
	p->vms[p->n_vms++] = vm;
	if (j->at > at) {
		cost_learn(&p->elem_ns, (double)ns / (j->at - at));
		p->known += j->at - at;
	}
	j->phase = PARALLEL_MADE;
	p->making--;
	if (p->awaited && (!p->ordered || j->number == p->head))
		pthread_cond_signal(&p->news);
}
