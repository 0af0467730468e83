/* SPDX-License-Identifier: MIT */
#include "op/op.h"
#include "op/facts.h"

/* The question, and whether only operators that run in this process are asked. */
struct find {
	bool (*is)(void *arg, const struct op_node *n);
	void *arg;
	bool here;
};

static struct op_node *find_node(const struct find *f, struct op_node *n);

/* PARAM_PIPES are inputs, too, and are found there. */
static struct op_node *
find_row(const struct find *f, const struct op_node *n, const struct param *row)
{
	void *field = (char *)n->params + row->offset;

	if (row->kind == PARAM_PIPE)
		return find_node(f, *(struct op_node **)field);
	return row->kind == PARAM_FRAGMENT ? find_node(f, ((const struct op_fragment *)field)->tail) : NULL;
}

static struct op_node *
find_node(const struct find *f, struct op_node *n)
{
	struct op_node *found = NULL;

	if (!n || (f->here && n->desc->flags & OP_BORDER))
		return NULL;
	for (size_t k = 0; !found && k < n->n_in; k++)
		found = find_node(f, n->in[k]);
	for (const struct param *r = n->desc->params; !found && r && r->kind != PARAM_NONE; r++)
		found = find_row(f, n, r);
	return found || !f->is(f->arg, n) ? found : n;
}

const struct op_node *
op_node_find(const struct op_node *n, bool (*is)(void *arg, const struct op_node *n), void *arg)
{
	return find_node(&(struct find){ is, arg, false }, (struct op_node *)(uintptr_t)n);
}

struct find_each {
	void (*each)(void *arg, struct op_node *n);
	void *arg;
};

static bool
find_call(void *arg, const struct op_node *n)
{
	const struct find_each *all = arg;

	all->each(all->arg, (struct op_node *)(uintptr_t)n);
	return false;
}

void
op_each_here(struct op_node *top, void (*each)(void *arg, struct op_node *n), void *arg)
{
	find_node(&(struct find){ find_call, &(struct find_each){ each, arg }, true }, top);
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
