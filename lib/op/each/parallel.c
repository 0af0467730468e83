/* SPDX-License-Identifier: MIT */
#include "op/each/parallel.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/thread.h"
#include "op/chain.h"
#include "op/kit/cost.h"
#include "op/each/parallel_inner.h"
#include "op/pull.h"

enum {
	PARALLEL_WINDOW_LEAST = 16,
	PARALLEL_TICK_NS = 20 * 1000 * 1000 /* how often the waiting stream checks for a stop */
};

/* Does one piece of work on a thread of the pool: pulls a run, or makes a job. */
static bool
parallel_work(void *arg)
{
	struct parallel *p = arg;
	struct parallel_job *j = NULL;

	pthread_mutex_lock(&p->lock);
	if (!p->alone && !op_stopped(&p->use->ctx)) {
		if (!p->waiting && !op_split_exact(p->self->ctx) && parallel_worth(p) && parallel_may_pull(p))
			parallel_pull(p);
		j = parallel_take(p);
	}
	if (j && (p->waiting || p->cur ||
		  (parallel_worth(p) && !op_split_exact(p->self->ctx) && parallel_may_pull(p))))
		pool_want(&p->user); /* there is work for another thread, too */
	if (j)
		parallel_do(p, j);
	pthread_mutex_unlock(&p->lock);
	return j != NULL;
}

/* A saved state may be restored on any machine, so `auto` uses the pool on a single processor,
 * too. Where elements must be attributable to their split nobody pulls ahead, but the blocks
 * of a run are shared out. Results must not depend on which thread makes them. */
void
parallel_open(struct op_inst *self, struct parallel_use *u, const struct op_expr *ex,
	      struct expr_run *alone, enum parallel_work work)
{

	self->pulls = u->parallel != 1;
	if (!self->pulls)
		return;
	op_makes_ahead(self->ctx);
	uint32_t most = u->parallel == PARAM_AUTO ? pool_size() : (uint32_t)u->parallel;
	struct parallel *p = u->threads = mem_zalloc(sizeof *p);
	p->self = self;
	p->use = u;
	p->work = work;
	p->expr = ex;
	p->plain = alone;
	p->user = (struct pool_user){ .work = parallel_work, .arg = p, .most = most };
	p->ordered = u->ordered || self->ctx->repeatable;
	most = most < PARALLEL_MOST ? most : PARALLEL_MOST;
	p->window = 4 * most > PARALLEL_WINDOW_LEAST ? 4 * most : PARALLEL_WINDOW_LEAST;
	p->jobs = mem_array(p->window, sizeof *p->jobs);
	pthread_mutex_init(&p->lock, NULL);
	thread_cond_init(&p->news);
	atomic_init(&u->stop, false);
	u->ctx = *self->ctx;
	u->ctx.stop = &u->stop;
	u->ctx.above = self->ctx;
	op_set_ctx(self->in[0], &u->ctx);
}

/* Releases the job whose results were given by the last call. */
static void
parallel_release(struct parallel *p)
{
	struct parallel_job *j = p->lent;

	if (!j)
		return;
	p->lent = NULL;
	if (!j->over) {
		j->phase = PARALLEL_WAITING;
		p->waiting++;
		return;
	}
	parallel_let_go(p, j->input);
	p->bytes -= j->bytes;
	j->phase = PARALLEL_FREE;
	p->active--;
	p->head++;
}

/* The finished job to give next; NULL: it is not finished. */
static struct parallel_job *
parallel_made(struct parallel *p)
{
	struct parallel_job *first = NULL;

	if (p->ordered) {
		first = &p->jobs[p->head % p->window];
		return first->phase == PARALLEL_MADE ? first : NULL;
	}
	for (uint32_t k = 0; k < p->window; k++) {
		struct parallel_job *j = &p->jobs[k];

		if (j->phase == PARALLEL_MADE && (!first || j->number < first->number))
			first = j;
	}
	return first;
}

/* Waits for news; false when the program wants to stop. */
static bool
parallel_wait(struct parallel *p)
{
	p->awaited = true;
	pool_wait_begin();
	thread_cond_wait(&p->news, &p->lock, clock_mono_ns() + PARALLEL_TICK_NS);
	pool_wait_end();
	p->awaited = false;
	return !op_stopped(p->self->ctx);
}

/* Hands over a job's results, and reports its failures. Called without the lock: nobody else
 * touches a job that is made. */
static enum status
parallel_give(struct parallel *p, struct parallel_job *j, struct run *out, struct err *e)
{
	enum status st = ST_OK;

	run_move(out, &j->out);
	out->file = j->in.file;
	out->line = j->in.line;
	out->parts = j->in.parts;
	out->n_parts = j->in.n_parts;
	j->given_at = j->at;
	j->given_items = j->items;
	for (size_t k = 0; st == ST_OK && k < j->n_faults; k++) {
		op_fault_fresh(p->self);
		do { /* a retry would give the same result */
			*e = j->faults[k].e;
			p->self->number = j->index + j->faults[k].at + 1;
			st = op_fault(p->self, &j->in, j->faults[k].at, &p->kept, e);
		} while (st == ST_AGAIN);
		p->kept.n = 0;
	}
	p->self->number = 0;
	return st;
}

/* Evaluates one run without threads, and measures what it costs. */
static enum status
parallel_alone(struct parallel *p, struct err *e)
{
	int64_t began = clock_mono_ns();
	enum status st = chain_feed(p->self, e);

	cost_learn(&p->run_ns, (double)(clock_mono_ns() - began));
	return st;
}

/* Decides between two runs whether the stream is to work alone. The lock is held. */
static bool
parallel_choose(struct parallel *p)
{
	const struct op_inst *in = p->self->in[0];

	if (p->alone) {
		if (in->taken < in->lent->n || !parallel_worth(p))
			return true;
		p->alone = false;
		p->seen = p->plain->seen;
		p->elem_ns = p->pull_ns = p->run_n = 0; /* measured anew from here on */
		p->known = 0;
	} else if (!parallel_worth(p) && !p->active && !p->cur && !p->pulling &&
		   p->at_old == p->n_old && p->status == ST_OK) {
		p->alone = true;
		p->plain->seen = p->seen;
		expr_vm_set_index(p->plain->vm, (int64_t)p->seen);
		p->run_ns = 0;
	}
	return p->alone;
}

/* The next finished job. While it is not there, waits for it, or does work itself when no
 * thread is at work. NULL: *st says why. */
static struct parallel_job *
parallel_await(struct parallel *p, enum status *st)
{
	struct parallel_job *j, *mine;

	while (!(j = parallel_made(p))) {
		bool idle = !p->making && !p->pulling;

		if (idle && (mine = parallel_take(p)) != NULL) {
			parallel_do(p, mine);
		} else if (idle && parallel_may_pull(p) && !p->active) {
			parallel_pull(p);
			if (p->cur && parallel_worth(p))
				pool_want(&p->user);
		} else if (!p->active && !p->cur && p->status != ST_OK) {
			*st = p->status;
			return NULL;
		} else if (!parallel_wait(p)) {
			*st = ST_AGAIN;
			return NULL;
		}
	}
	return j;
}

/* Prepares for the next call: after ST_AGAIN the stream may pull again. */
static void
parallel_resume(struct parallel *p)
{
	if (!p->time) {
		p->time = clock_wall_ns();
		expr_vm_set_time(p->plain->vm, p->time);
	}
	if (p->status == ST_AGAIN)
		p->status = ST_OK;
	parallel_release(p);
	p->pause = false;
}

enum status
parallel_next(struct op_inst *self, struct parallel_use *u, struct run *out, struct err *e)
{
	struct parallel *p = u->threads;
	enum status st = ST_OK;
	struct parallel_job *j = NULL;

	(void)self;
	pthread_mutex_lock(&p->lock);
	parallel_resume(p);
	if (!parallel_choose(p)) {
		if (parallel_worth(p) && parallel_slot(p))
			pool_want(&p->user);
		j = parallel_await(p, &st);
	}
	p->lent = j;
	if (st != ST_OK && st != ST_AGAIN && st != ST_END)
		*e = p->err;
	bool alone = p->alone && !j && st == ST_OK;
	pthread_mutex_unlock(&p->lock);
	if (alone)
		return parallel_alone(p, e);
	return j ? parallel_give(p, j, out, e) : st;
}

static void
parallel_free_input(struct parallel_input *in)
{
	run_clear(&in->run);
	mem_free(in->parts);
	mem_free(in);
}

static void
parallel_free(struct parallel *p)
{
	struct parallel_input *in;

	if (p->cur)
		parallel_let_go(p, p->cur);
	for (uint32_t k = 0; k < p->window; k++) {
		struct parallel_job *j = &p->jobs[k];

		if (j->phase != PARALLEL_FREE)
			parallel_let_go(p, j->input);
		run_clear(&j->out);
		run_clear(&j->lists);
		mem_free(j->faults);
	}
	while ((in = p->spare) != NULL) {
		p->spare = in->next;
		parallel_free_input(in);
	}
	for (size_t k = 0; k < p->n_vms; k++)
		expr_vm_free(&p->vms[k]);
	for (size_t k = 0; k < p->n_old; k++)
		run_clear(&p->old[k].in);
	run_clear(&p->kept);
	mem_free(p->vms);
	mem_free(p->old);
	mem_free(p->jobs);
}

void
parallel_close(struct parallel_use *u)
{
	struct parallel *p = u->threads;

	if (!p)
		return;
	atomic_store_explicit(&u->stop, true, memory_order_relaxed);
	pool_leave(&p->user);
	/* the inputs may be rewound next */
	atomic_store_explicit(&u->stop, false, memory_order_relaxed);
	pthread_mutex_lock(&p->lock);
	parallel_free(p);
	pthread_mutex_unlock(&p->lock);
	pthread_cond_destroy(&p->news);
	pthread_mutex_destroy(&p->lock);
	mem_free(p);
	u->threads = NULL;
}
