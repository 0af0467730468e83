/* SPDX-License-Identifier: MIT
 *
 * What the program that runs a chain wants to decide and to know about the
 * elements that `exec` and `sh` give to programs of the user's choice.
 */
#ifndef OP_PROGRAMS_H
#define OP_PROGRAMS_H

#include "op/op.h"

struct op_programs {
	/* Starts nothing: the commands that would run are told instead, one for each element with
	 * proto=arg and raw, else one for the operator. Nothing comes out. */
	bool dry;
	/* A command, as words quoted for a shell. False: no more is wanted. From any thread of the chain. */
	bool (*would)(void *arg, const struct op_node *n, const char *command, size_t len);
	void *arg;
};

/* Calls `each` for the operators of the plan that run in this process, inner pipelines included, and
 * those before a border not; for one after those before it. */
void op_each_here(const struct op_node *top, void (*each)(void *arg, const struct op_node *n), void *arg);

/* Whether it gives its elements to programs (exec, sh). */
static inline bool
op_programs_run(const struct op_node *n)
{
	return n->desc->kind == OP_TRANSFORM && (n->desc->flags & OP_EXEC);
}

#endif
