/* SPDX-License-Identifier: MIT
 * group_by_window: collects SIZE elements of a key, puts them through a fragment
 * of their own, and gives what comes out of it.
 *
 *	... a1 b1 a2 | a3 ...     SIZE 3: a1 a2 a3 go through (| batch 3)
 *	     b: b1                 b1 waits for others, or for the end
 */
#include <string.h>

#include "base/mem.h"
#include "op/fragment.h"
#include "op/kit/expr_value.h"
#include "op/kit/key_table.h"
#include "value/mp.h"
#include "value/normal.h"

/* A key's elements, encoded end to end, since there may be very many keys with few elements. */
struct window_group {
	struct buf part;
	uint32_t n;
};

enum { GROUP_KEEP = 256 }; /* bytes of buffer that a key without elements may keep */

struct group_by_window {
	struct op_expr key;
	int64_t size, max_bytes;
	struct op_fragment inner;
	struct expr_value by;
	struct key_table keys;
	struct buf normal;
	struct window_group *groups; /* indexed by the key's number */
	size_t cap;
	size_t bytes;                /* size of all elements that wait */
	struct fragment fragment;
	struct run feed;             /* the window that the fragment was fed */
	bool active;
	uint32_t windows;            /* number of windows so far: each is a pass of its own */
	uint32_t at;                 /* in finish: the key to empty next */
};

static const struct param group_by_window_params[] = {
	{ "key", PARAM_EXPR, offsetof(struct group_by_window, key),
	  .help = "the key; elements with the same key are grouped" },
	{ "size", PARAM_INT, offsetof(struct group_by_window, size), .min = 1, .max = INT32_MAX,
	  .help = "number of elements of one key that make a window" },
	{ "fragment", PARAM_FRAGMENT, offsetof(struct group_by_window, inner),
	  .help = "the fragment that each window goes through, such as (| batch 10)" },
	{ "mem", PARAM_SIZE, offsetof(struct group_by_window, max_bytes), "1G",
	  .flags = PARAM_KEY_ONLY, .min = 1, .max = INT64_MAX,
	  .help = "bytes that the elements in incomplete windows may take" },
	{ 0 }
};

static enum status
group_by_window_typing(struct op_node *n, struct op_typing *t, const struct type **type,
		       struct err *e)
{
	struct group_by_window *g = n->params;

	*type = g->inner.tail->type;
	return expr_value_typing(n, t, &g->key, NULL, e);
}

static enum status
group_by_window_open(struct op_inst *self, struct err *e)
{
	struct group_by_window *g = self->state;

	expr_value_open(self, &g->by, &g->key);
	return fragment_open(self, &g->inner, &g->fragment, e);
}

static struct window_group *
group_by_window_group(struct group_by_window *g, const uint8_t *p, size_t len, uint32_t *number)
{
	size_t had = g->cap;
	bool fresh;

	p = normal_key(p, &len, &g->normal);
	*number = key_table_add(&g->keys, p, len, &fresh);
	if (*number >= g->cap) {
		g->groups = mem_grow(g->groups, &g->cap, (size_t)*number + 1, sizeof *g->groups);
		memset(g->groups + had, 0, (g->cap - had) * sizeof *g->groups);
	}
	return &g->groups[*number];
}

/* Feeds the elements of a group to the fragment, as a pass of its own. */
static enum status
group_by_window_start(struct op_inst *self, struct window_group *group, struct err *e)
{
	struct group_by_window *g = self->state;
	enum status st = g->windows ? fragment_rewind(&g->fragment, self->epoch + g->windows, e)
				    : ST_OK;

	if (st != ST_OK)
		return st;
	g->windows++;
	g->bytes -= group->part.len;
	run_reset(&g->feed);
	uint8_t *p = run_room(&g->feed, group->part.len);
	memcpy(p, group->part.data, group->part.len);
	for (const uint8_t *end = p + group->part.len; p < end;) {
		p = (uint8_t *)mp_skip(p, end);
		run_done(&g->feed, p, 0);
	}
	if (group->part.cap > GROUP_KEEP)
		/* a key that never comes again must not keep much memory */
		buf_clear(&group->part);
	else
		buf_reset(&group->part);
	group->n = 0;
	fragment_feed(&g->fragment, &g->feed);
	fragment_end(&g->fragment);
	g->active = true;
	return ST_OK;
}

/* Gives the next run that comes out of the fragment. */
static enum status
group_by_window_drain(struct op_inst *self, struct err *e)
{
	struct group_by_window *g = self->state;
	enum status st = fragment_pull(&g->fragment, &self->give, e);

	if (st == ST_END) {
		g->active = false;
		self->give = NULL;
		return ST_END;
	}
	return st;
}

static enum status
group_by_window_too_large(struct op_inst *self, struct err *e)
{
	struct group_by_window *g = self->state;

	err_set(e, ST_DATA, "%u keys with incomplete windows hold more than mem=%lld "
		"bytes", g->keys.n, (long long)g->max_bytes);
	err_help(e, "make windows smaller, or mem= larger");
	return op_blame(self->node, e);
}

static enum status
group_by_window_feed(struct op_inst *self, const struct run *in, struct run *out, struct err *e)
{
	struct group_by_window *g = self->state;
	const uint8_t *p;
	uint32_t number;
	size_t len;
	enum status st;

	if (g->active && (st = group_by_window_drain(self, e)) != ST_END)
		return st == ST_OK ? ST_AGAIN : st;
	for (; self->at < in->n; self->at++) {
		if (out->n) /* on_error kept an element: it is given first */
			return ST_AGAIN;
		st = expr_value_get(self, &g->by, in, self->at, out, &p, &len, e);
		if (st == ST_SKIP)
			continue;
		if (st != ST_OK)
			return st;
		struct window_group *group = group_by_window_group(g, p, len, &number);
		const struct elem *x = &in->e[self->at];

		buf_put(&group->part, x->p, x->len);
		group->n++;
		g->bytes += x->len;
		if (g->bytes + key_table_size(&g->keys) > (size_t)g->max_bytes)
			return group_by_window_too_large(self, e);
		if (group->n < g->size)
			continue;
		if ((st = group_by_window_start(self, group, e)) != ST_OK)
			return st;
		self->at++;
		st = group_by_window_drain(self, e);
		return st == ST_OK || st == ST_END ? ST_AGAIN : st;
	}
	return ST_OK;
}

static enum status
group_by_window_finish(struct op_inst *self, struct run *out, struct err *e)
{
	struct group_by_window *g = self->state;
	enum status st;

	(void)out;
	for (;;) {
		if (g->active && (st = group_by_window_drain(self, e)) != ST_END)
			return st;
		while (g->at < g->keys.n && !g->groups[g->at].n)
			g->at++;
		if (g->at == g->keys.n)
			return ST_END;
		st = group_by_window_start(self, &g->groups[g->at++], e);
		if (st != ST_OK)
			return st;
	}
}

static void
group_by_window_empty(struct group_by_window *g)
{
	for (size_t k = 0; k < g->cap; k++)
		buf_clear(&g->groups[k].part);
	mem_free(g->groups);
	g->groups = NULL;
	g->cap = g->bytes = 0;
	key_table_clear(&g->keys);
}

static void
group_by_window_close(struct op_inst *self)
{
	struct group_by_window *g = self->state;

	fragment_close(&g->fragment);
	group_by_window_empty(g);
	run_clear(&g->feed);
	buf_clear(&g->normal);
	expr_value_close(&g->by);
}

static void
group_by_window_save(struct op_inst *self, struct buf *out)
{
	struct group_by_window *g = self->state;

	expr_value_save(&g->by, out);
	state_put_u64(out, g->windows);
	state_put_u64(out, g->at);
	state_put_u64(out, g->keys.n);
	for (uint32_t k = 0; k < g->keys.n; k++) {
		uint32_t len;
		const uint8_t *p = key_table_at(&g->keys, k, &len);

		state_put_bytes(out, p, len);
		state_put_u64(out, g->groups[k].n);
		state_put_bytes(out, g->groups[k].part.data, g->groups[k].part.len);
	}
	state_put_u64(out, g->active);
	if (g->active && !fragment_save(&g->fragment, out))
		self->unsaved = true;
}

static void
group_by_window_restore_groups(struct group_by_window *g, struct state_in *in)
{
	uint64_t n = state_get_u64(in, KEY_TABLE_MAX);
	const uint8_t *p;
	uint32_t number;
	size_t len;

	group_by_window_empty(g);
	for (uint64_t k = 0; k < n && state_get_value(in, &p, &len); k++) {
		struct window_group *group = group_by_window_group(g, p, len, &number);

		if (number != k) {
			in->bad = true;
			return;
		}
		group->n = (uint32_t)state_get_u64(in, (uint64_t)g->size);
		state_get_bytes(in, &p, &len);
		buf_put(&group->part, p, len);
		g->bytes += len;
		for (uint32_t i = 0; i < group->n && !in->bad; i++) {
			const uint8_t *next = mp_check_next(p, group->part.data ? p + len : p);

			in->bad = !next;
			len -= next ? (size_t)(next - p) : 0;
			p = next;
		}
		in->bad = in->bad || len;
	}
}

static enum status
group_by_window_restore(struct op_inst *self, const uint8_t *p, size_t n, struct err *e)
{
	struct group_by_window *g = self->state;
	struct state_in in = state_begin(p, n);
	enum status st = ST_OK;
	const uint8_t *own;
	size_t len;

	expr_value_restore(&g->by, &in);
	g->windows = (uint32_t)state_get_u64(&in, UINT32_MAX);
	uint64_t at = state_get_u64(&in, KEY_TABLE_MAX);
	group_by_window_restore_groups(g, &in);
	g->at = at <= g->keys.n ? (uint32_t)at : g->keys.n;
	g->active = state_get_u64(&in, 1);
	if (g->active && state_get_bytes(&in, &own, &len))
		st = fragment_restore(&g->fragment, own, len, e);
	return st == ST_OK ? state_finish(self, &in, e) : st;
}

const struct op_desc op_group_by_window = {
	.name = "group_by_window",
	.brief = "sends SIZE elements of one key at a time through a fragment",
	.doc = "Elements are collected by key. When a key has SIZE elements, they go through the fragment, "
	       "which starts afresh for each window, and the fragment's output is passed on. Windows that are "
	       "not full are given at the end, in the order in which their keys first appeared.",
	.kind = OP_TRANSFORM,
	.scope = OP_STREAM,
	.flags = OP_REORDERS | OP_ALIKE,
	.params = group_by_window_params,
	.state_size = sizeof(struct group_by_window),
	.typing = group_by_window_typing,
	.open = group_by_window_open,
	.feed = group_by_window_feed,
	.finish = group_by_window_finish,
	.close = group_by_window_close,
	.save = group_by_window_save,
	.restore = group_by_window_restore,
	.example = "range 7 | group_by_window x % 2 3 (| batch 3)",
	.output = "[0,2,4]\n[1,3,5]\n[6]\n",
};
