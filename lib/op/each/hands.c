/* SPDX-License-Identifier: MIT */
#include "op/each/hands.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/thread.h"
#include "op/chain.h"
#include "op/kit/cost.h"
#include "op/each/hands_inner.h"
#include "op/pull.h"

enum {
	HANDS_WINDOW_LEAST = 16,
	HANDS_TICK_NS = 20 * 1000 * 1000 /* how often the waiting stream looks at stop */
};

/* One piece of work for a thread of the pool: a run to be pulled, or a job. */
static bool
hands_work(void *arg)
{
	struct hands *p = arg;
	struct hands_job *j = NULL;

	pthread_mutex_lock(&p->lock);
	if (!p->alone && !op_stopped(&p->use->ctx)) {
		if (!p->waiting && !p->exact && hands_worth(p) && hands_may_pull(p))
			hands_pull(p);
		j = hands_take(p);
	}
	if (j && (p->waiting || p->cur || (hands_worth(p) && !p->exact && hands_may_pull(p))))
		pool_want(&p->user); /* there is something for another one, too */
	if (j)
		hands_do(p, j);
	pthread_mutex_unlock(&p->lock);
	return j != NULL;
}

/* A state goes to any machine: so auto has hands on one processor too. Where splits
 * are told apart nobody pulls ahead, but the blocks of a run are shared out.
 * What a worker makes must come the same when another makes it again. */
void
hands_open(struct op_inst *self, struct hands_use *u, const struct op_expr *ex,
	   struct by_expr *alone, enum hands_work work)
{

	self->pulls = u->parallel != 1;
	if (!self->pulls)
		return;
	uint32_t most = u->parallel == PARAM_AUTO ? pool_size() : (uint32_t)u->parallel;
	struct hands *p = u->hands = mem_zalloc(sizeof *p);
	p->self = self;
	p->use = u;
	p->work = work;
	p->expr = ex;
	p->plain = alone;
	p->user = (struct pool_user){ .work = hands_work, .arg = p, .most = most };
	p->exact = self->ctx->next_split && self->ctx->split_exact;
	p->ordered = u->ordered || self->ctx->repeatable;
	most = most < HANDS_MOST ? most : HANDS_MOST;
	p->window = 4 * most > HANDS_WINDOW_LEAST ? 4 * most : HANDS_WINDOW_LEAST;
	p->jobs = mem_array(p->window, sizeof *p->jobs);
	pthread_mutex_init(&p->lock, NULL);
	thread_cond_init(&p->news);
	atomic_init(&u->stop, false);
	u->ctx = *self->ctx;
	u->ctx.stop = &u->stop;
	u->ctx.above = self->ctx;
	op_set_ctx(self->in[0], &u->ctx);
}

/* What was given is done with. */
static void
hands_release(struct hands *p)
{
	struct hands_job *j = p->lent;

	if (!j)
		return;
	p->lent = NULL;
	if (!j->over) {
		j->phase = HANDS_WAITING;
		p->waiting++;
		return;
	}
	hands_let_go(p, j->input);
	p->bytes -= j->bytes;
	j->phase = HANDS_FREE;
	p->active--;
	p->head++;
}

/* The job to give next, when it is made. */
static struct hands_job *
hands_made(struct hands *p)
{
	struct hands_job *first = NULL;

	if (p->ordered) {
		first = &p->jobs[p->head % p->window];
		return first->phase == HANDS_MADE ? first : NULL;
	}
	for (uint32_t k = 0; k < p->window; k++) {
		struct hands_job *j = &p->jobs[k];

		if (j->phase == HANDS_MADE && (!first || j->number < first->number))
			first = j;
	}
	return first;
}

/* Waits for news; false when the program wants to stop. */
static bool
hands_wait(struct hands *p)
{
	p->awaited = true;
	pool_wait_begin();
	thread_cond_wait(&p->news, &p->lock, clock_mono_ns() + HANDS_TICK_NS);
	pool_wait_end();
	p->awaited = false;
	return !op_stopped(p->self->ctx);
}

/* Hands the results over, and tells what failed. Without the lock: nobody
 * touches a job that is made. */
static enum status
hands_give(struct hands *p, struct hands_job *j, struct run *out, struct err *e)
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
		do { /* trying again gives the same */
			*e = j->faults[k].e;
			st = op_fault(p->self, &j->in, j->faults[k].at, &p->kept, e);
		} while (st == ST_AGAIN);
		p->kept.n = 0;
	}
	return st;
}

/* As without hands, and measured. */
static enum status
hands_alone(struct hands *p, struct err *e)
{
	int64_t began = clock_mono_ns();
	enum status st = chain_feed(p->self, e);

	cost_learn(&p->run_ns, (double)(clock_mono_ns() - began));
	return st;
}

/* From run to run: is the stream to go on alone? The lock is held. */
static bool
hands_choose(struct hands *p)
{
	const struct op_inst *in = p->self->in[0];

	if (p->alone) {
		if (in->taken < in->lent->n || !hands_worth(p))
			return true;
		p->alone = false;
		p->seen = p->plain->seen;
		p->elem_ns = p->pull_ns = p->run_n = 0; /* to be found out anew */
		p->known = 0;
	} else if (!hands_worth(p) && !p->active && !p->cur && !p->pulling && p->at_old == p->n_old
		   && p->status == ST_OK) {
		p->alone = true;
		p->plain->seen = p->seen;
		expr_vm_set_index(p->plain->vm, (int64_t)p->seen);
		p->run_ns = 0;
	}
	return p->alone;
}

/* The next job that is made: waits for it, or lends a hand where no thread is at
 * work. NULL: *st. */
static struct hands_job *
hands_await(struct hands *p, enum status *st)
{
	struct hands_job *j, *mine;

	while (!(j = hands_made(p))) {
		bool idle = !p->making && !p->pulling;

		if (idle && (mine = hands_take(p)) != NULL) {
			hands_do(p, mine);
		} else if (idle && hands_may_pull(p) && !p->active) {
			hands_pull(p);
			if (p->cur && hands_worth(p))
				pool_want(&p->user);
		} else if (!p->active && !p->cur && p->status != ST_OK) {
			*st = p->status;
			return NULL;
		} else if (!hands_wait(p)) {
			*st = ST_AGAIN;
			return NULL;
		}
	}
	return j;
}

/* A stream that has been told ST_AGAIN begins to pull again when it is asked. */
static void
hands_resume(struct hands *p)
{
	if (!p->time) {
		p->time = clock_wall_ns();
		expr_vm_set_time(p->plain->vm, p->time);
	}
	if (p->status == ST_AGAIN)
		p->status = ST_OK;
	hands_release(p);
	p->pause = false;
}

enum status
hands_next(struct op_inst *self, struct hands_use *u, struct run *out, struct err *e)
{
	struct hands *p = u->hands;
	enum status st = ST_OK;
	struct hands_job *j = NULL;

	(void)self;
	pthread_mutex_lock(&p->lock);
	hands_resume(p);
	if (!hands_choose(p)) {
		if (hands_worth(p) && hands_slot(p))
			pool_want(&p->user);
		j = hands_await(p, &st);
	}
	p->lent = j;
	if (st != ST_OK && st != ST_AGAIN && st != ST_END)
		*e = p->err;
	bool alone = p->alone && !j && st == ST_OK;
	pthread_mutex_unlock(&p->lock);
	if (alone)
		return hands_alone(p, e);
	return j ? hands_give(p, j, out, e) : st;
}

static void
hands_free_input(struct hands_input *in)
{
	run_clear(&in->run);
	mem_free(in->parts);
	mem_free(in);
}

static void
hands_free(struct hands *p)
{
	struct hands_input *in;

	if (p->cur)
		hands_let_go(p, p->cur);
	for (uint32_t k = 0; k < p->window; k++) {
		struct hands_job *j = &p->jobs[k];

		if (j->phase != HANDS_FREE)
			hands_let_go(p, j->input);
		run_clear(&j->out);
		run_clear(&j->lists);
		mem_free(j->faults);
	}
	while ((in = p->spare) != NULL) {
		p->spare = in->next;
		hands_free_input(in);
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
hands_close(struct hands_use *u)
{
	struct hands *p = u->hands;

	if (!p)
		return;
	atomic_store_explicit(&u->stop, true, memory_order_relaxed);
	pool_leave(&p->user);
	atomic_store_explicit(&u->stop, false, memory_order_relaxed); /* for a rewind of the inputs */
	pthread_mutex_lock(&p->lock);
	hands_free(p);
	pthread_mutex_unlock(&p->lock);
	pthread_cond_destroy(&p->news);
	pthread_mutex_destroy(&p->lock);
	mem_free(p);
	u->hands = NULL;
}
