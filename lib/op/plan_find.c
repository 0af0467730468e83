/* SPDX-License-Identifier: MIT */
#include "op/op.h"
#include "op/facts.h"

static const struct op_node *
find_row(const struct op_node *n, const struct param *row, bool (*is)(void *arg, const struct op_node *n), void *arg)
{
	const void *field = (const char *)n->params + row->offset;
	const struct op_node *found = NULL;

	if (row->kind == PARAM_PIPE) {
		struct op_node *const *pipe = field;
		found = op_node_find(*pipe, is, arg);
	} else if (row->kind == PARAM_PIPES && n->desc->kind != OP_COMBINE) { /* else they are its inputs */
		const struct op_pipes *p = field;
		for (size_t k = 0; !found && k < p->n; k++)
			found = op_node_find(p->v[k], is, arg);
	} else if (row->kind == PARAM_FRAGMENT) {
		found = op_node_find(((const struct op_fragment *)field)->tail, is, arg);
	}
	return found;
}

const struct op_node *
op_node_find(const struct op_node *n, bool (*is)(void *arg, const struct op_node *n), void *arg)
{
	const struct op_node *found = NULL;

	if (!n)
		return NULL;
	for (size_t k = 0; !found && k < n->n_in; k++)
		found = op_node_find(n->in[k], is, arg);
	for (const struct param *r = n->desc->params; !found && r && r->kind != PARAM_NONE; r++)
		found = find_row(n, r, is, arg);
	return found || !is(arg, n) ? found : n;
}

static bool
find_exec(void *arg, const struct op_node *n)
{
	(void)arg;
	return n->desc->flags & OP_EXEC;
}

const struct op_node *
op_needs_exec(const struct op_node *n)
{
	return op_node_find(n, find_exec, NULL);
}
