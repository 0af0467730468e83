/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/mem.h"
#include "op/chain.h"
#include "base/pool.h"
#include "op/state.h"
#include "op/pull.h"

/* Reads one split after another, each `times` times:
 *
 *	next_split --> split --> part: pass 1, pass 2, ... --> next_split --> ...
 *	                |  ^
 *	           seen v  | after a rewind (a repeat that splits do not cover)
 * A small pass is repeated from the cache instead of being read again. */
struct op_feeder {
	struct split split;      /* the split being read */
	struct op_inst *part;    /* the chain opened on it; NULL: none */
	struct op_kept kept;     /* left by the source of leaf `kept_leaf` for its next split */
	uint32_t kept_leaf;
	uint64_t pass;           /* complete passes over the split */
	uint64_t given;          /* elements of this pass that have been given */
	bool remember;           /* keep the splits in `seen` */
	struct split_list seen;
	size_t again;            /* how many of `seen` have been read in this round */
	bool drained;            /* next_split has said that there are no more */
	bool fixed;              /* each pass gives the same, so it may be cached */
	bool watched;            /* op_ctx.reached says whether a pass was void, and all passes give the same */
	bool begun_late;         /* this pass was not begun here, but in the saved state */
	struct cache cache;
};

void
feeder_new(struct op_inst *self, bool remember, bool watched)
{
	chain_of(self)->feeder = mem_zalloc(sizeof *chain_of(self)->feeder);
	chain_of(self)->feeder->remember = remember;
	chain_of(self)->feeder->watched = watched;
	chain_of(self)->feeder->fixed = !facts_reshuffles(self->node);
}

static void
feeder_done(struct op_feeder *f)
{
	op_close(&f->part);
	cache_clear(&f->cache);
	split_clear(&f->split);
	f->pass = f->given = 0;
	f->begun_late = false;
}

static void
feeder_forget(struct op_feeder *f)
{
	if (f->kept.p)
		f->kept.free(f->kept.p);
	f->kept = (struct op_kept){ 0 };
}

void
feeder_free(struct op_inst *self)
{
	struct op_feeder *f = chain_of(self)->feeder;

	if (!f)
		return;
	feeder_done(f);
	feeder_forget(f);
	split_list_clear(&f->seen);
	mem_free(f);
	chain_of(self)->feeder = NULL;
}

void
feeder_rewind(struct op_inst *self)
{
	feeder_done(chain_of(self)->feeder);
	chain_of(self)->feeder->again = 0;
}

void
feeder_set_ctx(struct op_inst *self, struct op_ctx *ctx)
{
	if (chain_of(self)->feeder->part)
		op_set_ctx(chain_of(self)->feeder->part, ctx);
}

static enum status
feeder_open(struct op_inst *self, struct err *e)
{
	struct op_feeder *f = chain_of(self)->feeder;
	struct chain_how how = {
		.split = &f->split, .kept = &f->kept, .leaf = f->split.leaf, .epoch = self->epoch
	};
	if (f->split.leaf != f->kept_leaf)
		feeder_forget(f);
	f->kept_leaf = f->split.leaf;
	enum status st = chain_open(self->node, self->ctx, &how, &f->part, e);

	f->cache.off = !f->fixed || f->split.times < 2;
	return st;
}

static enum status
feeder_split(struct op_inst *self, struct err *e)
{
	struct op_feeder *f = chain_of(self)->feeder;
	enum status st;

	if (f->again < f->seen.n) {
		split_copy(&f->split, &f->seen.v[f->again++]);
		return feeder_open(self, e);
	}
	if (f->drained)
		return ST_END;
	pool_wait_begin();
	st = self->ctx->next_split(self->ctx->arg, &f->split, e);
	pool_wait_end();
	if (st == ST_END)
		f->drained = true;
	if (st != ST_OK)
		return st;
	if (f->remember) {
		split_list_add(&f->seen, &f->split);
		f->again++;
	}
	return feeder_open(self, e);
}

/* Whether nothing of a pass that was made here from its first element on has come to the repeat. */
static bool
feeder_void(const struct op_inst *self, const struct op_feeder *f)
{
	return f->watched && !f->begun_late && !atomic_load_explicit(self->ctx->reached, memory_order_relaxed);
}

/* Ends a pass: repeats the split, or leaves it for the next one. A split without elements is
 * not repeated, since that could go on for ever. */
static enum status
feeder_pass_end(struct op_inst *self, struct op_feeder *f, struct err *e)
{
	bool empty = f->given == 0 || feeder_void(self, f);

	f->begun_late = false;
	f->pass++;
	f->given = 0;
	if (empty || f->pass >= f->split.times) {
		feeder_done(f);
		return ST_OK;
	}
	if (!f->cache.off) {
		cache_end(&f->cache);
		op_close(&f->part);
		return ST_OK;
	}
	return op_rewind(f->part, e);
}

static void
feeder_replay(struct op_inst *self)
{
	struct op_feeder *f = chain_of(self)->feeder;
	uint64_t ended;

	self->give = cache_replay(&f->cache, f->split.times - f->pass, &ended);
	f->given += self->give->n;
	if (ended) {
		f->pass += ended;
		f->given = 0;
	}
}

enum status
feeder_next(struct op_inst *self, struct err *e)
{
	struct op_feeder *f = chain_of(self)->feeder;
	struct run *r;
	enum status st;

	for (;;) {
		if (f->cache.whole && f->pass < f->split.times) {
			feeder_replay(self);
			return ST_OK;
		}
		if (f->cache.whole)
			feeder_done(f);
		st = f->part ? ST_OK : feeder_split(self, e);
		if (st != ST_OK)
			return st;
		st = op_pull(f->part, &r, e);
		if (st == ST_OK) {
			f->given += r->n;
			cache_add(&f->cache, r);
			self->give = r;
			return ST_OK;
		}
		if (st != ST_END)
			return st;
		st = feeder_pass_end(self, f, e);
		if (st != ST_OK)
			return st;
	}
}

/* A pass that is kept to be repeated is made as a whole. */
uint64_t
feeder_pass(struct op_inst *self, uint64_t n)
{
	struct op_feeder *f = chain_of(self)->feeder;

	if (!f->part || !f->cache.off)
		return 0;
	n = op_pass(f->part, n);
	f->given += n;
	return n;
}

static void
feeder_put_split(struct buf *out, const struct split *s)
{
	struct buf b = { 0 };

	split_encode(s, &b);
	state_put_bytes(out, b.data, b.len);
	buf_clear(&b);
}

/* Elements given from the cache were read once: a restored feeder reads the pass again, and
 * drops those of its elements that had been given. */
bool
feeder_save(struct op_inst *self, struct buf *out)
{
	struct op_feeder *f = chain_of(self)->feeder;
	bool replay = f->cache.whole, open = f->part || replay, ok = true;

	state_put_u64(out, f->drained);
	state_put_u64(out, f->again);
	state_put_u64(out, f->seen.n);
	for (size_t k = 0; k < f->seen.n; k++)
		feeder_put_split(out, &f->seen.v[k]);
	state_put_u64(out, open);
	if (!open)
		return true;
	feeder_put_split(out, &f->split);
	state_put_u64(out, f->pass);
	state_put_u64(out, f->given);
	state_put_u64(out, replay);
	if (!replay) {
		struct buf b = { 0 };

		ok = op_state_save(f->part, &b);
		state_put_bytes(out, b.data, b.len);
		buf_clear(&b);
	}
	return ok;
}

static enum status
feeder_get_split(struct state_in *in, struct split *out, struct err *e)
{
	const uint8_t *p;
	size_t n;

	if (!state_get_bytes(in, &p, &n))
		return ST_PROTO;
	return split_decode(p, n, out, e);
}

static enum status
feeder_restore_part(struct op_inst *self, struct state_in *in, struct err *e)
{
	struct op_feeder *f = chain_of(self)->feeder;
	enum status st = feeder_get_split(in, &f->split, e);
	const uint8_t *p;
	size_t n;

	if (st != ST_OK)
		return st;
	f->begun_late = true;
	f->pass = state_get_u64(in, f->split.times);
	f->given = state_get_u64(in, UINT64_MAX);
	bool replay = state_get_u64(in, 1);
	if (in->bad)
		return ST_PROTO;
	if (replay && f->pass >= f->split.times) {
		feeder_done(f);
		return ST_OK;
	}
	st = feeder_open(self, e);
	if (st != ST_OK || !f->part)
		return st;
	if (replay) {
		f->cache.off = true;
		f->part->epoch += (uint32_t)f->pass;
		chain_of(f->part)->discard = f->given;
		return ST_OK;
	}
	f->cache.off = f->cache.off || f->given || f->pass;
	if (!state_get_bytes(in, &p, &n))
		return ST_PROTO;
	return op_state_restore(f->part, p, n, e);
}

enum status
feeder_restore(struct op_inst *self, const uint8_t *p, size_t n, struct err *e)
{
	struct op_feeder *f = chain_of(self)->feeder;
	struct state_in in = state_begin(p, n);
	enum status st = ST_OK;

	feeder_done(f);
	split_list_clear(&f->seen);
	f->drained = state_get_u64(&in, 1);
	uint64_t again = state_get_u64(&in, UINT64_MAX);
	uint64_t count = state_get_u64(&in, n);
	for (uint64_t k = 0; st == ST_OK && !in.bad && k < count; k++) {
		struct split s = { 0 };

		st = feeder_get_split(&in, &s, e);
		if (st == ST_OK)
			split_list_add(&f->seen, &s);
		split_clear(&s);
	}
	f->again = again < f->seen.n ? (size_t)again : f->seen.n;
	if (st == ST_OK && !in.bad && state_get_u64(&in, 1))
		st = feeder_restore_part(self, &in, e);
	if (in.bad || !state_ended(&in))
		return state_wrong(self, e);
	return st == ST_PROTO ? state_wrong(self, e) : st;
}
