/* SPDX-License-Identifier: MIT
 * Reading inner chains ahead, by threads of the pool. The lock is held, but for the work
 * itself.
 */
#include "base/clock.h"
#include "base/mem.h"
#include "op/chain.h"
#include "op/kit/cost.h"
#include "value/run_share.h"
#include "op/many/inner_chains_inner.h"
#include "op/pull.h"

enum { INNER_CHAINS_BYTES = 1 << 20 }; /* how far one inner chain is read ahead, in bytes */

/* Whether reading ahead by threads pays. It always does without an order, where no chain may
 * keep the stream from the others. */
bool
inner_chains_worth(const struct inner_chains *s)
{
	return !s->ordered || s->step_ns <= 0 || s->step_ns > (double)pool_worth_ns;
}

void
inner_chain_free(struct inner_chain *x)
{
	if (!x)
		return;
	op_close(&x->chain);
	kept_clear(&x->outer);
	run_clear(&x->own.run);
	mem_free(x->own.parts);
	for (uint32_t k = 0; k < INNER_CHAIN_AHEAD; k++) {
		run_clear(&x->ahead[k].run);
		mem_free(x->ahead[k].parts);
	}
	mem_free(x->err);
	mem_free(x);
}

/* Keeps the chain's memory for the next one; the lock is held. */
void
inner_chains_keep(struct inner_chains *s, struct inner_chain *x)
{
	if (s->spare)
		inner_chain_free(x);
	else
		s->spare = x;
}

enum status
inner_chain_open(struct inner_chains *s, struct inner_chain *x, struct err *e)
{
	return x->chain ? ST_OK : chain_open_inner(s->pipe, s->self, &s->ctx, &x->outer.e,
						   &x->chain, e);
}

static bool
inner_chain_hungry(const struct inner_chain *x, uint32_t most)
{
	return x && !x->busy && x->status == ST_OK && x->n < most && x->bytes < INNER_CHAINS_BYTES;
}

/* The inner chain to read next: first chains without a run, in the order in which they will be
 * asked for; NULL: none. */
struct inner_chain *
inner_chains_pick(const struct inner_chains *s)
{
	for (uint32_t most = 1; most <= INNER_CHAIN_AHEAD; most += INNER_CHAIN_AHEAD - 1) {
		for (uint32_t k = 0; k < s->n_slots; k++) {
			uint32_t at = s->turn + k;
			struct inner_chain *x = s->slots[at < s->n_slots ? at : at - s->n_slots];

			if (inner_chain_hungry(x, most))
				return x;
		}
		for (uint32_t k = 0; (most == 1 || !s->ordered) && k < s->n_next; k++) {
			struct inner_chain *x = s->next[(s->first_next + k) % s->cap_next];

			if (inner_chain_hungry(x, most))
				return x;
		}
	}
	return NULL;
}

/* Reads one more run of the chain ahead; the lock is released meanwhile. */
static void
inner_chains_read(struct inner_chains *s, struct inner_chain *x)
{
	struct inner_chain_run *to = &x->ahead[(x->first + x->n) % INNER_CHAIN_AHEAD];
	struct err e = { 0 };
	int64_t began = clock_mono_ns();
	struct run *r;

	x->busy = true;
	s->reading++;
	pthread_mutex_unlock(&s->lock);
	enum status st = inner_chain_open(s, x, &e);
	if (st == ST_OK)
		st = op_pull(x->chain, &r, &e);
	if (st == ST_OK)
		to->bytes = run_share(&to->run, &to->parts, r);
	double ns = (double)(clock_mono_ns() - began);
	pthread_mutex_lock(&s->lock);
	cost_learn(&s->step_ns, ns);
	x->busy = false;
	s->reading--;
	if (st == ST_OK) {
		x->n++;
		x->bytes += to->bytes;
		if (x->chain->ended)
			st = ST_END;
		else if (chain_of(x->chain)->pending)
			st = chain_of(x->chain)->pending->kind;
	}
	x->status = st;
	if (st >= ST_NO)
		x->err = mem_dup(x->chain && chain_of(x->chain)->pending ? chain_of(x->chain)->pending : &e, sizeof e);
}

uint32_t
inner_chains_next_most(const struct inner_chains *s)
{
	return s->step_ns > (double)pool_worth_ns ? s->most_next : s->cap_next;
}

static bool
inner_chains_may_pull(const struct inner_chains *s)
{
	return !s->pulling && s->input == ST_OK && s->n_next < inner_chains_next_most(s);
}

/* Makes the next outer element an inner chain; the lock is released meanwhile. */
void
inner_chains_pull(struct inner_chains *s)
{
	struct elem outer;
	struct inner_chain *x = s->spare ? s->spare : mem_zalloc(sizeof *x);

	s->spare = NULL;
	s->pulling = true;
	pthread_mutex_unlock(&s->lock);
	enum status st = op_next(s->self->in[0], &outer, &s->err);
	if (st == ST_OK)
		kept_set(&x->outer, outer);
	pthread_mutex_lock(&s->lock);
	s->pulling = false;
	s->input = st;
	if (st != ST_OK)
		inner_chains_keep(s, x);
	else
		s->next[(s->first_next + s->n_next++) % s->cap_next] = x;
}

/* Does one piece of work. False: there is none. */
bool
inner_chains_step(struct inner_chains *s)
{
	struct inner_chain *x = inner_chains_pick(s);
	bool pull = !s->exact && inner_chains_may_pull(s);

	/* A slot without runs goes first, then opening chains. Without order a chain is read
	 * to its end before another takes its place. */
	if (x && (!x->n || !pull || !s->ordered))
		inner_chains_read(s, x);
	else if (pull)
		inner_chains_pull(s);
	else
		return false;
	return true;
}

/* Does work for a thread of the pool: several pieces at a time, since they may be small. */
bool
inner_chains_work(void *arg)
{
	struct inner_chains *s = arg;
	int64_t end = clock_mono_ns() + pool_worth_ns;
	bool any = false, did;

	pthread_mutex_lock(&s->lock);
	do {
		did = !s->pause && inner_chains_worth(s) && !op_stopped(&s->ctx) &&
		      inner_chains_step(s);
		any = any || did;
		if (s->pause)
			pthread_cond_signal(&s->news);
	} while (did && clock_mono_ns() < end);
	if (did && inner_chains_pick(s))
		pool_want(&s->user); /* there is work for another thread, too */
	if (s->awaited)
		pthread_cond_signal(&s->news);
	pthread_mutex_unlock(&s->lock);
	return any;
}

/* Called before a thread waits inside its work: wakes the stream for the runs made so far.
 * They were added under the lock, so a stream that sleeps has not missed them. */
void
inner_chains_waits(void *arg)
{
	pthread_cond_signal(&((struct inner_chains *)arg)->news);
}
