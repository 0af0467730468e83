/* SPDX-License-Identifier: MIT
 *
 * Whether a plan that is run in several streams, each of which has parts of the source,
 * gives what one process gives once the parts are put behind one another.
 */
#include <string.h>

#include "op/chain.h"
#include "op/facts.h"

struct order_check {
	bool seeded;        /* random numbers must be the same in each run */
	const char *remedy; /* a remedy in addition to the usual ones */
	struct err *e;
};

static bool
order_seeded(const struct op_node *n, bool seeded)
{
	const struct param *row = param_find(n->desc->params, "seed", 4);

	if (row && row->kind == PARAM_INT)
		seeded |= param_given(row, n->params);
	return seeded;
}

/* Why this operator gives something else when it sees only parts; NULL: it does not. */
static const char *
order_random(const struct order_check *c, const struct op_node *n)
{
	bool draws = (n->desc->flags & OP_RANDOM) && !n->desc->partwise;

	if ((draws && order_seeded(n, c->seeded)) || (op_traits(n) & EXPR_DRAWS && c->seeded))
		return "its seed gives other numbers in each part of the source";
	return NULL;
}

static const char *
order_wrong(struct order_check *c, const struct op_node *n)
{
	const struct op_desc *d = n->desc;

	c->remedy = "";
	if (n->permutes)
		return NULL;
	if (op_traits(n) & EXPR_COUNTS)
		return "`i` starts again at 0 in each part of the source";
	if (op_scope_of(n) == OP_GLOBAL && n->per_stream)
		return "per_stream=true makes it work on each part of the source alone";
	if (d->times)
		return facts_covered(n) ? NULL : "each part of the source is repeated alone";
	if (d->partwise)
		return d->partwise(n, &c->remedy) ? NULL : "it works on each part of the source alone";
	if (op_scope_of(n) == OP_STREAM)
		return "it works on each part of the source alone";
	return order_random(c, n);
}

static enum status
order_fail(const struct order_check *c, const struct op_node *n, const char *why)
{
	err_set(c->e, ST_DATA, "with order `source`, `%s` would give something else than without a service: %s",
		op_text(n), why);
	err_help(c->e, "%sput it after `distribute`, or use a single stream: shards=1",
		 c->remedy);
	return ST_DATA;
}

/* Checks the pipelines inside an operator, which are read from their beginning for each element. */
static enum status
order_inner(const struct order_check *c, const struct op_node *n, const struct op_node **culprit)
{
	for (; n; n = n->n_in ? n->in[0] : NULL) {
		const char *why = order_random(c, n);

		if (why) {
			*culprit = n;
			return order_fail(c, n, why);
		}
		for (size_t k = 1; k < n->n_in; k++)
			if (order_inner(c, n->in[k], culprit))
				return ST_DATA;
	}
	return ST_OK;
}

static enum status
order_node(struct order_check *c, const struct op_node *n, const struct op_node **culprit)
{
	for (; n; n = n->n_in && !n->permutes ? n->in[0] : NULL) {
		const char *why = order_wrong(c, n);

		if (why) {
			*culprit = n;
			return order_fail(c, n, why);
		}
		for (const struct param *r = n->desc->params; r && r->kind; r++) {
			struct op_node *const *pipe = (const void *)((const char *)n->params + r->offset);

			if (r->kind == PARAM_PIPE && *pipe && order_inner(c, *pipe, culprit))
				return ST_DATA;
		}
		for (size_t k = 1; k < n->n_in && !n->permutes; k++)
			if (order_node(c, n->in[k], culprit))
				return ST_DATA;
	}
	return ST_OK;
}

bool
op_splits_alone(const struct op_node *n)
{
	const unsigned never = OP_RANDOM | OP_EXEC | OP_STORES | OP_REMOTE;
	bool alone = facts_cuttable(n);

	for (; alone && n; n = !facts_is_root(n) && n->n_in ? n->in[0] : NULL)
		alone = (n->permutes || !(n->desc->flags & never)) && !(op_traits(n) & (EXPR_DRAWS | EXPR_COUNTS));
	return alone;
}

bool
op_by_part(const struct op_node *n)
{
	const char *remedy;

	return n->desc->flags & OP_WHOLE && op_scope_of(n) == OP_STREAM && n->n_in && n->desc->partwise &&
	       n->desc->partwise(n, &remedy) && op_can_split(n) && op_splits_alone(n->in[0]);
}

enum status
op_in_order(const struct op_node *top, bool seeded, const struct op_node **culprit, struct err *e)
{
	struct order_check c = { seeded, "", e };
	const struct op_node *none;

	/* A plan that cannot be cut runs as one stream, and so is in order. */
	return op_can_split(top) ? order_node(&c, top, culprit ? culprit : &none) : ST_OK;
}
