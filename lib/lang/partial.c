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
static bool
partial_may_job(const struct op_node *border)
{
	const struct job_opts *job = border->params;

	return !(job->name && *job->name) && !(job->consumer && *job->consumer) && job->share == SHARE_NONE &&
	       (job->sharding == SHARD_OFF || job->sharding == SHARD_DYNAMIC || job->sharding == SHARD_FILE) &&
	       (job->order != ORDER_SOURCE || border->by_part || job->shards == 1);
}

/* The answer must not depend on where expressions are evaluated, nor on elements that fail one by one. */
static bool
partial_may(const struct planner *pl, const struct op_node *n)
{
	const struct op_node *border = n->in[0];
	enum { LARGE = 64 << 20 }; /* bytes of an element: an answer about a part is smaller */
	const unsigned here = EXPR_VARIES | EXPR_COUNTS | EXPR_DRAWS | EXPR_TIMED;

	return border->remote_spec && !border->endless && partial_may_job(border) && !n->per_stream && !n->n_binds &&
	       n->on_error == OP_FAIL && !n->retries && !(op_traits(n) & here) &&
	       !(n->given >> (partial_row(n) - n->desc->params) & 1) && pl->plan->options.element_max >= LARGE;
}

void
plan_partial(const struct planner *pl, struct op_node *n, const struct type *outer)
{
	struct buf spec = { 0 };

	if (!n->desc->combines || !n->n_in || !(n->in[0]->desc->flags & OP_BORDER) || outer)
		return;
	if (!n->desc->combines(n) || !partial_may(pl, n))
		return;
	struct op_node *border = n->in[0];

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
	}
	buf_clear(&spec);
}
