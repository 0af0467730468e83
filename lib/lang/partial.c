/* SPDX-License-Identifier: MIT
 *
 * Aggregates on workers. An operator right behind `distribute` whose answers about parts
 * make the answer about all is done by each stream for its part, and put together here:
 *
 *	A | distribute | count -> A | count partial=make | distribute | count partial=join
 */
#include <string.h>

#include "base/mem.h"
#include "lang/planner.h"
#include "op/facts.h"
#include "value/job_opts.h"

static const struct param *
partial_row(const struct op_node *n)
{
	return param_find(n->desc->params, "partial", strlen("partial"));
}

static void
partial_set(struct op_node *n, enum op_partial how)
{
	const struct param *row = partial_row(n);

	*(int *)((char *)n->params + row->offset) = (int)how;
	n->given |= (uint64_t)1 << (row - n->desc->params);
}

/* Readers that share a job get parts of its elements, and ask for one pipeline. Where streams are
 * divided element by element, answers about parts would be, too. */
static const char *
partial_job_refuses(const struct op_node *border)
{
	const struct job_opts *job = border->params;

	if ((job->name && *job->name) || (job->consumer && *job->consumer) || job->share != SHARE_NONE)
		return "readers of one job each get some of its elements";
	if (job->sharding != SHARD_OFF && job->sharding != SHARD_DYNAMIC && job->sharding != SHARD_FILE)
		return "with this sharding= streams get single elements in turn";
	if (job->order == ORDER_SOURCE && !border->by_part && job->shards != 1)
		return "with order=source, what runs on workers cannot begin anew with each split";
	return NULL;
}

/* The reason why the reader must do all of it; NULL: there is none. The answer must not depend on where expressions
 * are evaluated, nor on elements that fail one by one. */
static const char *
partial_refuses(const struct planner *pl, const struct op_node *n)
{
	const struct op_node *border = n->in[0];
	enum { LARGE = 64 << 20 }; /* bytes of an element: an answer about a part is smaller */
	const unsigned here = EXPR_VARIES | EXPR_COUNTS | EXPR_DRAWS | EXPR_TIMED;
	const char *why = NULL;

	if (!n->desc->combines(n, &why))
		return why;
	if (border->logged.is)
		return "it gets the answers that --joblog or --halt takes out of records";
	if (n->on_error != OP_FAIL || n->retries)
		return "on_error= and retries= are about single elements";
	if (op_traits(n) & here)
		return "its expressions are not the same everywhere (i, rand(), now())";
	if (pl->plan->options.element_max < LARGE)
		return "answers about parts may be larger than element_max allows";
	return partial_job_refuses(border);
}

/* Whether the operator stands behind a border, though not right behind it. */
static bool
partial_far(const struct op_node *n)
{
	const struct op_node *m = n->in[0];

	while (m->n_in == 1)
		m = m->in[0];
	return m->desc->flags & OP_BORDER;
}

/* Moves the first half to the workers. */
static void
partial_divide(struct op_node *n)
{
	struct op_node *border = n->in[0];
	struct buf spec = { 0 };

	partial_set(n, PARTIAL_MAKE);
	buf_printf(&spec, "%s | ", border->remote_spec);
	canon_print_stage(n, CANON_ABSOLUTE, &spec);
	partial_set(n, PARTIAL_JOIN);
	if (spec.len <= SPEC_BYTES) {
		mem_free(border->remote_spec);
		border->remote_spec = buf_take(&spec);
		if (!(n->desc->flags & OP_PASSES)) /* else what is left of the parts goes through n again */
			border->type = type_scalar(TYPE_ANY);
	} else {
		partial_set(n, PARTIAL_NONE);
		n->whole_why = "the workers' pipeline would be too long";
	}
	buf_clear(&spec);
}

void
plan_partial(const struct planner *pl, struct op_node *n, const struct type *outer)
{
	if (!n->desc->combines || !n->n_in || outer || n->per_stream ||
	    n->given >> (partial_row(n) - n->desc->params) & 1)
		return;
	if (!(n->in[0]->desc->flags & OP_BORDER)) {
		n->whole_why = partial_far(n) ? "it does not stand right behind `distribute`" : NULL;
		return;
	}
	if (!n->in[0]->remote_spec || n->in[0]->endless || n->n_binds)
		return;
	n->whole_why = partial_refuses(pl, n);
	if (!n->whole_why)
		partial_divide(n);
}
