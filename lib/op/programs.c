/* SPDX-License-Identifier: MIT */
#include "op/programs.h"

struct programs_walk {
	void (*each)(void *arg, const struct op_node *n);
	void *arg;
};

static void programs_walk(const struct programs_walk *w, const struct op_node *n);

static void
programs_row(const struct programs_walk *w, const struct op_node *n, const struct param *row)
{
	const void *field = (const char *)n->params + row->offset;

	if (row->kind == PARAM_PIPE) {
		programs_walk(w, *(struct op_node *const *)field);
	} else if (row->kind == PARAM_PIPES) {
		const struct op_pipes *p = field;

		for (size_t k = 0; k < p->n; k++)
			programs_walk(w, p->v[k]);
	} else if (row->kind == PARAM_FRAGMENT) {
		programs_walk(w, ((const struct op_fragment *)field)->tail);
	}
}

static void
programs_walk(const struct programs_walk *w, const struct op_node *n)
{
	if (!n || (n->desc->flags & OP_BORDER))
		return;
	for (size_t k = 0; k < n->n_in; k++)
		programs_walk(w, n->in[k]);
	for (const struct param *r = n->desc->params; r && r->kind != PARAM_NONE; r++)
		programs_row(w, n, r);
	w->each(w->arg, n);
}

void
op_each_here(const struct op_node *top, void (*each)(void *arg, const struct op_node *n), void *arg)
{
	programs_walk(&(struct programs_walk){ each, arg }, top);
}
