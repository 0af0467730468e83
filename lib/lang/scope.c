/* SPDX-License-Identifier: MIT
 *
 * What may stand ahead of the border between workers and this process.
 */
#include <string.h>

#include "base/mem.h"
#include "lang/planner.h"

static enum status
scope_fail(struct planner *pl, const struct op_node *n)
{
	const struct tree_stage *s = pl->ops[n->place - 1].stage;

	return plan_fail_at(pl, s, s->at, s->len, ST_DATA);
}

static enum status
scope_one(struct planner *pl, const struct op_node *n, bool dynamic)
{
	const char *name = n->desc->name;

	if (n->desc->flags & (OP_BORDER | OP_REMOTE)) {
		err_set(pl->e, ST_DATA, "`%s` takes its elements from the service; it cannot run on "
			"the service's workers", name);
		return scope_fail(pl, n);
	}
	if (op_is_local(n)) {
		err_set(pl->e, ST_DATA, "`%s` reads this process's own input; it cannot run on workers",
			name);
		err_help(pl->e, "put the data into a file that the workers see");
		return scope_fail(pl, n);
	}
	if (dynamic && n->desc->scope == OP_GLOBAL && !n->per_stream) {
		err_set(pl->e, ST_DATA, "`%s` means something only over all elements, but with "
			"dynamic sharding each worker sees a part of them", name);
		err_help(pl->e, "put it after `distribute`, or write per_stream=true to have it "
			 "for each worker's part");
		return scope_fail(pl, n);
	}
	return ST_OK;
}

enum status
scope_check(struct planner *pl, const struct op_node *n, bool dynamic)
{
	enum status st = ST_OK;

	while (n && !st) {
		st = scope_one(pl, n, dynamic);
		/* What is read by index is the same to whoever reads a part of it. */
		dynamic &= !n->permutes;
		for (size_t i = 1; !st && i < n->n_in; i++)
			st = scope_check(pl, n->in[i], dynamic);
		n = n->n_in ? n->in[0] : NULL;
	}
	return st;
}

/* Whether the border's operator shards dynamically: its parameter tells. */
static bool
scope_dynamic(const struct op_node *n)
{
	const struct param *row = param_find(n->desc->params, "sharding", 8);
	char word[32];

	return row && row->kind == PARAM_CHOICE &&
	       param_choice(row->choices, *(int *)((char *)n->params + row->offset), word,
			    sizeof word) &&
	       (!strcmp(word, "dynamic") || !strcmp(word, "distributed_epoch"));
}

/* All that stands ahead, inner pipelines too, has a place before the border's. */
static void
scope_mark(struct planner *pl, const struct op_node *n)
{
	uint32_t first = n->place;

	for (const struct op_node *m = n; m; m = m->n_in ? m->in[0] : NULL)
		if (m->place < first)
			first = m->place;
	for (uint32_t i = first; i < n->place; i++)
		pl->ops[i - 1].remote = true;
}

enum status
scope_border(struct planner *pl, struct op_node *n)
{
	enum status st = n->n_in ? scope_check(pl, n->in[0], scope_dynamic(n)) : ST_OK;
	struct plan part = { .top = n->n_in ? n->in[0] : NULL, .options = pl->plan->options };
	struct buf spec = { 0 };

	if (st || !part.top)
		return st;
	scope_mark(pl, n);
	plan_canonical(&part, CANON_ABSOLUTE, &spec);
	n->remote_spec = buf_take(&spec);
	/* From here on it is a source: nothing ahead of it ever runs here. */
	op_node_free(&n->in[0]);
	n->n_in = 0;
	if (!pl->plan->border)
		pl->plan->border = n;
	return ST_OK;
}
