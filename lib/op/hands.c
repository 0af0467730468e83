/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <sched.h>
#include <signal.h>

#include "base/clock.h"
#include "base/mem.h"
#include "op/hands_inner.h"
#include "op/share.h"

enum {
	HANDS_WINDOW_LEAST = 8,
	HANDS_TICK_NS = 20 * 1000 * 1000 /* how often the waiting stream looks at stop */
};

static uint32_t
hands_count(int64_t parallel)
{
	cpu_set_t cpus;
	int n;

	if (parallel != PARAM_AUTO)
		return (uint32_t)parallel;
	n = sched_getaffinity(0, sizeof cpus, &cpus) ? 1 : CPU_COUNT(&cpus);
	return n < HANDS_MOST ? (uint32_t)n : HANDS_MOST;
}

/* auto has hands on one processor too: a state goes to any machine. Where splits
 * must be told apart there are none: they would pull ahead, as prefetch. */
bool
hands_open(struct op_inst *self, struct hands_use *u, const struct op_expr *ex,
	   enum hands_work work)
{
	struct hands *p;
	pthread_condattr_t attr;

	self->pulls = u->parallel != 1 && !(self->ctx->next_split && self->ctx->split_exact);
	if (!self->pulls)
		return false;
	p = u->pool = mem_zalloc(sizeof *p);
	p->work = work;
	p->expr = ex;
	p->n = hands_count(u->parallel);
	p->ones = mem_array(p->n, sizeof *p->ones);
	p->window = 2 * p->n > HANDS_WINDOW_LEAST ? 2 * p->n : HANDS_WINDOW_LEAST;
	p->jobs = mem_array(p->window, sizeof *p->jobs);
	pthread_mutex_init(&p->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&p->wake, &attr);
	pthread_cond_init(&p->news, &attr);
	pthread_condattr_destroy(&attr);
	atomic_init(&u->stop, false);
	u->ctx = *self->ctx;
	u->ctx.stop = &u->stop;
	op_set_ctx(self->in[0], &u->ctx);
	return true;
}

/* A slot for the next run; NULL: the window is full. Once full, it is full
 * until half of it is free: threads that wake each other for every run do
 * little else. */
static struct hands_job *
hands_slot(struct hands *p, bool ordered)
{
	uint32_t part = p->full ? 2 : 1;

	p->full = p->active >= (p->window + part - 1) / part;
	if (p->full)
		return NULL;
	if (ordered)
		return &p->jobs[p->next % p->window];
	for (uint32_t k = 0; k < p->window; k++)
		if (p->jobs[k].phase == HANDS_FREE)
			return &p->jobs[k];
	return NULL;
}

/* The next run of the input, what a restored state has first; without the lock,
 * by the one hand that pulls. */
static enum status
hands_pull(struct op_inst *self, struct hands *p, struct hands_job *j)
{
	struct run *r;
	enum status st;

	j->items = 0;
	if (p->at_old < p->n_old) {
		struct hands_old *old = &p->old[p->at_old++];

		run_move(&j->in, &old->in);
		j->index = old->index;
		j->items = old->items;
	} else {
		st = op_pull(self->in[0], &r, &p->err);
		if (st != ST_OK)
			return st;
		share_run(&j->in, &j->parts, r);
		j->index = p->seen;
		p->seen += r->n;
	}
	j->at = j->given_at = 0;
	j->given_items = j->items;
	j->failed = j->over = false;
	j->item = NULL;
	return ST_OK;
}

/* Makes it, without the lock. */
static void
hands_do(const struct hands_one *h, struct hands_job *j)
{
	struct hands *p = h->use->pool;

	pthread_mutex_unlock(&p->lock);
	hands_make(h, j);
	pthread_mutex_lock(&p->lock);
	j->phase = HANDS_MADE;
	pthread_cond_signal(&p->news);
}

static void
hands_do_next(const struct hands_one *h, struct hands_job *j)
{
	struct hands *p = h->use->pool;
	enum status st;

	p->pulling = true;
	j->phase = HANDS_WORKING;
	j->number = p->next++;
	p->active++;
	pthread_mutex_unlock(&p->lock);
	st = hands_pull(h->self, p, j);
	pthread_mutex_lock(&p->lock);
	p->pulling = false;
	if (st == ST_OK) {
		if (p->pause)
			pthread_cond_signal(&p->news);
		else if (p->started > 1 && p->active < p->window)
			pthread_cond_signal(&p->wake); /* another may pull now */
		hands_do(h, j);
		return;
	}
	j->phase = HANDS_FREE;
	p->next--;
	p->active--;
	p->status = st;
	pthread_cond_signal(&p->news);
}

/* One of which more is to be made; the earliest. */
static struct hands_job *
hands_waiting(struct hands *p)
{
	struct hands_job *first = NULL;

	for (uint32_t k = 0; p->waiting && k < p->window; k++) {
		struct hands_job *j = &p->jobs[k];

		if (j->phase == HANDS_WAITING && (!first || j->number < first->number))
			first = j;
	}
	return first;
}

static void *
hands_thread(void *arg)
{
	const struct hands_one *h = arg;
	struct hands *p = h->use->pool;
	struct hands_job *j;

	pthread_mutex_lock(&p->lock);
	while (!atomic_load_explicit(&h->use->stop, memory_order_relaxed)) {
		if ((j = hands_waiting(p)) != NULL) {
			p->waiting--;
			j->phase = HANDS_WORKING;
			hands_do(h, j);
		} else if (!p->pulling && !p->pause && p->status == ST_OK
			   && (j = hands_slot(p, h->use->ordered)) != NULL) {
			hands_do_next(h, j);
		} else {
			pthread_cond_wait(&p->wake, &p->lock);
		}
	}
	pthread_mutex_unlock(&p->lock);
	return NULL;
}

/* With the lock held, so that the first hand sees how many there are. */
static enum status
hands_begin(struct op_inst *self, struct hands_use *u, struct err *e)
{
	struct hands *p = u->pool;
	int64_t now = clock_wall_ns();
	sigset_t all, before;
	int rc = 0;

	/* Signals are for the program's own threads. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	while (p->started < p->n && !rc) {
		struct hands_one *h = &p->ones[p->started];

		if (!h->vm)
			h->vm = op_vm_new(self, p->expr);
		expr_vm_set_time(h->vm, now); /* one time for all */
		h->self = self;
		h->use = u;
		rc = pthread_create(&h->thread, NULL, hands_thread, h);
		p->started += !rc;
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	p->begun = p->started > 0; /* fewer than asked for do as well */
	if (p->begun)
		return ST_OK;
	errno = rc;
	err_errno(e, "cannot start a thread for %s", self->desc->name);
	return e->kind = ST_TEMP;
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
		pthread_cond_signal(&p->wake);
		return;
	}
	pthread_mutex_unlock(&p->lock);
	run_reset(&j->in);
	pthread_mutex_lock(&p->lock);
	j->phase = HANDS_FREE;
	p->active--;
	p->head++;
	if (!p->pulling && (!p->full || p->active < (p->window + 1) / 2))
		pthread_cond_signal(&p->wake);
}

/* The job to give next, when it is made. */
static struct hands_job *
hands_made(struct hands *p, bool ordered)
{
	struct hands_job *first = NULL;

	if (ordered) {
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
hands_wait(struct op_inst *self, struct hands *p)
{
	const atomic_bool *stop = self->ctx->stop;
	int64_t now = clock_mono_ns() + HANDS_TICK_NS;
	struct timespec until = { .tv_sec = now / 1000000000, .tv_nsec = now % 1000000000 };

	pthread_cond_timedwait(&p->news, &p->lock, &until);
	return !stop || !atomic_load_explicit(stop, memory_order_relaxed);
}

/* Hands the results over, and tells what failed. Without the lock: nobody
 * touches a job that is made. */
static enum status
hands_give(struct op_inst *self, struct hands *p, struct hands_job *j, struct run *out,
	   struct err *e)
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
		self->retry_p = NULL;
		do { /* trying again gives the same */
			*e = j->faults[k].e;
			st = op_fault(self, &j->in, j->faults[k].at, &p->kept, e);
		} while (st == ST_AGAIN);
		p->kept.n = 0;
	}
	return st;
}

/* Nothing is left and the input has come to something. */
static enum status
hands_over(struct hands *p, struct err *e)
{
	enum status st = p->status;

	if (st == ST_AGAIN) {
		p->status = ST_OK; /* it may go on */
		pthread_cond_signal(&p->wake);
	} else if (st != ST_END) {
		*e = p->err;
	}
	return st;
}

enum status
hands_next(struct op_inst *self, struct hands_use *u, struct run *out, struct err *e)
{
	struct hands *p = u->pool;
	struct hands_job *j = NULL;
	enum status st = ST_OK;

	pthread_mutex_lock(&p->lock);
	if (!p->begun)
		st = hands_begin(self, u, e);
	hands_release(p);
	if (p->pause) {
		p->pause = false;
		pthread_cond_broadcast(&p->wake);
	}
	while (st == ST_OK && !(j = hands_made(p, u->ordered))) {
		if (!p->active && p->status != ST_OK)
			st = hands_over(p, e);
		else if (!hands_wait(self, p))
			st = ST_AGAIN;
	}
	p->lent = j;
	pthread_mutex_unlock(&p->lock);
	return j ? hands_give(self, p, j, out, e) : st;
}

void
hands_close(struct hands_use *u)
{
	struct hands *p = u->pool;

	if (!p)
		return;
	pthread_mutex_lock(&p->lock);
	atomic_store_explicit(&u->stop, true, memory_order_relaxed);
	pthread_cond_broadcast(&p->wake);
	pthread_mutex_unlock(&p->lock);
	for (uint32_t k = 0; k < p->started; k++)
		pthread_join(p->ones[k].thread, NULL);
	atomic_store_explicit(&u->stop, false, memory_order_relaxed); /* for a rewind of the inputs */
	for (uint32_t k = 0; k < p->n; k++)
		expr_vm_free(&p->ones[k].vm);
	for (uint32_t k = 0; k < p->window; k++) {
		struct hands_job *j = &p->jobs[k];

		run_clear(&j->in);
		run_clear(&j->out);
		run_clear(&j->lists);
		mem_free(j->parts);
		mem_free(j->faults);
	}
	for (size_t k = 0; k < p->n_old; k++)
		run_clear(&p->old[k].in);
	run_clear(&p->kept);
	mem_free(p->old);
	mem_free(p->jobs);
	mem_free(p->ones);
	pthread_cond_destroy(&p->news);
	pthread_cond_destroy(&p->wake);
	pthread_mutex_destroy(&p->lock);
	mem_free(p);
	u->pool = NULL;
}
