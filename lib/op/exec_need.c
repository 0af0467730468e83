/* SPDX-License-Identifier: MIT */
#include "op/op.h"
#include "op/facts.h"

static const struct op_node *
need_row(const struct op_node *n, const struct param *row)
{
	const void *field = (const char *)n->params + row->offset;
	const struct op_node *found = NULL;

	if (row->kind == PARAM_PIPE) {
		struct op_node *const *pipe = field;
		found = op_needs_exec(*pipe);
	} else if (row->kind == PARAM_PIPES) {
		const struct op_pipes *p = field;
		for (size_t k = 0; !found && k < p->n; k++)
			found = op_needs_exec(p->v[k]);
	} else if (row->kind == PARAM_FRAGMENT) {
		found = op_needs_exec(((const struct op_fragment *)field)->tail);
	}
	return found;
}

const struct op_node *
op_needs_exec(const struct op_node *n)
{
	const struct op_node *found = NULL;

	if (!n || (n->desc->flags & OP_EXEC))
		return n;
	for (size_t k = 0; !found && k < n->n_in; k++)
		found = op_needs_exec(n->in[k]);
	for (const struct param *r = n->desc->params; !found && r && r->kind != PARAM_NONE; r++)
		found = need_row(n, r);
	return found;
}
