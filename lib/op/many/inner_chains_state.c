/* SPDX-License-Identifier: MIT */
#include "op/many/inner_chains.h"

#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/thread.h"
#include "op/chain.h"
#include "op/state.h"
#include "op/pull.h"

enum {
	INNER_CHAINS_REST_NS = 1000 * 1000 * 1000, /* how long saving waits for threads that pull */
	INNER_CHAINS_LOOK_NS = 20 * 1000 * 1000,
	INNER_CHAINS_NEXT_MOST = 256
};

static bool
inner_chains_at_rest(const struct inner_chains *s)
{
	return !s->pulling && !s->reading;
}

/* Stops all pulling until the next call. False: a thread is still waiting for input. The lock
 * is held. */
static bool
inner_chains_rest(struct inner_chains *s)
{
	int64_t now = clock_mono_ns(), end = now + INNER_CHAINS_REST_NS;

	s->pause = true;
	for (; !inner_chains_at_rest(s) && now < end && !op_stopped(s->self->ctx);
	     now = clock_mono_ns())
		thread_cond_wait(&s->news, &s->lock, now + INNER_CHAINS_LOOK_NS);
	return inner_chains_at_rest(s);
}

enum { INNER_CHAIN_CLOSED, INNER_CHAIN_OPEN, INNER_CHAIN_FAILED };

static bool
inner_chain_is_well(const struct inner_chain *x)
{
	return x->status == ST_OK || x->status == ST_END || x->status == ST_AGAIN;
}

static void
inner_chain_save_runs(const struct inner_chain *x, struct buf *out)
{
	state_put_u64(out, x->n + 1);
	state_put_run(out, &x->own.run, x->taken);
	for (uint32_t k = 0; k < x->n; k++)
		state_put_run(out, &x->ahead[(x->first + k) % INNER_CHAIN_AHEAD].run, 0);
}

/* Saves one chain: the outer element; how far its chain is; the chain's state, or the error
 * that it ended with; the runs that were read ahead. An error that ends the stream is not
 * saved. */
static bool
inner_chain_save(const struct inner_chains *s, const struct inner_chain *x, struct buf *out)
{
	enum op_policy policy = s->self->node->on_error;
	struct buf inner = { 0 };
	bool ok = true;

	state_put_elem(out, &x->outer.e);
	if (!inner_chain_is_well(x)) {
		state_put_u64(out, INNER_CHAIN_FAILED);
		state_put_u64(out, x->status);
		state_put_bytes(out, x->err->text, strlen(x->err->text));
		state_put_bytes(out, x->err->file, strlen(x->err->file));
		state_put_u64(out, x->err->line);
		ok = policy == OP_SKIP || policy == OP_KEEP;
	} else if (x->chain) {
		state_put_u64(out, INNER_CHAIN_OPEN);
		state_put_u64(out, x->status == ST_END);
		ok = op_state_save(x->chain, &inner) && inner.len <= UINT32_MAX;
		state_put_bytes(out, inner.data, ok ? inner.len : 0);
		buf_clear(&inner);
	} else {
		state_put_u64(out, INNER_CHAIN_CLOSED);
	}
	inner_chain_save_runs(x, out);
	return ok;
}

static bool
inner_chains_save_all(const struct inner_chains *s, struct buf *out)
{
	bool ok = s->input == ST_OK || s->input == ST_END || s->input == ST_AGAIN;

	state_put_u64(out, s->input == ST_END);
	for (uint32_t k = 0; k < s->n_slots; k++) {
		state_put_u64(out, s->slots[k] != NULL);
		ok = ok && (!s->slots[k] || inner_chain_save(s, s->slots[k], out));
	}
	state_put_u64(out, s->n_next);
	for (uint32_t k = 0; ok && k < s->n_next; k++)
		ok = inner_chain_save(s, s->next[(s->first_next + k) % s->cap_next], out);
	return ok;
}

bool
inner_chains_save(struct inner_chains *s, struct buf *out)
{
	if (!s->shared)
		return inner_chains_save_all(s, out);
	pthread_mutex_lock(&s->lock);
	bool ok = inner_chains_rest(s) && inner_chains_save_all(s, out);
	pthread_mutex_unlock(&s->lock);
	return ok;
}

static enum status
inner_chain_restore_chain(struct inner_chains *s, struct inner_chain *x, struct state_in *in,
			  struct err *e)
{
	const uint8_t *p;
	size_t n;
	enum status st;

	if (state_get_u64(in, 1))
		x->status = ST_END;
	if (!state_get_bytes(in, &p, &n))
		return state_wrong(s->self, e);
	st = chain_open_inner(s->pipe, s->self, &s->ctx, &x->outer.e, &x->chain, e);
	return st == ST_OK ? op_state_restore(x->chain, p, n, e) : st;
}

static void
inner_chain_restore_error(struct inner_chain *x, struct state_in *in)
{
	uint64_t kind = state_get_u64(in, ST_NOCMD);
	const uint8_t *p, *file;
	size_t n, n_file;

	state_get_bytes(in, &p, &n);
	state_get_bytes(in, &file, &n_file);
	uint64_t line = state_get_u64(in, UINT32_MAX);
	in->bad = in->bad || (kind != ST_NO && status_from_code(kind) != kind) || n_file >= ERR_FILE;
	if (in->bad)
		return;
	x->status = (enum status)kind;
	x->err = mem_zalloc(sizeof *x->err);
	err_set(x->err, x->status, "%.*s", (int)(n < ERR_TEXT ? n : ERR_TEXT - 1), (const char *)p);
	memcpy(x->err->file, file, n_file);
	x->err->line = (unsigned)line;
}

static enum status
inner_chain_restore(struct inner_chains *s, struct inner_chain *x, struct state_in *in,
		    struct err *e)
{
	struct elem outer;
	enum status st = ST_OK;

	if (!state_get_elem(in, &outer))
		return state_wrong(s->self, e);
	kept_set(&x->outer, outer);
	uint64_t how = state_get_u64(in, INNER_CHAIN_FAILED);
	if (how == INNER_CHAIN_OPEN)
		st = inner_chain_restore_chain(s, x, in, e);
	else if (how == INNER_CHAIN_FAILED)
		inner_chain_restore_error(x, in);
	if (st != ST_OK)
		return st;
	uint64_t runs = state_get_u64(in, INNER_CHAIN_AHEAD + 1);
	if (runs && !in->bad)
		state_get_run(in, &x->own.run);
	for (uint64_t k = 1; k < runs && !in->bad; k++)
		if (state_get_run(in, &x->ahead[x->n].run) && x->ahead[x->n].run.n)
			x->n++;
	return in->bad ? state_wrong(s->self, e) : ST_OK;
}

/* The number of chains opened ahead depends on the machine: a saved state may have more. */
static enum status
inner_chains_restore_next(struct inner_chains *s, struct state_in *in, struct err *e)
{
	uint64_t n = state_get_u64(in, INNER_CHAINS_NEXT_MOST);
	enum status st = ST_OK;

	if (in->bad || (n && !s->shared))
		return state_wrong(s->self, e);
	if (n > s->cap_next) {
		s->next = mem_realloc(s->next, n * sizeof(*s->next));
		s->cap_next = (uint32_t)n;
	}
	for (uint64_t k = 0; st == ST_OK && k < n; k++) {
		struct inner_chain *x = s->next[s->n_next++] = mem_zalloc(sizeof *x);

		st = inner_chain_restore(s, x, in, e);
	}
	return st;
}

enum status
inner_chains_restore(struct inner_chains *s, struct state_in *in, struct err *e)
{
	enum status st = ST_OK;

	if (state_get_u64(in, 1))
		s->input = ST_END;
	for (uint32_t k = 0; st == ST_OK && k < s->n_slots; k++) {
		if (!state_get_u64(in, 1) || in->bad)
			continue;
		struct inner_chain *x = s->slots[k] = mem_zalloc(sizeof *x);
		st = inner_chain_restore(s, x, in, e);
	}
	return st == ST_OK ? inner_chains_restore_next(s, in, e) : st;
}
