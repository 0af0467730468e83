/* SPDX-License-Identifier: MIT */
#include "op/whole/group_by_giving.h"

#include <stdlib.h>
#include <string.h>

#include "base/ahead.h"
#include "base/mem.h"
#include "op/whole/group_by_lanes.h"
#include "value/mp.h"

enum {
	GIVING_FETCH = 16,  /* how many keys ahead what a key has is prefetched */
	GIVING_LEAST = 4,   /* runs from which on they are made ahead */
	GIVING_SMALL = 64   /* bytes that a key and its values have on average, for it */
};

/* A run that is being made, or is there. */
struct giving_slot {
	struct run made;
	enum status code;
	struct err err;
};

struct group_by_giving {
	const struct op_inst *self;
	struct group_by_from *from;
	uint32_t n;             /* tables */
	struct ahead ahead;
	uint64_t *edges;        /* where the keys of each run came first; NULL: none is made ahead */
	size_t runs, run;       /* how many there are, and the next */
	struct giving_slot *slots;
	size_t n_slots;
};

/* ---- records ---- */

/* One record with the fields that the aggregates have. */
static void
group_by_give_named(const struct group_by *g, uint32_t at, struct run *out)
{
	const struct group *from = &g->groups[at * g->each];
	uint32_t len;
	const uint8_t *key = row_keys_at(&g->rows, at, &len);
	uint8_t *p = run_room(out, (size_t)MP_HEAD_MAX + 4 + len + aggregates_room(&g->aggs, from));

	p = mp_put_text(mp_put_record_head(p, 1 + aggregates_fields(&g->aggs, g->approx)), "key", 3);
	memcpy(p, key, len);
	run_done(out, aggregates_put(&g->aggs, from, g->approx, p + len), 0);
}

static void
group_by_give_value(const struct group_by *g, uint32_t at, struct run *out)
{
	const struct group *from = &g->groups[at];
	uint32_t len;
	const uint8_t *key = row_keys_at(&g->rows, at, &len);
	uint8_t *p = run_room(out, (size_t)MP_HEAD_MAX + 10 + len + group_room(from));

	p = mp_put_text(mp_put_record_head(p, 2), "key", 3);
	memcpy(p, key, len);
	p = mp_put_text(p + len, "value", 5);
	if (g->reduce.code)
		p = group_put_state(from, p);
	else if (group_by_leaves_null((enum group_agg)g->agg) && !from->n)
		p = mp_put_nil(p);
	else
		p = group_put(from, (enum group_agg)g->agg, p);
	run_done(out, p, 0);
}

static enum status
group_by_give(const struct op_inst *self, const struct group_by *g, uint32_t at, struct run *out, struct err *e)
{
	const char *why = NULL;

	if (g->rows.keys.n - at > GIVING_FETCH)
		group_by_fetch_cells(g, at + GIVING_FETCH);
	for (size_t k = 0; k < g->each && !why && !g->reduce.code; k++)
		why = group_wrong(&g->groups[at * g->each + k],
				  g->aggs.n ? aggregates_kind(&g->aggs, k) : (enum group_agg)g->agg);
	if (why) {
		err_set(e, ST_DATA, "%s", why);
		return op_blame(self->node, e);
	}
	if (g->aggs.n)
		group_by_give_named(g, at, out);
	else
		group_by_give_value(g, at, out);
	return ST_OK;
}

/* Where the table's next key came first. */
static uint64_t
giving_number(const struct group_by_from *f, uint32_t at)
{
	return f->firsts ? f->firsts[at] : at;
}

/* The table with the key that came first among those not given; NULL: all were given. */
static struct group_by_from *
giving_next(struct group_by_from *from, uint32_t n)
{
	struct group_by_from *best = NULL;

	for (uint32_t i = 0; i < n; i++) {
		struct group_by_from *f = &from[i];

		if (f->at < f->table->rows.keys.n &&
		    (!best || giving_number(f, f->at) < giving_number(best, best->at)))
			best = f;
	}
	return best;
}

/* ---- runs made ahead ---- */

/* The first key of the table that came at `number` or behind it. */
static uint32_t
giving_find(const struct group_by_from *f, uint64_t number)
{
	uint32_t low = f->at, high = f->table->rows.keys.n;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (giving_number(f, mid) < number)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static void
giving_work(void *arg, size_t run)
{
	const struct group_by_giving *v = arg;
	struct giving_slot *slot = &v->slots[run % v->n_slots];
	struct group_by_from from[GROUP_BY_LANES_MOST], *f;

	run_reset(&slot->made);
	slot->code = ST_OK;
	for (uint32_t i = 0; i < v->n; i++) {
		from[i] = v->from[i];
		from[i].at = giving_find(&v->from[i], v->edges[run]);
	}
	while (!slot->code && (f = giving_next(from, v->n)) && giving_number(f, f->at) < v->edges[run + 1])
		slot->code = group_by_give(v->self, f->table, f->at++, &slot->made, &slot->err);
}

static int
giving_compare(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* Whether there are many keys, and little for each to be given. */
static bool
giving_many(const struct group_by_giving *v)
{
	size_t keys = 0, bytes = 0;

	for (uint32_t i = 0; i < v->n; i++) {
		const struct group_by *t = v->from[i].table;

		keys += t->rows.keys.n - v->from[i].at;
		bytes += t->rows.keys.len + t->rows.shown.bytes.len + t->bytes;
	}
	return keys >= (size_t)GIVING_LEAST * RUN_USUAL && bytes <= keys * GIVING_SMALL;
}

/* Begins with runs that have at most RUN_USUAL keys of each table. */
static void
giving_ahead(struct group_by_giving *v)
{
	size_t most = 1;

	for (uint32_t i = 0; i < v->n; i++)
		most += (v->from[i].table->rows.keys.n - v->from[i].at) / RUN_USUAL + 1;
	v->edges = mem_array(most, sizeof *v->edges);
	for (uint32_t i = 0; i < v->n; i++)
		for (uint32_t at = v->from[i].at; at < v->from[i].table->rows.keys.n; at += RUN_USUAL)
			v->edges[v->runs++] = giving_number(&v->from[i], at);
	qsort(v->edges, v->runs, sizeof *v->edges, giving_compare);
	v->edges[v->runs] = UINT64_MAX;
	v->n_slots = pool_size() + 1;
	v->slots = mem_zalloc(v->n_slots * sizeof *v->slots);
	for (size_t i = 0; i < v->n_slots; i++)
		run_init(&v->slots[i].made);
	ahead_begin_within(&v->ahead, v->runs, v->n_slots - 1, giving_work, v);
}

struct group_by_giving *
group_by_giving_begin(const struct op_inst *self, const struct group_by_from *from, uint32_t n)
{
	struct group_by_giving *v = mem_zalloc(sizeof *v);

	v->self = self;
	v->n = n;
	v->from = mem_array(n, sizeof *v->from);
	memcpy(v->from, from, n * sizeof *from);
	if (pool_size() > 1 && giving_many(v))
		giving_ahead(v);
	return v;
}

enum status
group_by_giving_take(struct group_by_giving *v, struct run *out, struct err *e)
{
	struct group_by_from *f = NULL;
	enum status st = ST_OK;

	if (v->edges) {
		struct giving_slot *slot = &v->slots[v->run % v->n_slots];
		struct run before = *out;

		if (v->run == v->runs)
			return ST_END;
		ahead_need(&v->ahead, v->run++);
		*out = slot->made;
		slot->made = before;
		if (slot->code)
			*e = slot->err;
		return slot->code;
	}
	while (!st && (f = giving_next(v->from, v->n)) && out->n < RUN_USUAL && !run_full(out))
		st = group_by_give(v->self, f->table, f->at++, out, e);
	return st || f ? st : ST_END;
}

void
group_by_giving_end(struct group_by_giving **vp)
{
	struct group_by_giving *v = *vp;

	*vp = NULL;
	if (!v)
		return;
	ahead_end(&v->ahead);
	for (size_t i = 0; i < v->n_slots; i++)
		run_clear(&v->slots[i].made);
	mem_free(v->slots);
	mem_free(v->edges);
	mem_free(v->from);
	mem_free(v);
}
