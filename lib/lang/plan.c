/* SPDX-License-Identifier: MIT
 *
 * The walk from the tree to a checked plan.
 */
#include "base/mem.h"
#include "lang/habit.h"
#include "lang/planner.h"
#include "op/facts.h"
#include "value/job_opts.h"

/* Types an operator without a `typing` callback: its expressions see x and i. */
static enum status
plan_type_usual(struct op_node *n, struct op_typing *t, const struct type **type, struct err *e)
{
	const struct type *x = n->n_in ? n->in[0]->type : NULL;

	for (const struct param *r = n->desc->params; r && r->kind; r++) {
		struct op_expr *ex = (struct op_expr *)((char *)n->params + r->offset);
		if (r->kind != PARAM_EXPR || !ex->ast)
			continue;
		enum status st = op_compile(t, ex, x, NULL, e);
		if (st)
			return st;
	}
	*type = x ? x : type_scalar(TYPE_ANY);
	return ST_OK;
}

static void
plan_note(struct planner *pl, struct op_node *n, const struct tree_stage *s)
{
	pl->ops = mem_grow(pl->ops, &pl->cap_ops, pl->plan->n_ops + 1, sizeof *pl->ops);
	pl->ops[pl->plan->n_ops++] = (struct planned){ n, s, false };
	n->place = (uint32_t)pl->plan->n_ops;
}

/* Checks that everything before an operator that reads by index allows it. */
static enum status
plan_permutes(struct planner *pl, struct op_node *n)
{
	const struct op_node *culprit = n;

	n->permutes = n->desc->permutes && n->desc->permutes(n, NULL, NULL) && n->n_in;
	if (!n->permutes || op_may_permute(n, &culprit, pl->e) == ST_OK)
		return ST_OK;
	/* The source of a fragment has no place in the text. */
	return plan_fail_on(pl, culprit->place ? culprit : n, ST_DATA);
}

/* Refuses an endless input of an operator that gives nothing before its input has ended. */
static enum status
plan_whole(struct planner *pl, const struct op_node *n, const struct tree_stage *s)
{
	if (!(n->desc->flags & OP_WHOLE) || !n->n_in || op_elements_of(n->in[0]) != INT64_MAX)
		return ST_OK;
	err_set(pl->e, ST_DATA, "`%s` needs its whole input first, but this input never ends",
		n->desc->name);
	err_help(pl->e, "put `take N` before it");
	return plan_fail_at(pl, s, s->at, s->len, ST_DATA);
}

static enum status
plan_op_fill(struct planner *pl, struct op_node *n, const struct tree_stage *s,
	     const struct type *outer)
{
	enum status st = fill_params(pl, n, s, outer);
	struct op_typing t = plan_typing(pl, s, outer);

	if (st)
		return plan_fail_at(pl, s, s->at, s->len, st);
	st = n->desc->typing ? n->desc->typing(n, &t, &n->type, pl->e) :
			       plan_type_usual(n, &t, &n->type, pl->e);
	if (!st)
		st = plan_whole(pl, n, s);
	if (st)
		return plan_fail_at(pl, s, s->at, s->len, st == ST_USAGE ? ST_DATA : st);
	if (n->desc->flags & OP_BORDER && (st = scope_border(pl, n)))
		return plan_fail_at(pl, s, s->at, s->len, st);
	plan_partial(pl, n, outer);
	struct buf text = { 0 };
	canon_print_stage(n, CANON_SHOWN, &text);
	n->text = buf_take(&text);
	return plan_permutes(pl, n);
}

/* Plans one operator; takes `up`. */
static enum status
plan_op(struct planner *pl, const struct tree_stage *s, struct op_node *up,
	const struct type *outer, struct op_node **out)
{
	struct op_node *n = mem_zalloc(sizeof *n);

	n->desc = s->desc;
	n->at = s->at;
	n->len = s->len;
	n->params = mem_zalloc(s->desc->state_size);
	param_defaults(s->desc->params, n->params);
	if (up) {
		n->in = mem_array(1, sizeof *n->in);
		n->in[n->n_in++] = up;
	}
	if (pl->plan->n_ops >= SPEC_OPS) {
		err_set(pl->e, ST_DATA, "more than %d operators, counting those in lets", SPEC_OPS);
		op_node_free(&n);
		return plan_fail_at(pl, s, s->at, s->len, ST_DATA);
	}
	plan_note(pl, n, s);
	enum status st = plan_op_fill(pl, n, s, outer);
	if (st)
		op_node_free(&n);
	*out = n;
	return st;
}

enum status
plan_pipe(struct planner *pl, const struct tree_pipe *pipe, struct op_node *up,
	  const struct type *outer, struct op_node **out)
{
	struct op_node *n = up;
	enum status st = ST_OK;

	*out = NULL;
	if (pl->depth >= 2 * SPEC_DEPTH) {
		err_set(pl->e, ST_DATA, "pipelines and lets are nested more than %d deep",
			2 * SPEC_DEPTH);
		err_place(pl->e, pipe->text->file, pipe->text->data, pipe->text->len, pipe->at,
			  pipe->len);
		op_node_free(&n);
		return ST_DATA;
	}
	pl->depth++;
	for (size_t i = 0; !st && i < pipe->n; i++) {
		const struct tree_stage *s = pipe->stages[i];
		struct op_node *made = NULL;
		if (s->group)
			st = plan_pipe(pl, s->group, n, outer, &made);
		else if (s->let)
			st = plan_pipe(pl, s->let, n, outer, &made);
		else
			st = plan_op(pl, s, n, outer, &made);
		n = made;
	}
	pl->depth--;
	*out = n;
	return st;
}

/* Checks that look at files come last, after everything that the text alone tells. */
static enum status
plan_check(struct planner *pl)
{
	for (size_t i = 0; i < pl->plan->n_ops; i++) {
		const struct planned *o = &pl->ops[i];
		if (o->remote)
			continue;
		if (o->node->desc->flags & OP_REMOTE && !pl->plan->n_service++)
			pl->plan->service = o->node;
		if (o->node->desc->flags & OP_REMOTE && !scope_at(o->node))
			pl->plan->n_own++;
		if (op_is_local(o->node))
			pl->plan->local = true;
		if ((pl->src->flags & SPEC_NO_CHECK) || !o->node->desc->check)
			continue;
		err_clear(pl->e);
		enum status st = o->node->desc->check(o->node, pl->e);
		if (st)
			return plan_fail_at(pl, o->stage, o->stage->at, o->stage->len,
					    st == ST_USAGE ? ST_DATA : st);
	}
	return ST_OK;
}

/* The flags for checking the plan, as far as they apply to it. */
static unsigned
plan_flags(const struct planner *pl)
{
	unsigned where = SPEC_SHARDED | SPEC_ON_WORKERS | SPEC_ORDERED | SPEC_NO_SHARES, flags = pl->src->flags;

	for (size_t i = 0; flags & SPEC_IF_WHOLE && i < pl->plan->n_ops; i++)
		if (!pl->ops[i].remote && pl->ops[i].node->desc->flags & OP_REMOTE)
			return flags & ~where;
	return flags;
}

static enum status
plan_scopes(struct planner *pl)
{
	unsigned flags = plan_flags(pl);
	enum status st = ST_OK;

	if (flags & (SPEC_SHARDED | SPEC_ON_WORKERS))
		st = scope_check(pl, pl->plan->top, flags & SPEC_SHARDED ? SHARD_DYNAMIC :
				 flags & SPEC_NO_SHARES ? SHARD_OFF : SHARD_HINT);
	if (!st && flags & SPEC_ORDERED)
		st = scope_order(pl, pl->plan->top, flags & SPEC_SEEDED);
	return st;
}

/* Options about the programs of the plan as a whole. */
static enum status
plan_programs(struct planner *pl)
{
	struct plan *p = pl->plan;
	bool on_workers = plan_flags(pl) & (SPEC_SHARDED | SPEC_ON_WORKERS);
	enum status st = p->top->desc->flags & OP_BORDER ? ST_OK : plan_tag(pl, p->top);

	return st == ST_OK && on_workers ? plan_log(pl, p->top, &p->type, &p->logged) : st;
}

static void
plan_take_options(struct plan *p, struct tree *t, const struct json_rules *said)
{
	p->options = t->options;
	json_rules_say(&p->options.json, said);
	t->options.on_error = t->options.nulls = NULL;
}

enum status
plan_make(const struct spec_src *src, struct plan **out, struct err *e)
{
	struct err none;
	struct planner pl = { .src = src, .e = e ? e : &none };
	enum status st;

	*out = NULL;
	st = tree_make(src, NULL, &pl.tree, pl.e);
	if (st) {
		habit_help(pl.e);
		return st;
	}
	struct plan *p = pl.plan = mem_zalloc(sizeof *p);
	p->arena = types_new();
	plan_take_options(p, pl.tree, &src->json);
	st = plan_pipe(&pl, pl.tree->result, NULL, NULL, &p->top);
	if (!st)
		st = plan_scopes(&pl);
	if (!st)
		st = plan_check(&pl);
	if (!st) {
		p->type = p->top->type;
		st = plan_programs(&pl);
	}
	if (!st) {
		p->global = scope_global(p->top);
		p->by_share = scope_by_share(p->top);
		project_plan(p->top, src->flags & SPEC_DISCARD, &p->options.json);
		*out = p;
	} else {
		habit_help(pl.e);
		plan_free(&p);
	}
	mem_free(pl.ops);
	tree_free(&pl.tree);
	return st;
}

void
plan_free(struct plan **p)
{
	if (!*p)
		return;
	op_node_free(&(*p)->top);
	types_free(&(*p)->arena);
	mem_free((*p)->options.on_error);
	mem_free((*p)->options.nulls);
	mem_free(*p);
	*p = NULL;
}

enum status
spec_print_tokens(const struct spec_src *src, struct buf *out, struct err *e)
{
	struct tree *t;
	enum status st = tree_make(src, out, &t, e);

	tree_free(&t);
	return st;
}

enum status
spec_print_tree(const struct spec_src *src, struct buf *out, struct err *e)
{
	struct tree *t;
	enum status st = tree_make(src, NULL, &t, e);

	if (!st)
		tree_print(t, out);
	tree_free(&t);
	return st;
}
