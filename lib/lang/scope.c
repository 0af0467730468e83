/* SPDX-License-Identifier: MIT
 *
 * What may stand ahead of the border between workers and this process.
 */
#include <string.h>

#include "base/mem.h"
#include "value/job_opts.h"
#include "lang/planner.h"
#include "op/facts.h"

static bool
scope_has(const struct op_node *n, const char *name)
{
	const struct param *row = param_find(n->desc->params, name, strlen(name));

	return row && n->given >> (row - n->desc->params) & 1;
}

bool
scope_at(const struct op_node *n)
{
	return scope_has(n, "at");
}

/* A dataset of another service is a source like others, if each worker that reads it, or a
 * part of it again, gets the same. */
static enum status
scope_other(struct planner *pl, const struct op_node *n)
{
	static const char *const shared[] = { "job", "sharding", "shard", "epoch" };
	const char *name = n->desc->name;

	if (n->desc->flags & OP_BORDER || !scope_at(n)) {
		err_set(pl->e, ST_DATA, "`%s` takes its elements from the service; it cannot run on "
			"the service's workers", name);
		if (!(n->desc->flags & OP_BORDER))
			err_help(pl->e, "at=ENDPOINT names another service, whose datasets workers can read");
		return plan_fail_on(pl, n, ST_DATA);
	}
	for (size_t i = 0; i < sizeof shared / sizeof *shared; i++) {
		if (!scope_has(n, shared[i]))
			continue;
		err_set(pl->e, ST_DATA, "`%s` on workers takes no %s=: each stream reads all of the dataset, by itself",
			name, shared[i]);
		err_help(pl->e, "leave %s= out, or use `%s` after `distribute`", shared[i], name);
		return plan_fail_on(pl, n, ST_DATA);
	}
	return ST_OK;
}

static enum status
scope_one(struct planner *pl, const struct op_node *n)
{
	const char *name = n->desc->name;

	if (n->desc->flags & (OP_BORDER | OP_REMOTE))
		return scope_other(pl, n);
	if (op_is_local(n)) {
		err_set(pl->e, ST_DATA, "`%s` reads this process's own input; it cannot run on workers",
			name);
		err_help(pl->e, "put the data into a file that the workers can read");
		return plan_fail_on(pl, n, ST_DATA);
	}
	return ST_OK;
}

const struct op_node *
scope_global(const struct op_node *n)
{
	const struct op_node *found = NULL;

	while (n && !found) {
		if (op_scope_of(n) == OP_GLOBAL && !n->per_stream && !(n->desc->by_share && n->desc->by_share(n)))
			return n;
		/* Elements read by index are the same, whichever part of them is read. */
		if (n->permutes)
			return NULL;
		for (size_t i = 1; !found && i < n->n_in; i++)
			found = scope_global(n->in[i]);
		n = n->n_in ? n->in[0] : NULL;
	}
	return found;
}

/* In n, its inputs, and the pipelines inside of them. */
const struct op_node *
scope_by_share(const struct op_node *n)
{
	const struct op_node *found = NULL;

	for (; n && !found; n = n->n_in ? n->in[0] : NULL) {
		if (n->desc->by_share && n->desc->by_share(n))
			return n;
		for (const struct param *r = n->desc->params; r && r->kind && !found; r++) {
			struct op_node *const *pipe = (const void *)((const char *)n->params + r->offset);

			if (r->kind == PARAM_PIPE)
				found = scope_by_share(*pipe);
		}
		for (size_t i = 1; !found && i < n->n_in; i++)
			found = scope_by_share(n->in[i]);
	}
	return found;
}

enum status
plan_refuse_by_share(const struct op_node *n, struct err *e)
{
	err_set(e, ST_DATA, "`%s` needs a job with --sharding hint", op_text(n));
	err_help(e, "read it with --sharding hint, or write numbers in place of `auto`");
	return ST_DATA;
}

enum status
plan_refuse_global(const struct op_node *n, struct err *e)
{
	err_set(e, ST_DATA, "`%s` must see all elements, but with "
		"sharding dynamic or file each stream sees only some", n->desc->name);
	err_help(e, "put it after `distribute`, read with --sharding off, or write per_stream=true "
		 "to apply it to each worker's part");
	return ST_DATA;
}

static enum status
scope_all(struct planner *pl, const struct op_node *n)
{
	enum status st = ST_OK;

	while (n && !st) {
		st = scope_one(pl, n);
		for (size_t i = 1; !st && i < n->n_in; i++)
			st = scope_all(pl, n->in[i]);
		n = n->n_in ? n->in[0] : NULL;
	}
	return st;
}

enum status
scope_check(struct planner *pl, const struct op_node *n, int sharding)
{
	enum status st = scope_all(pl, n);
	const struct op_node *global = !st && job_in_parts(sharding) ? scope_global(n) : NULL;
	const struct op_node *by_share = !st && sharding != SHARD_HINT ? scope_by_share(n) : NULL;

	if (global)
		plan_refuse_global(global, pl->e);
	else if (by_share)
		plan_refuse_by_share(by_share, pl->e);
	else
		return st;
	return plan_fail_on(pl, global ? global : by_share, ST_DATA);
}

enum status
scope_order(struct planner *pl, const struct op_node *top, bool seeded)
{
	const struct op_node *culprit = top;

	seeded |= pl->plan->options.seed != PARAM_AUTO;
	if (op_in_order(top, seeded, &culprit, pl->e) == ST_OK)
		return ST_OK;
	return culprit->place ? plan_fail_on(pl, culprit, ST_DATA) : ST_DATA;
}

/* The job options of a `distribute` or `dataset`: their parameters begin with them. */
static const struct job_opts *
scope_job(const struct op_node *n)
{
	return n->params;
}

/* Checks that what stands before the border means on workers what it says. */
static enum status
scope_ahead(struct planner *pl, const struct op_node *n)
{
	const struct job_opts *job = scope_job(n);
	bool dynamic = job->sharding == SHARD_DYNAMIC;
	enum status st = scope_check(pl, n->in[0], job->sharding);

	if (!st && dynamic && job->order == ORDER_SOURCE && job->shards != 1)
		st = scope_order(pl, n->in[0], job->seeded);
	return st;
}

/* Marks everything before the border as remote. The places of its operators, inner pipelines
 * included, come before the border's. */
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

/* Whether the pipeline ends with this stage. */
static bool
scope_last(const struct tree_pipe *pipe, const struct tree_stage *s)
{
	const struct tree_stage *last = NULL;

	for (; pipe && pipe->n; pipe = last->group ? last->group : last->let)
		last = pipe->stages[pipe->n - 1];
	return last == s;
}

enum status
scope_border(struct planner *pl, struct op_node *n)
{
	enum status st = n->n_in ? scope_ahead(pl, n) : ST_OK;
	struct plan part = { .top = n->n_in ? n->in[0] : NULL, .options = pl->plan->options };
	struct buf spec = { 0 };

	if (!st && part.top && scope_last(pl->tree->result, pl->ops[n->place - 1].stage))
		st = plan_tag(pl, n->in[0]);
	if (!st && part.top)
		st = plan_log(pl, n->in[0], &n->type, &n->logged);
	if (st || !part.top)
		return st;
	n->endless = op_elements_of(part.top) == INT64_MAX;
	n->by_part = op_splits_alone(part.top);
	scope_mark(pl, n);
	plan_canonical(&part, CANON_ABSOLUTE, &spec);
	n->remote_spec = buf_take(&spec);
	/* From here on the border is a source: nothing before it runs in this process. */
	op_node_free(&n->in[0]);
	n->n_in = 0;
	if (!pl->plan->border)
		pl->plan->border = n;
	return ST_OK;
}
