/* SPDX-License-Identifier: MIT
 * What the stream asks of its inner chains.
 */
#include "base/clock.h"
#include "base/mem.h"
#include "base/thread.h"
#include "op/kit/cost.h"
#include "op/many/inner_chains_inner.h"
#include "op/pull.h"

enum {
	INNER_CHAINS_NEXT = 16,            /* number of inner chains opened ahead */
	/* opened ahead when that is cheap, so that a thread has enough to do */
	INNER_CHAINS_NEXT_CHEAP = 128,
	INNER_CHAINS_TICK_NS = 20 * 1000 * 1000 /* how often the waiting stream checks for a stop */
};

void
inner_chains_open(struct inner_chains *s, struct op_inst *self, const struct op_node *pipe,
		  struct inner_chain **slots, uint32_t n_slots, int64_t parallel, bool ordered)
{
	uint32_t most = parallel == PARAM_AUTO ? pool_size() : (uint32_t)parallel;

	*s = (struct inner_chains){ .self = self, .pipe = pipe, .slots = slots, .n_slots = n_slots,
			       .ctx = *self->ctx, .shared = parallel != 1,
			       .ordered = ordered };
	atomic_init(&s->stop, false);
	s->ctx.stop = &s->stop;
	s->ctx.above = self->ctx;
	if (!s->shared)
		return;
	op_makes_ahead(self->ctx);
	s->exact = self->ctx->next_split && self->ctx->split_exact;
	s->user = (struct pool_user){
		.work = inner_chains_work, .waits = inner_chains_waits, .arg = s, .most = most
	};
	s->most_next = most < INNER_CHAINS_NEXT ? most : INNER_CHAINS_NEXT;
	s->cap_next = ordered ? s->most_next : INNER_CHAINS_NEXT_CHEAP;
	s->next = mem_array(s->cap_next, sizeof(*s->next));
	pthread_mutex_init(&s->lock, NULL);
	thread_cond_init(&s->news);
	op_set_ctx(self->in[0], &s->ctx);
}

void
inner_chains_close(struct inner_chains *s)
{
	if (!s->self)
		return;
	atomic_store_explicit(&s->stop, true, memory_order_relaxed);
	if (s->shared)
		pool_leave(&s->user);
	for (uint32_t k = 0; k < s->n_slots; k++) {
		inner_chain_free(s->slots[k]);
		s->slots[k] = NULL;
	}
	for (uint32_t k = 0; k < s->n_next; k++)
		inner_chain_free(s->next[(s->first_next + k) % s->cap_next]);
	inner_chain_free(s->spare);
	if (s->shared) {
		pthread_cond_destroy(&s->news);
		pthread_mutex_destroy(&s->lock);
	}
	mem_free(s->next);
	s->next = NULL;
	s->spare = NULL;
	s->self = NULL;
	/* the inputs may be rewound next */
	atomic_store_explicit(&s->stop, false, memory_order_relaxed);
}

/* Prepares for the next call: after ST_AGAIN the stream may pull again. */
void
inner_chains_resume(struct inner_chains *s)
{
	if (!s->shared)
		return;
	pthread_mutex_lock(&s->lock);
	s->pause = false;
	if (s->input == ST_AGAIN)
		s->input = ST_OK;
	if (inner_chains_worth(s) && 2 * s->n_next < inner_chains_next_most(s))
		pool_want(&s->user);
	pthread_mutex_unlock(&s->lock);
}

/* Waits for news. ST_AGAIN: the program wants to stop; *late: nothing came within the tick. */
static enum status
inner_chains_wait(struct inner_chains *s, bool *late)
{
	s->awaited = true;
	pool_wait_begin();
	*late = !thread_cond_wait(&s->news, &s->lock, clock_mono_ns() + INNER_CHAINS_TICK_NS);
	pool_wait_end();
	s->awaited = false;
	return op_stopped(s->self->ctx) ? ST_AGAIN : ST_OK;
}

static struct inner_chain *
inner_chains_next(struct inner_chains *s)
{
	struct inner_chain *x = s->next[s->first_next];

	s->first_next = (s->first_next + 1) % s->cap_next;
	s->n_next--;
	return x;
}

static enum status
inner_chains_outer_shared(struct inner_chains *s, bool wait, struct inner_chain **out,
			  struct err *e)
{
	enum status st = ST_OK;
	bool late;

	pthread_mutex_lock(&s->lock);
	while (st == ST_OK && !s->n_next) {
		if (s->input != ST_OK)
			st = s->input;
		else if (!wait && (s->pulling || !op_ready(s->self->in[0])))
			st = ST_AGAIN;
		else if (s->pulling)
			st = inner_chains_wait(s, &late);
		else
			inner_chains_pull(s);
	}
	if (st == ST_OK)
		*out = inner_chains_next(s);
	else if (st != ST_END && st != ST_AGAIN)
		*e = s->err;
	pthread_mutex_unlock(&s->lock);
	return st;
}

enum status
inner_chains_outer(struct inner_chains *s, bool wait, struct inner_chain **out, struct err *e)
{
	struct elem outer;
	enum status st;

	if (s->shared)
		return inner_chains_outer_shared(s, wait, out, e);
	if (s->input != ST_OK)
		return s->input;
	if (!wait && !op_ready(s->self->in[0]))
		return ST_AGAIN;
	st = op_next(s->self->in[0], &outer, e);
	if (st == ST_END)
		s->input = st;
	if (st != ST_OK)
		return st;
	*out = s->spare ? s->spare : mem_zalloc(sizeof **out);
	s->spare = NULL;
	kept_set(&(*out)->outer, outer);
	return ST_OK;
}

static void
inner_chains_lock(struct inner_chains *s)
{
	if (s->shared)
		pthread_mutex_lock(&s->lock);
}

static void
inner_chains_unlock(struct inner_chains *s)
{
	if (s->shared)
		pthread_mutex_unlock(&s->lock);
}

void
inner_chains_put(struct inner_chains *s, uint32_t slot, struct inner_chain *x)
{
	inner_chains_lock(s);
	s->slots[slot] = x;
	inner_chains_unlock(s);
}

/* Closes a chain; its memory stays, for the next one. */
static void
inner_chain_shut(struct inner_chain *x)
{
	struct inner_chain kept = { .outer = x->outer, .own = x->own };

	op_close(&x->chain);
	mem_free(x->err);
	run_reset(&kept.own.run);
	for (uint32_t k = 0; k < INNER_CHAIN_AHEAD; k++) {
		run_reset(&x->ahead[k].run);
		kept.ahead[k] = x->ahead[k];
	}
	*x = kept;
}

/* Called by the stream after it was told the chain's end or error: no thread has it then. */
void
inner_chains_drop(struct inner_chains *s, uint32_t slot)
{
	struct inner_chain *x = s->slots[slot];

	inner_chains_put(s, slot, NULL);
	inner_chain_shut(x);
	inner_chains_lock(s);
	inner_chains_keep(s, x);
	inner_chains_unlock(s);
}

void
inner_chains_retry(struct inner_chains *s, struct inner_chain *x)
{
	inner_chains_lock(s);
	mem_free(x->err);
	x->err = NULL;
	x->status = ST_OK;
	x->busy = false;
	inner_chains_unlock(s);
}

/* Pulls the chain in the stream's own thread. After an error the chain stays with the stream
 * until it is dropped. */
static enum status
inner_chains_direct(struct inner_chains *s, struct inner_chain *x, struct err *e)
{
	int64_t began = s->shared ? clock_mono_ns() : 0;
	enum status st = inner_chain_open(s, x, e);

	x->direct = st == ST_OK;
	if (st == ST_OK)
		st = op_prime(x->chain, e);
	if (began) {
		double ns = (double)(clock_mono_ns() - began);

		pthread_mutex_lock(&s->lock);
		cost_learn(&s->step_ns, ns);
		x->stays = !inner_chains_worth(s);
		pthread_mutex_unlock(&s->lock);
	}
	return st;
}

/* Makes the first run that was read ahead the stream's own. */
static void
inner_chain_swap(struct inner_chain *x)
{
	struct inner_chain_run *from = &x->ahead[x->first], done = x->own;

	x->own = *from;
	*from = done;
	x->taken = 0;
	x->first = (x->first + 1) % INNER_CHAIN_AHEAD;
	x->n--;
	x->bytes -= x->own.bytes;
}

/* Takes a run that was read ahead; ST_NO: there was none, and the stream has the chain now. */
static enum status
inner_chains_take(struct inner_chains *s, struct inner_chain *x, struct err *e)
{
	enum status st = ST_OK;
	bool late;

	while (st == ST_OK && !x->n) {
		if (x->status == ST_AGAIN) { /* told only once */
			x->status = ST_OK;
			st = ST_AGAIN;
		} else if (x->status != ST_OK) {
			st = x->status;
			if (x->err)
				*e = *x->err;
		} else if (x->busy) {
			st = inner_chains_wait(s, &late);
		} else {
			x->busy = true;
			st = ST_NO;
		}
	}
	if (st == ST_OK)
		inner_chain_swap(x);
	return st;
}

bool
inner_chains_more(struct inner_chains *s, uint32_t slot)
{
	if (!s->shared || s->slots[slot]->direct)
		return false;
	pthread_mutex_lock(&s->lock);
	bool more = s->slots[slot]->n > 0;
	pthread_mutex_unlock(&s->lock);
	return more;
}

enum status
inner_chains_fill(struct inner_chains *s, uint32_t slot, struct err *e)
{
	struct inner_chain *x = s->slots[slot];
	uint32_t from;
	enum status st;

	if (inner_chain_run(x, &from)->n > from)
		return ST_OK;
	if (!s->shared)
		return inner_chains_direct(s, x, e);
	run_reset(&x->own.run);
	x->taken = 0;
	if (x->direct && x->stays)
		return inner_chains_direct(s, x, e);
	pthread_mutex_lock(&s->lock);
	s->turn = slot;
	if (x->direct)
		x->direct = x->busy = false;
	st = inner_chains_take(s, x, e);
	if (inner_chains_worth(s) && inner_chains_pick(s))
		pool_want(&s->user);
	pthread_mutex_unlock(&s->lock);
	return st == ST_NO ? inner_chains_direct(s, x, e) : st;
}

/* Finds a slot that has a run, an end or an error to give; fills empty slots meanwhile. *any:
 * some slot is not empty. */
static bool
inner_chains_ready(struct inner_chains *s, uint32_t *slot, bool *any)
{
	*any = false;
	for (uint32_t k = 0; k < s->n_slots; k++) {
		uint32_t at = s->turn + 1 + k;
		struct inner_chain **x = &s->slots[at < s->n_slots ? at : at - s->n_slots];

		if (!*x && s->n_next)
			*x = inner_chains_next(s);
		*any = *any || *x;
		if (*x && ((*x)->n || (*x)->taken < (*x)->own.run.n || (*x)->status != ST_OK)) {
			*slot = (uint32_t)(x - s->slots);
			return true;
		}
	}
	return false;
}

enum status
inner_chains_any(struct inner_chains *s, uint32_t *slot, struct err *e)
{
	enum status st = ST_OK;
	bool any, late;

	pthread_mutex_lock(&s->lock);
	while (st == ST_OK && !inner_chains_ready(s, slot, &any)) {
		if (!any && s->input != ST_OK) {
			st = s->input;
			if (st != ST_END && st != ST_AGAIN)
				*e = s->err;
			continue;
		}
		pool_want(&s->user);
		st = inner_chains_wait(s, &late);
		/* No thread has come, they may have other work: this one does a piece itself. */
		if (st == ST_OK && late && !s->reading && !s->pulling)
			inner_chains_step(s);
	}
	pthread_mutex_unlock(&s->lock);
	return st;
}
