/* SPDX-License-Identifier: MIT */
#include "op/whole/group_by_lanes.h"

#include <pthread.h>
#include <string.h>

#include "base/mem.h"
#include "base/mem_wide.h"
#include "base/thread.h"
#include "base/trace.h"
#include "op/whole/group_by_giving.h"
#include "value/mp.h"
#include "value/normal.h"

/* A row is this head, the form in which its key is shown if that differs, its key, and its values with
 * their lengths; heads are copied out, for they lie at any place. */
struct group_by_row {
	uint32_t code;
	uint32_t len;   /* bytes of the key */
	uint32_t shown; /* length of the form to show; 0: the key itself */
	uint32_t size;  /* bytes of the values */
	uint64_t number; /* that of the element, times two; plus one: it has no value to add */
};

struct group_by_batch {
	struct group_by_batch *next;
	struct buf rows;
};

struct group_by_lane {
	struct group_by_lanes *all;
	pthread_t thread;
	struct group_by table; /* its keys and groups; of the lane's thread, and of the stream while the lane is idle */
	uint64_t *firsts;      /* number of the first element of each key */
	size_t cap_firsts;
	struct group_by_batch *filling; /* which the stream writes to; NULL: none */
	pthread_cond_t news;   /* a batch has come, or the lanes are to stop */
	/* guarded by the lock */
	struct group_by_batch *first, **last, *spare;
	uint32_t waiting;      /* batches that are queued or being added */
	size_t size;           /* bytes of the table, after the batch added last */
	const char *why;       /* reason why a value could not be added; NULL: none */
};

struct group_by_lanes {
	struct group_by_lane *v;
	uint32_t n, started;
	bool quit;             /* guarded by the lock */
	bool over;             /* everything has been added, and keys are being given */
	uint64_t seen;         /* number of the next element */
	pthread_mutex_t lock;
	pthread_cond_t done;   /* a batch has been added */
};

/* ---- the lanes' threads ---- */

/* Adds an element: NULL, or why its value cannot be added. */
static const char *
group_by_lane_add(struct group_by_lane *l, const struct group_by_row *row, const uint8_t *p)
{
	struct group_by *t = &l->table;
	const uint8_t *value = p + row->shown + row->len;
	uint32_t n = t->rows.keys.n, at = group_by_find(t, p + row->shown, row->len, row->shown, row->code);

	if (t->rows.keys.n > n) {
		l->firsts = mem_grow_wide(l->firsts, &l->cap_firsts, (size_t)n + 1, sizeof *l->firsts);
		l->firsts[n] = row->number >> 1;
	}
	if (row->number & 1)
		return NULL;
	struct group *to = &t->groups[at * t->each];
	if (t->aggs.n) {
		aggregates_read(&t->aggs, value);
		return aggregates_add_sound(&t->aggs, to, at, &t->cells, &t->bytes);
	}
	return group_add(to, (enum group_agg)t->agg, value, row->size, &t->cells, &t->bytes);
}

static const char *
group_by_lane_batch(struct group_by_lane *l, const struct buf *rows)
{
	struct group_by *t = &l->table;
	struct group_by_row row[GROUP_BY_AHEAD];
	const char *why = NULL;

	for (size_t at = 0; at < rows->len && !why;) {
		size_t end = at;
		uint32_t n = 0;

		for (; n < GROUP_BY_AHEAD && end < rows->len; n++) {
			memcpy(&row[n], rows->data + end, sizeof *row);
			end += sizeof *row + row[n].shown + row[n].len + row[n].size;
			t->ahead[n].code = row[n].code;
			key_table_want(&t->rows.keys, row[n].code);
		}
		if (t->rows.keys.n)
			group_by_fetch(t, n);
		for (uint32_t k = 0; k < n && !why; k++) {
			at += sizeof *row;
			why = group_by_lane_add(l, &row[k], rows->data + at);
			at += row[k].shown + row[k].len + row[k].size;
		}
	}
	return why;
}

static void *
group_by_lane_work(void *arg)
{
	struct group_by_lane *l = arg;
	struct group_by_lanes *c = l->all;

	pthread_mutex_lock(&c->lock);
	while (!c->quit) {
		struct group_by_batch *b = l->first;

		if (!b) {
			pthread_cond_wait(&l->news, &c->lock);
			continue;
		}
		l->first = b->next;
		if (!l->first)
			l->last = &l->first;
		pthread_mutex_unlock(&c->lock);
		const char *why = group_by_lane_batch(l, &b->rows);
		size_t size = group_by_size(&l->table);
		pthread_mutex_lock(&c->lock);
		l->why = l->why ? l->why : why;
		l->size = size;
		l->waiting--;
		b->next = l->spare;
		l->spare = b;
		pthread_cond_signal(&c->done);
	}
	pthread_mutex_unlock(&c->lock);
	return NULL;
}

/* ---- the stream's thread ---- */

bool
group_by_lanes_may(const struct op_inst *self)
{
	const struct group_by *g = self->state;

	return self->ctx->threads >= GROUP_BY_LANES_LEAST && !self->outer && g->partial == PARTIAL_NONE && !g->reduce.code;
}

enum status
group_by_lanes_open(struct op_inst *self, struct err *e)
{
	struct group_by *g = self->state;
	struct group_by_lanes *c = mem_zalloc(sizeof *c);
	enum status st = ST_OK;

	c->n = self->ctx->threads < GROUP_BY_LANES_MOST ? self->ctx->threads : GROUP_BY_LANES_MOST;
	c->v = mem_array(c->n, sizeof *c->v);
	pthread_mutex_init(&c->lock, NULL);
	pthread_cond_init(&c->done, NULL);
	g->lanes = c;
	for (uint32_t i = 0; i < c->n; i++) {
		struct group_by_lane *l = &c->v[i];

		*l = (struct group_by_lane){ .all = c, .table = { .agg = g->agg, .named = g->named, .each = g->each } };
		l->last = &l->first;
		pthread_cond_init(&l->news, NULL);
		aggregates_open(self, &l->table.aggs, &l->table.named, false);
	}
	for (uint32_t i = 0; i < c->n && !st; i++) {
		st = thread_start(&c->v[i].thread, group_by_lane_work, &c->v[i], "group_by", e);
		c->started += st == ST_OK;
	}
	return st;
}

static void
group_by_batches_free(struct group_by_batch *b)
{
	for (struct group_by_batch *next; b; b = next) {
		next = b->next;
		buf_clear(&b->rows);
		mem_free(b);
	}
}

void
group_by_lanes_close(struct group_by_lanes **lanes)
{
	struct group_by_lanes *c = *lanes;

	*lanes = NULL;
	if (!c)
		return;
	pthread_mutex_lock(&c->lock);
	c->quit = true;
	for (uint32_t i = 0; i < c->n; i++)
		pthread_cond_signal(&c->v[i].news);
	pthread_mutex_unlock(&c->lock);
	for (uint32_t i = 0; i < c->started; i++)
		pthread_join(c->v[i].thread, NULL);
	for (uint32_t i = 0; i < c->n; i++) {
		struct group_by_lane *l = &c->v[i];

		group_by_tables_free(&l->table);
		mem_free_wide(l->firsts, l->cap_firsts, sizeof *l->firsts);
		group_by_batches_free(l->first);
		group_by_batches_free(l->spare);
		group_by_batches_free(l->filling);
		pthread_cond_destroy(&l->news);
	}
	pthread_cond_destroy(&c->done);
	pthread_mutex_destroy(&c->lock);
	mem_free(c->v);
	mem_free(c);
}

/* Waits until a batch has been added; the lock is held. */
static void
group_by_lanes_wait(struct group_by_lanes *c)
{
	int64_t began = trace_begin();

	pthread_cond_wait(&c->done, &c->lock);
	trace_span(began, TRACE_HELD, NULL, 0, 0, 0);
}

static void
group_by_lanes_send(struct group_by_lane *l)
{
	struct group_by_lanes *c = l->all;
	struct group_by_batch *b = l->filling;

	if (!b)
		return;
	l->filling = b->next = NULL;
	pthread_mutex_lock(&c->lock);
	while (l->waiting >= GROUP_BY_LANES_QUEUE)
		group_by_lanes_wait(c);
	*l->last = b;
	l->last = &b->next;
	l->waiting++;
	pthread_cond_signal(&l->news);
	pthread_mutex_unlock(&c->lock);
}

/* The batch that the lane's next row goes into, with room for so many bytes. */
static struct buf *
group_by_lanes_room(struct group_by_lane *l, size_t size)
{
	struct group_by_lanes *c = l->all;

	if (l->filling && l->filling->rows.len + size > GROUP_BY_LANES_BATCH)
		group_by_lanes_send(l);
	if (!l->filling) {
		pthread_mutex_lock(&c->lock);
		l->filling = l->spare;
		if (l->spare)
			l->spare = l->spare->next;
		pthread_mutex_unlock(&c->lock);
		if (!l->filling)
			l->filling = mem_zalloc(sizeof *l->filling);
		if (l->filling->rows.cap > 2 * GROUP_BY_LANES_BATCH)
			buf_clear(&l->filling->rows); /* it had one large element */
		buf_reset(&l->filling->rows);
	}
	return &l->filling->rows;
}

/* Evaluates the value of the element, or the values: *p and *size are what the row gets of one value. ST_SKIP:
 * none is to be added. */
static enum status
group_by_lanes_value(struct op_inst *self, const struct run *in, uint32_t i, struct run *out, const uint8_t **p,
		     size_t *size, struct err *e)
{
	struct group_by *g = self->state;
	enum group_agg agg = (enum group_agg)g->agg;
	const char *why;
	enum status st;

	if (g->aggs.n) {
		st = aggregates_values(self, &g->aggs, in, i, out, e);
		*size = st ? 0 : aggregates_row_size(&g->aggs);
		why = st ? NULL : aggregates_refuse(&g->aggs);
		if (*size > UINT32_MAX)
			why = "the values of an element take more than 4 GiB";
	} else if (agg == GROUP_COUNT) {
		return ST_OK;
	} else {
		st = expr_value_get(self, &g->value, in, i, out, p, size, e);
		if (!st && group_by_leaves_null(agg) && **p == MP_NIL_BYTE)
			st = ST_SKIP;
		why = st ? NULL : group_refuses(agg, *p, *size);
	}
	if (!why)
		return st;
	st = expr_run_wrong(self, in, i, out, e, "%s", why);
	return st ? st : ST_SKIP;
}

/* Sends an element to the lane of its key: ST_OK, or the error. */
static enum status
group_by_lanes_put(struct op_inst *self, const struct run *in, uint32_t i, struct run *out, struct err *e)
{
	struct group_by *g = self->state;
	struct group_by_lanes *c = g->lanes;
	const uint8_t *key, *p = NULL;
	size_t len, normal_len, size = 0;
	uint64_t number = c->seen++;
	enum status st = expr_value_get(self, &g->by, in, i, out, &key, &len, e);

	if (st)
		return st;
	normal_len = len;
	const uint8_t *normal = normal_key(key, &normal_len, &g->rows.normal);
	st = group_by_lanes_value(self, in, i, out, &p, &size, e);
	if (st && st != ST_SKIP)
		return st;
	bool bare = st == ST_SKIP;
	struct group_by_row row = { .code = key_table_code(normal, normal_len), .len = (uint32_t)normal_len,
				    .shown = normal == key ? 0 : (uint32_t)len, .size = bare ? 0 : (uint32_t)size,
				    .number = number << 1 | bare };
	size_t all = sizeof row + row.shown + row.len + row.size;
	struct buf *to = group_by_lanes_room(&c->v[(uint64_t)row.code * c->n >> 32], all);
	uint8_t *at = buf_room(to, all);

	memcpy(at, &row, sizeof row);
	at += sizeof row;
	if (row.shown)
		memcpy(at, key, row.shown);
	at += row.shown;
	memcpy(at, normal, row.len);
	at += row.len;
	if (row.size && g->aggs.n)
		aggregates_write(&g->aggs, at);
	else if (row.size)
		memcpy(at, p, row.size);
	to->len += all;
	return ST_OK;
}

/* Waits until the lanes have added everything that was sent. */
static void
group_by_lanes_drain(struct group_by_lanes *c)
{
	for (uint32_t i = 0; i < c->n; i++)
		group_by_lanes_send(&c->v[i]);
	pthread_mutex_lock(&c->lock);
	for (uint32_t i = 0; i < c->n;)
		if (c->v[i].waiting)
			group_by_lanes_wait(c);
		else
			i++;
	pthread_mutex_unlock(&c->lock);
}

/* Gives the size of all tables, and in *why what went wrong in one of them; NULL: nothing. */
static size_t
group_by_lanes_look(struct group_by_lanes *c, const char **why)
{
	size_t size = 0;

	*why = NULL;
	pthread_mutex_lock(&c->lock);
	for (uint32_t i = 0; i < c->n; i++) {
		size += c->v[i].size;
		*why = *why ? *why : c->v[i].why;
	}
	pthread_mutex_unlock(&c->lock);
	return size;
}

static size_t
group_by_slots_size(const struct key_table *k)
{
	return k->n_slots * sizeof *k->slots;
}

/* The size of one table in place of those of the lanes, so that mem= is enough or not however many there are. */
static size_t
group_by_lanes_size(const struct group_by_lanes *c, uint32_t *keys)
{
	size_t size = 0;

	*keys = 0;
	for (uint32_t i = 0; i < c->n; i++) {
		const struct group_by *t = &c->v[i].table;

		size += group_by_size(t) - group_by_slots_size(&t->rows.keys);
		*keys += t->rows.keys.n;
	}
	size += key_table_slots_size(*keys);
	for (size_t k = 0; k < c->v[0].table.aggs.n; k++) {
		size_t seen = 0;

		for (uint32_t i = 0; i < c->n; i++) {
			const struct key_table *of = &c->v[i].table.aggs.v[k].seen;

			size -= group_by_slots_size(of);
			seen += of->n;
		}
		size += key_table_slots_size(seen);
	}
	return size;
}

/* Makes quantiles approximate when the tables take more than mem=: ST_OK, or the error if that does not help. */
static enum status
group_by_lanes_fit(struct op_inst *self, struct err *e)
{
	struct group_by *g = self->state;
	struct group_by_lanes *c = g->lanes;
	uint32_t keys;

	group_by_lanes_drain(c);
	if (group_by_lanes_size(c, &keys) <= (size_t)g->mem)
		return ST_OK;
	for (uint32_t i = 0; i < c->n; i++) {
		group_by_squeeze(&c->v[i].table);
		c->v[i].size = group_by_size(&c->v[i].table);
	}
	return group_by_lanes_size(c, &keys) <= (size_t)g->mem ? ST_OK : group_by_too_large(self, keys, e);
}

enum status
group_by_lanes_feed(struct op_inst *self, const struct run *in, struct run *out, struct err *e)
{
	struct group_by *g = self->state;
	const char *why;

	for (uint32_t i = 0; i < in->n; i++) {
		enum status st = group_by_lanes_put(self, in, i, out, e);

		if (st && st != ST_SKIP)
			return st;
	}
	out->n = 0; /* with on_error=keep, an element that fails here has no place in the output */
	size_t size = group_by_lanes_look(g->lanes, &why);
	if (why) {
		err_set(e, ST_DATA, "%s", why);
		return op_blame(self->node, e);
	}
	return size <= (size_t)g->mem ? ST_OK : group_by_lanes_fit(self, e);
}

/* All has been sent: looks at limits and errors for the last time. */
static enum status
group_by_lanes_end(struct op_inst *self, struct err *e)
{
	struct group_by *g = self->state;
	struct group_by_lanes *c = g->lanes;
	const char *why;
	bool squeezed = false, approx = false;
	enum status st = group_by_lanes_fit(self, e);

	group_by_lanes_look(c, &why);
	if (!st && why) {
		err_set(e, ST_DATA, "%s", why);
		st = op_blame(self->node, e);
	}
	for (uint32_t i = 0; i < c->n; i++)
		squeezed = squeezed || group_by_squeezed(&c->v[i].table);
	for (uint32_t i = 0; i < c->n && squeezed; i++)
		group_by_squeeze(&c->v[i].table);
	for (uint32_t i = 0; i < c->n; i++)
		approx = approx || group_by_approx(&c->v[i].table);
	for (uint32_t i = 0; i < c->n; i++)
		c->v[i].table.approx = approx;
	c->over = st == ST_OK;
	return st;
}

enum status
group_by_lanes_finish(struct op_inst *self, struct run *out, struct err *e)
{
	struct group_by *g = self->state;
	struct group_by_lanes *c = g->lanes;
	enum status st = c->over ? ST_OK : group_by_lanes_end(self, e);

	if (!st && !g->giving) {
		struct group_by_from from[GROUP_BY_LANES_MOST];

		for (uint32_t i = 0; i < c->n; i++)
			from[i] = (struct group_by_from){ .table = &c->v[i].table, .firsts = c->v[i].firsts };
		g->giving = group_by_giving_begin(self, from, c->n);
	}
	return st ? st : group_by_giving_take(g->giving, out, e);
}
