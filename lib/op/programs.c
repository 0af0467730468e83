/* SPDX-License-Identifier: MIT */
#include "op/programs.h"

#include <string.h>

#include "op/facts.h"

bool
op_programs_pair(const struct op_node *n)
{
	const struct param *row = param_find(n->desc->params, "proto", 5);
	char word[32];

	if (!op_programs_run(n) || !row)
		return false;
	int proto = *(const int *)(const void *)((const char *)n->params + row->offset);
	return param_choice(row->choices, proto, word, sizeof word) && strcmp(word, "stream") != 0;
}

struct programs_find {
	const struct op_node *wanted;
	bool found;
};

static void
programs_found(void *arg, struct op_node *n)
{
	struct programs_find *f = arg;

	f->found = f->found || n == f->wanted;
}

/* Whether the operator hands on what comes of an element before it asks for the next run. */
static bool
programs_passes(const struct op_node *n)
{
	const struct param *row = n->desc->params;

	if (n->desc->flags & OP_JOINS_SPLITS)
		return true;
	for (size_t i = 0; row && row[i].kind != PARAM_NONE; i++)
		if (!strcmp(row[i].name, "parallel") && n->given >> i & 1)
			return false;
	return n->desc->scope == OP_ELEMENT && n->desc->kind == OP_TRANSFORM && !(n->desc->flags & OP_EXEC);
}

bool
op_programs_passed(struct op_node *top, const struct op_node *n, const struct op_node **keeps)
{
	struct op_node *at = top;

	while (at != n) {
		struct op_node *next = NULL;

		for (size_t k = 0; k < at->n_in && !next; k++) {
			struct programs_find f = { .wanted = n };

			op_each_here(at->in[k], programs_found, &f);
			next = f.found ? at->in[k] : NULL;
		}
		if (!next || !programs_passes(at)) {
			*keeps = at;
			return false;
		}
		at = next;
	}
	return true;
}
