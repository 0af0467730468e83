/* SPDX-License-Identifier: MIT */
#include "op/by_index.h"
#include "op/facts.h"
#include "op/pull.h"

#include <string.h>

#include "base/mem.h"
#include "base/permute.h"

struct by_index_step {
	struct by_index_step *next;        /* links the steps of an order, for freeing them */
	const struct by_index_step *above;
	const struct op_node *pick;    /* picks n elements of its input */
	/* or takes that many elements of its input for one; 0 and no pick: */
	uint64_t group;
	uint64_t lo, n;                /* the window [lo, lo + n) of the input's indices */
};

struct by_index {
	struct index_order *order;
	const struct by_index_step **steps; /* the steps on the way from the order down to here */
	size_t n_steps;
	uint64_t first, stride;         /* the index of place p is first + p * stride; stride 0: it is not so */
	uint64_t *starts;               /* joining operator: first index of each input, and the end */
	uint64_t each;                  /* elements here for one of the order: all groups multiplied */
	uint64_t at;                    /* the next place, times each, that is not in the arrays below */
	uint64_t pass;                  /* the pass that perm permutes */
	bool keyed;
	struct permute perm;
	uint32_t have, used;
	uint64_t index[RUN_USUAL], place[RUN_USUAL];
	/* the remainder of place by each: which element of the group */
	uint64_t rest[RUN_USUAL];
};

enum status
index_order_open(struct op_inst *self, const struct split *s, struct err *e)
{
	struct index_order *o = self->order = mem_zalloc(sizeof *o);
	enum status st = op_permute_count(self->node, &o->n, e);

	/* The descriptor is asked now, before the owner opens: its inputs may have threads by
	 * then. */
	self->desc->permutes(self->node, &o->seed, &o->reshuffle);
	o->owner = self;
	o->to = o->n;
	if (st != ST_OK || !s || s->kind == SPLIT_ALL)
		return st;
	if (s->kind != SPLIT_RANGE)
		return err_set(e, ST_PROTO, "%s has no such split", self->desc->name);
	if (s->of != o->n)
		return err_set(e, ST_DATA, "the source has %llu elements now, and had %llu when the job began",
			       (unsigned long long)o->n, (unsigned long long)s->of);
	o->from = s->start;
	o->to = o->n ? s->start + s->count : s->start;
	return ST_OK;
}

enum status
index_stride_open(struct op_inst *self, const struct by_index_step **path, struct err *e)
{
	int64_t n = op_indexed(self->node);

	if (n < 0 || n == INT64_MAX)
		return err_set(e, ST_DATA, "the number of elements is not known any more");
	self->order = mem_zalloc(sizeof *self->order);
	self->order->owner = self;
	self->order->n = self->order->to = (uint64_t)n;
	self->order->straight = true;
	*path = by_index_pick(self->order, NULL, self->node);
	return ST_OK;
}

void
index_order_free(struct index_order **op)
{
	struct index_order *o = *op;

	*op = NULL;
	while (o && o->steps) {
		struct by_index_step *s = o->steps;

		o->steps = s->next;
		mem_free(s);
	}
	mem_free(o);
}

/* A stream is given its splits by chance, so by split the stream is not part of the key. */
static uint64_t
index_order_key(const struct index_order *o, uint64_t pass)
{
	const struct op_ctx *ctx = o->owner->ctx;

	return op_rng_key_of(o->owner, o->seed, ctx->next_split ? 0 : ctx->draws_as, o->reshuffle,
			     o->owner->epoch + (uint32_t)pass);
}

static struct by_index_step *
by_index_step(struct index_order *o, const struct by_index_step *above)
{
	struct by_index_step *s = mem_zalloc(sizeof *s);

	s->next = o->steps;
	o->steps = s;
	s->above = above;
	return s;
}

const struct by_index_step *
by_index_pick(struct index_order *o, const struct by_index_step *path, const struct op_node *n)
{
	struct by_index_step *s = by_index_step(o, path);

	s->pick = n;
	s->n = (uint64_t)op_indexed(n->in[0]);
	return s;
}

const struct by_index_step *
by_index_group(struct index_order *o, const struct by_index_step *path, const struct op_node *n)
{
	struct by_index_step *s = by_index_step(o, path);

	s->group = n->desc->groups(n);
	return s;
}

const struct by_index_step *
by_index_part(struct index_order *o, const struct by_index_step *path, const struct by_index *join,
	      size_t k)
{
	struct by_index_step *s = by_index_step(o, path);

	s->lo = join->starts[k];
	s->n = join->starts[k + 1] - s->lo;
	return s;
}

/* Whether the indices have even distances, and which: so those of two places tell all. */
static void
by_index_evenly(struct by_index *w)
{
	uint64_t two[2] = { 0, 1 };

	if (!w->order->straight)
		return;
	for (size_t k = 0; k < w->n_steps; k++) {
		const struct by_index_step *s = w->steps[k];

		if (!s->pick || !(s->pick->desc->flags & OP_EVENLY))
			return;
		s->pick->desc->pick(s->pick, s->n, two, 2);
	}
	w->first = two[0];
	w->stride = two[1] - two[0];
}

struct by_index *
by_index_new(struct index_order *o, const struct by_index_step *path, const struct op_node *n)
{
	struct by_index *w = mem_zalloc(sizeof *w);

	w->order = o;
	w->each = 1;
	for (const struct by_index_step *s = path; s; s = s->above) {
		w->each *= s->group ? s->group : 1;
		w->n_steps++;
	}
	w->at = o->from * w->each;
	w->steps = mem_array(w->n_steps + 1, sizeof *w->steps);
	for (size_t k = w->n_steps; k-- > 0; path = path->above)
		w->steps[k] = path;
	by_index_evenly(w);
	if (n->desc->kind != OP_COMBINE)
		return w;
	w->starts = mem_array(n->n_in + 1, sizeof *w->starts);
	w->starts[0] = 0;
	for (size_t k = 0; k < n->n_in; k++)
		w->starts[k + 1] = w->starts[k] + (uint64_t)op_indexed(n->in[k]);
	return w;
}

void
by_index_free(struct by_index **wp)
{
	struct by_index *w = *wp;

	*wp = NULL;
	if (!w)
		return;
	mem_free(w->steps);
	mem_free(w->starts);
	mem_free(w);
}

void
by_index_rewind(struct by_index *w)
{
	w->at = w->order->from * w->each;
	w->have = w->used = 0;
	w->keyed = false; /* the owner has moved on to another epoch */
}

static uint32_t
by_index_window(struct by_index *w, const struct by_index_step *s, uint32_t n)
{
	uint32_t kept = 0;

	for (uint32_t k = 0; k < n; k++) {
		uint64_t index = w->index[k] - s->lo;

		w->place[kept] = w->place[k];
		w->rest[kept] = w->rest[k];
		w->index[kept] = index;
		kept += index < s->n;
	}
	return kept;
}

/* Turns n indices of the input into those of the `below` source elements of each. */
static void
by_index_spread(struct by_index *w, const struct by_index_step *s, uint64_t below, uint32_t n)
{
	for (uint32_t k = 0; k < n; k++)
		w->index[k] = w->index[k] * s->group + w->rest[k] / below % s->group;
}

/* Turns n indices of the order into the source's; gives how many of them are left. */
static uint32_t
by_index_down(struct by_index *w, uint32_t n)
{
	uint64_t below = w->each;

	for (size_t k = 0; k < w->n_steps && n; k++) {
		const struct by_index_step *s = w->steps[k];

		if (s->group)
			by_index_spread(w, s, below /= s->group, n);
		else if (s->pick)
			s->pick->desc->pick(s->pick, s->n, w->index, n);
		else
			n = by_index_window(w, s, n);
	}
	return n;
}

/* Fills the arrays with the next places of one pass, and keeps those that are this source's. */
static void
by_index_fill(struct by_index *w)
{
	const struct index_order *o = w->order;
	uint64_t place = w->at / w->each, rest = w->at % w->each, pass = place / o->n;
	uint64_t first = place % o->n, left = o->to - place;
	uint32_t n = RUN_USUAL;

	if (left > o->n - first)
		left = o->n - first;
	if (left <= RUN_USUAL && n > left * w->each - rest)
		n = (uint32_t)(left * w->each - rest);
	if (!o->straight && (!w->keyed || pass != w->pass))
		permute_init(&w->perm, o->n, index_order_key(o, pass));
	w->keyed = true;
	w->pass = pass;
	for (uint32_t k = 0; k < n; k++) {
		w->index[k] = o->straight ? first : permute_at(&w->perm, first);
		w->rest[k] = rest;
		w->place[k] = w->at + k;
		if (++rest == w->each) {
			rest = 0;
			first++;
		}
	}
	w->at += n;
	w->have = by_index_down(w, n);
	w->used = 0;
}

uint32_t
by_index_peek(struct by_index *w, const uint64_t **index)
{
	while (w->used == w->have && w->at < w->order->to * w->each)
		by_index_fill(w);
	*index = w->index + w->used;
	return w->have - w->used;
}

void
by_index_used(struct by_index *w, uint32_t k)
{
	w->used += k;
}

uint64_t
by_index_place(const struct by_index *w)
{
	return w->used < w->have ? w->place[w->used] : w->at;
}

bool
by_index_seek(struct by_index *w, uint64_t place)
{
	if (place < w->order->from * w->each || place > w->order->to * w->each)
		return false;
	w->at = place;
	w->have = w->used = 0;
	return true;
}

static size_t
by_index_owner(const struct by_index *w, size_t n, uint64_t index)
{
	size_t lo = 0, hi = n;

	while (hi - lo > 1) {
		size_t mid = lo + (hi - lo) / 2;

		if (index < w->starts[mid])
			hi = mid;
		else
			lo = mid;
	}
	return lo;
}

/* A joining operator read by index. Each input gives the elements of its own indices in the
 * order of their places, so the input that an index belongs to has that element next. An input
 * that ends early dropped elements that it could not read. */
static enum status
by_index_join(struct op_inst *self, struct err *e)
{
	struct by_index *w = self->by_index;
	const uint64_t *index;
	uint32_t n = by_index_peek(w, &index);
	size_t bytes = 0;

	if (!n)
		return ST_END;
	for (uint32_t k = 0; k < n && bytes < RUN_BYTES; k++) {
		struct op_inst *in = self->in[by_index_owner(w, self->n_in, index[k])];
		struct elem x;

		if (self->out.n && !op_ready(in))
			break;
		enum status st = op_next(in, &x, e);
		if (st != ST_OK && st != ST_END)
			return st;
		by_index_used(w, 1);
		if (st == ST_END)
			continue;
		x.pos = 0;
		bytes += x.len;
		run_keep(&self->out, x);
	}
	return ST_OK;
}

static enum status
by_index_every(struct op_inst *self, struct err *e)
{
	struct by_index *w = self->by_index;
	uint64_t left = w->order->to - w->at;
	uint32_t n = left < RUN_USUAL ? (uint32_t)left : RUN_USUAL;

	if (!n)
		return ST_END;
	enum status st = self->desc->at_every(self, w->first + w->at * w->stride, w->stride, &n, &self->out, e);
	w->at += n;
	return st;
}

enum status
by_index_run(struct op_inst *self, struct err *e)
{
	const uint64_t *index;

	if (self->desc->kind == OP_COMBINE)
		return by_index_join(self, e);
	if (self->by_index->stride && self->desc->at_every)
		return by_index_every(self, e);
	uint32_t n = by_index_peek(self->by_index, &index);
	if (!n)
		return ST_END;
	enum status st = self->desc->at(self, index, &n, &self->out, e);
	by_index_used(self->by_index, n);
	return st;
}
