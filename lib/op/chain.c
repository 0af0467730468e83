/* SPDX-License-Identifier: MIT */
#include "op/chain.h"

#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/trace.h"
#include "op/bind.h"
#include "op/by_index.h"
#include "op/facts.h"
#include "op/pull.h"

/* Makes the state: parameters as the plan has them, everything else zero. */
static enum status
chain_prepare(struct op_inst *i, struct err *e)
{
	if (i->desc->state_size)
		memcpy(i->state, i->node->params, i->desc->state_size);
	return i->node->n_binds && i->outer ? bind_apply(i, e) : ST_OK;
}

static enum status
chain_start(struct op_inst *i, struct err *e)
{
	enum status st = chain_prepare(i, e);

	if (st != ST_OK)
		return st;
	chain_of(i)->opened = true;
	if (i->desc->open && (st = i->desc->open(i, e)) != ST_OK)
		return st;
	return ST_OK;
}

static void
chain_stop(struct op_inst *i)
{
	if (chain_of(i)->opened && i->desc->close)
		i->desc->close(i);
	chain_of(i)->opened = false;
	bind_clear(i);
}

static struct op_inst *
chain_inst(const struct op_node *n, struct op_ctx *ctx, const struct chain_how *how)
{
	struct chain_inst *own = mem_zalloc(sizeof *own);
	struct op_inst *i = &own->self;

	i->node = n;
	i->desc = n->desc;
	i->ctx = ctx;
	i->outer = how->outer;
	chain_of(i)->outer_key = how->outer_key;
	chain_of(i)->reaches = how->reaches;
	i->epoch = how->epoch;
	i->lent = &i->out;
	run_init(&i->out);
	return i;
}

/* Opens a combine that joins the splits of its inputs: only the input that has the split's
 * leaf is opened, since the split is a part of that input alone. */
static enum status
chain_open_leaf(const struct op_node *n, struct op_ctx *ctx, struct chain_how how,
		struct op_inst **out, struct err *e)
{
	uint32_t leaves = 0;

	for (size_t k = 0; k < n->n_in; k++) {
		leaves = facts_leaves(n->in[k]);
		if (how.leaf < leaves)
			return chain_open(n->in[k], ctx, &how, out, e);
		how.leaf -= leaves;
	}
	return err_set(e, ST_PROTO, "a split is for source %u, which `%s` has not",
		       how.split->leaf, op_text(n));
}

/* Gives a walk to instances read by index that must know which elements to give: sources,
 * operators that join, and those that ask for their elements' numbers. */
static void
chain_walk(struct op_inst *i, const struct chain_how *how)
{
	if (i->desc->kind == OP_SOURCE || i->desc->flags & (OP_NUMBERS | OP_JOINS_SPLITS))
		i->by_index = by_index_new(how->order, how->path, i->node);
}

enum status
chain_open(const struct op_node *n, struct op_ctx *ctx, const struct chain_how *how,
	   struct op_inst **out, struct err *e)
{
	struct chain_how down = *how;
	const struct by_index_step *stride = NULL;
	enum status st = ST_OK;
	bool part = (how->by_split || how->split) && ctx->split_exact && op_by_part(n);
	bool root = facts_is_root(n) || part;

	*out = NULL;
	if (how->order && n->desc->pick) {
		down.path = by_index_pick(how->order, how->path, n);
		return chain_open(n->in[0], ctx, &down, out, e);
	}
	/* An input of concat that cannot be cut is one unit: it runs as it would alone. */
	if (how->split && how->split->kind == SPLIT_ALL && !facts_cuttable(part ? n->in[0] : n))
		down.split = NULL;
	if ((how->by_split || down.split) && n->desc->times) {
		if (facts_covered(n)) {
			down.reaches |= n == how->watched;
			down.alike |= n == how->watched && !facts_reshuffles(n->in[0]);
			return chain_open(n->in[0], ctx, &down, out, e);
		}
		down.remember = true;
	}
	if (down.split && (n->desc->flags & OP_JOINS_SPLITS))
		return chain_open_leaf(n, ctx, down, out, e);

	struct op_inst *i = chain_inst(n, ctx, how);
	*out = i;
	down.reaches = false;
	if (root && how->by_split) {
		feeder_new(i, how->remember, how->alike);
		return ST_OK;
	}
	if (n->desc->kind == OP_SOURCE && down.split && down.split->kind != SPLIT_ALL)
		i->split = down.split, i->kept = down.kept;
	if (n->permutes)
		st = index_order_open(i, down.split, e);
	else if (n->strides)
		st = index_stride_open(i, &stride, e);
	if (how->order)
		chain_walk(i, how);
	if (how->order && n->desc->groups)
		down.path = by_index_group(how->order, how->path, n);
	if (n->permutes || n->strides || n->desc->kind == OP_COMBINE)
		down = (struct chain_how){ .outer = how->outer, .outer_key = how->outer_key,
					   .epoch = how->epoch,
					   .order = i->order ? i->order : how->order,
					   .path = n->strides ? stride : how->path };
	if (n->desc->state_size)
		i->state = mem_alloc(n->desc->state_size);
	i->in = mem_array(n->n_in ? n->n_in : 1, sizeof(struct op_inst *));
	i->n_in = n->n_in;
	for (size_t k = 0; st == ST_OK && k < n->n_in; k++) {
		if (how->order && i->by_index && n->desc->kind == OP_COMBINE)
			down.path = by_index_part(how->order, how->path, i->by_index, k);
		st = chain_open(n->in[k], ctx, &down, &i->in[k], e);
	}
	if (st == ST_OK)
		st = chain_start(i, e);
	if (st != ST_OK)
		op_close(out);
	return st;
}

enum status
op_open(const struct op_node *n, struct op_ctx *ctx, struct op_inst **out, struct err *e)
{
	struct chain_how how = { .by_split = ctx->next_split != NULL, .epoch = ctx->epoch };
	uint64_t period;

	if (how.by_split && ctx->reached)
		how.watched = op_repeat_watched(n, &period);
	return chain_open(n, ctx, &how, out, e);
}

/* Derives a key from the bytes of the outer element, so that an inner shuffle gives the same
 * order for the same file, whichever stream the file comes to. */
static uint64_t
chain_outer_key(const struct elem *outer, uint64_t above)
{
	uint64_t key = rng_mix(above, outer->len), word;

	for (uint32_t at = 0; at < outer->len; at += 8) {
		word = 0;
		memcpy(&word, outer->p + at, outer->len - at < 8 ? outer->len - at : 8);
		key = rng_mix(key, word);
	}
	return key | 1;
}

enum status
chain_open_inner(const struct op_node *n, const struct op_inst *self, struct op_ctx *ctx,
		 const struct elem *outer, struct op_inst **out, struct err *e)
{
	struct chain_how how = {
		.outer = outer,
		.outer_key = chain_outer_key(outer, chain_of(self)->outer_key),
		.epoch = self->epoch
	};

	return chain_open(n, ctx, &how, out, e);
}

enum status
op_open_inner(const struct op_node *n, struct op_inst *self, const struct elem *outer,
	      struct op_inst **out, struct err *e)
{
	return chain_open_inner(n, self, self->ctx, outer, out, e);
}

void
op_close(struct op_inst **ip)
{
	struct op_inst *i = *ip;

	*ip = NULL;
	if (!i)
		return;
	chain_stop(i); /* closed first: it may have a thread that uses its inputs */
	feeder_free(i);
	for (size_t k = 0; k < i->n_in; k++)
		op_close(&i->in[k]);
	by_index_free(&i->by_index);
	index_order_free(&i->order); /* freed last: the inputs follow it */
	mem_free(i->in);
	mem_free(i->state);
	mem_free(chain_of(i)->pending);
	run_clear(&i->out);
	mem_free(i);
}

enum status
op_rewind(struct op_inst *i, struct err *e)
{
	enum status st = ST_OK;

	if (!i->desc->rewind)
		chain_stop(i);
	run_reset(&i->out);
	i->lent = &i->out;
	i->give = NULL;
	i->taken = i->at = 0;
	i->done = i->ended = chain_of(i)->finishing = false;
	chain_of(i)->emitted = chain_of(i)->discard = 0;
	i->epoch++;
	mem_free(chain_of(i)->pending);
	chain_of(i)->pending = NULL;
	if (chain_of(i)->feeder) {
		feeder_rewind(i);
		return ST_OK;
	}
	if (i->by_index)
		by_index_rewind(i->by_index);
	if (i->desc->rewind)
		return i->desc->rewind(i, e);
	for (size_t k = 0; st == ST_OK && k < i->n_in; k++)
		st = op_rewind(i->in[k], e);
	return st == ST_OK ? chain_start(i, e) : st;
}

bool
op_elsewhere(const struct op_inst *i)
{
	bool elsewhere = i->elsewhere;

	for (size_t k = 0; k < i->n_in && !elsewhere; k++)
		elsewhere = op_elsewhere(i->in[k]);
	return elsewhere;
}

void
op_set_ctx(struct op_inst *i, struct op_ctx *ctx)
{
	struct op_ctx *before = i->ctx;

	i->ctx = ctx;
	if (chain_of(i)->feeder)
		feeder_set_ctx(i, ctx);
	/* An input that has been given a context of its own keeps it. */
	for (size_t k = 0; k < i->n_in; k++)
		if (i->in[k]->ctx == before)
			op_set_ctx(i->in[k], ctx);
}

static enum status chain_fill(struct op_inst *i, struct err *e);

/* Makes one call of a transform that is fed runs of its input. */
enum status
chain_feed(struct op_inst *i, struct err *e)
{
	struct op_inst *in = i->in[0];
	enum status st;

	if (!i->done && !chain_of(i)->finishing && in->taken >= in->lent->n) {
		st = chain_fill(in, e);
		if (st == ST_END)
			chain_of(i)->finishing = true;
		else if (st != ST_OK)
			return st;
	}
	if (i->done || chain_of(i)->finishing)
		return i->desc->finish ? i->desc->finish(i, &i->out, e) : ST_END;

	struct run *run = in->lent;
	i->out.file = run->file;
	i->out.line = run->line;
	i->out.parts = run->parts;
	i->out.n_parts = run->n_parts;
	i->at = in->taken;
	chain_of(i)->retry_p = NULL;
	chain_of(i)->fed = run;
	chain_of(i)->fed_before = chain_of(in)->emitted - run->n;
	st = i->desc->feed(i, run, &i->out, e);
	if (st == ST_AGAIN) {
		in->taken = i->at;
		return ST_OK;
	}
	in->taken = run->n;
	return st;
}

/* Drops the first n elements of the lent run. A run that belongs to another operator must not
 * be changed: its remaining elements are copied into out. */
static void
chain_trim(struct op_inst *i, uint32_t n)
{
	struct run *r = i->lent, *out = &i->out;

	if (r == out) {
		if (r->n > n)
			memmove(r->e, r->e + n, (r->n - n) * sizeof *r->e);
		r->n -= n;
	} else {
		run_reset(out);
		for (uint32_t k = n; k < r->n; k++)
			run_push(out, r->e[k]);
		out->file = r->file;
		out->line = r->line;
		out->parts = r->parts;
		out->n_parts = r->n_parts;
		i->lent = out;
	}
	i->taken = 0;
}

/* Drops, after a restore, the elements that had been given before the state was saved. */
static void
chain_discard(struct op_inst *i)
{
	uint32_t n = chain_of(i)->discard < i->lent->n ? (uint32_t)chain_of(i)->discard : i->lent->n;

	chain_of(i)->discard -= n;
	chain_trim(i, n);
}

/* Drops elements over the size limit, under on_error. Only an element in a block or a long
 * arena can be that large, so the elements are looked at only when there is one. */
static enum status
chain_limit(struct op_inst *i, struct err *e)
{
	struct run *r = &i->out;
	uint32_t max = i->ctx->element_max, kept = 0;
	enum status st = ST_OK;

	if (!max || (!r->n_held && (!r->arena || r->arena->len <= max)))
		return ST_OK;
	for (uint32_t k = 0; k < r->n; k++) {
		if (r->e[k].len > max && st == ST_OK) {
			const char *file;
			uint64_t line;

			run_place(r, &r->e[k], &file, &line);
			err_set(e, ST_DATA, "an element of %u bytes is larger than the limit of %u",
				r->e[k].len, max);
			st = op_source_fault(i, file, line, e);
			if (st != ST_OK)
				break;
			continue;
		}
		r->e[kept++] = r->e[k];
	}
	r->n = kept;
	return st;
}

static enum status
chain_call(struct op_inst *i, struct err *e)
{
	if (chain_of(i)->feeder)
		return feeder_next(i, e);
	if (i->by_index && i->desc->kind != OP_TRANSFORM)
		return by_index_run(i, e);
	if (i->desc->next && (i->pulls || !i->desc->feed))
		return i->desc->next(i, &i->out, e);
	return chain_feed(i, e);
}

/* Makes the next run. When a callback gave elements together with an end or an error, the
 * elements are given first; the end or the error is remembered. */
static enum status
chain_make(struct op_inst *i, struct err *e)
{
	const struct op_ctx *ctx = i->ctx;
	enum status st;

	do {
		if (op_stopped(ctx))
			return ST_AGAIN;
		run_reset(&i->out);
		i->give = NULL;
		i->lent = &i->out;
		i->taken = 0;
		const char *before = mem_for(i->desc->name);
		st = chain_call(i, e);
		mem_for(before);
		if (i->give) {
			i->lent = i->give;
		} else {
			enum status limit = chain_limit(i, e);

			if (limit != ST_OK)
				st = limit;
		}
		if (chain_of(i)->discard)
			chain_discard(i);
		if (st == ST_END)
			i->ended = true;
		if (st != ST_OK && st != ST_END && st != ST_AGAIN) {
			chain_of(i)->pending = mem_dup(e, sizeof *e);
			chain_of(i)->pending->kind = st;
		}
	} while (st == ST_OK && !i->lent->n && !chain_of(i)->brief);
	return i->lent->n ? ST_OK : st;
}

/* A feeder gives what the instance gave that it opened for the same node, except at a node that joins splits. */
static bool
chain_gives(const struct op_inst *i)
{
	return !chain_of(i)->feeder || i->desc->flags & OP_JOINS_SPLITS;
}

/* Shows what it has made to somebody who looks. */
static void
chain_tapped(const struct op_inst *i)
{
	const struct op_ctx *ctx = i->ctx;

	if (ctx->tap && atomic_load_explicit(ctx->tap, memory_order_relaxed) == i->node->place && chain_gives(i))
		ctx->tapped(ctx->arg, i->lent);
}

/* In a trace the calls of all instances of a node are alike: inner pipelines are opened for each element. */
static void
chain_traced(const struct op_inst *i, enum status st, int64_t now)
{
	bool gave = st == ST_OK && i->lent->n;
	/* The operator that stands for those on threads (split_threads.c) has no brief, and a text made of all of theirs. */
	const char *name = i->desc->brief ? op_text(i->node) : i->desc->name;

	trace_leave(i->node, TRACE_OPERATOR, name, gave ? i->lent->n : 0, gave ? run_bytes_near(i->lent) : 0, now);
}

static enum status
chain_fill(struct op_inst *i, struct err *e)
{
	int64_t begin = i->ctx->timed ? clock_mono_ns() : 0, end;
	bool traced = begin && trace_on() && chain_gives(i);
	enum status st;

	if (chain_of(i)->pending) {
		*e = *chain_of(i)->pending;
		return e->kind;
	}
	if (i->ended)
		return ST_END;
	if (begin)
		op_stat_set(&i->stats.began, (uint64_t)begin);
	if (traced)
		trace_enter(i->node, begin);
	st = chain_make(i, e);
	if (st == ST_OK && i->lent->n) {
		op_stat_add(&i->stats.elements, i->lent->n);
		op_stat_add(&i->stats.runs, 1);
		if (i->desc->kind == OP_SOURCE && i->ctx->intake && i->desc->cardinality && !i->outer)
			atomic_fetch_add_explicit(&i->ctx->intake->elements, i->lent->n, memory_order_relaxed);
		chain_of(i)->emitted += i->lent->n;
		if (chain_of(i)->reaches)
			atomic_store_explicit(i->ctx->reached, true, memory_order_relaxed);
		chain_tapped(i);
	}
	if (begin) {
		/* In this order: for a moment the call is not counted, and never twice. */
		op_stat_set(&i->stats.began, 0);
		end = clock_mono_ns();
		op_stat_add(&i->stats.ns, (uint64_t)(end - begin));
		if (traced)
			chain_traced(i, st, end);
	}
	return st;
}

const struct op_inst *
op_stored(const struct op_inst *top)
{
	const struct op_inst *found = NULL;

	for (; top->n_in == 1; top = top->in[0])
		if (top->desc->flags & (OP_STORES | OP_WHOLE))
			found = top->in[0];
	return found;
}

void
op_brief(struct op_inst *top)
{
	chain_of(top)->brief = true;
}

enum status
op_pull(struct op_inst *i, struct run **out, struct err *e)
{
	struct run *r = i->lent;
	enum status st = ST_OK;

	if (i->taken < r->n) { /* the rest of a run that op_next or a restore began */
		if (i->taken)
			chain_trim(i, i->taken);
	} else if ((st = chain_fill(i, e)) != ST_OK) {
		return st;
	}
	*out = i->lent;
	i->taken = i->lent->n;
	return ST_OK;
}

enum status
op_prime(struct op_inst *i, struct err *e)
{
	return i->taken < i->lent->n ? ST_OK : chain_fill(i, e);
}

enum status
op_next(struct op_inst *i, struct elem *out, struct err *e)
{
	enum status st = op_prime(i, e);

	if (st == ST_OK)
		*out = i->lent->e[i->taken++];
	return st;
}

bool
op_ready(const struct op_inst *i)
{
	return i->taken < i->lent->n || i->ended;
}

struct expr_vm *
op_vm_new(struct op_inst *self, const struct op_expr *ex)
{
	struct expr_vm *vm = expr_vm_new(ex->code, op_rng_key(self, PARAM_AUTO, true));

	if (self->outer)
		expr_vm_set(vm, EXPR_XX, self->outer->p, self->outer->len);
	return vm;
}

void
op_discard(struct op_inst *self, uint64_t n)
{
	chain_of(self)->discard = n;
}
