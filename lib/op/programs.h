/* SPDX-License-Identifier: MIT
 *
 * What the program that runs a chain wants to decide and to know about the
 * elements that `exec` and `sh` give to programs of the user's choice.
 */
#ifndef OP_PROGRAMS_H
#define OP_PROGRAMS_H

#include "op/op.h"

struct program_row;

/* One element that a program has worked on, when its last try has ended. */
struct op_program_run {
	const struct op_node *node;
	uint64_t number;         /* the element's among those of the operator, from 1 */
	const struct elem *elem;
	const char *worker;      /* name of the worker that runs the chain; "": none does */
	int64_t began, took;     /* ns; began: since 1970 */
	size_t sent, received;   /* bytes of the element and of the answer; with proto=arg nothing is sent */
	/* exit status and signal; if both are 0 the element has its answer. 124: it took too long; 65: the
	 * answer, or the element, cannot be read */
	int code, signal;
	bool answered;           /* elements come of it, and have not been taken yet: `given` tells */
	const char *command;     /* its words quoted for a shell, on one line; lent */
	size_t command_len;
};

/* No more elements are given to programs; CLOSED_NOW: those that run are ended, too. */
enum op_programs_closed { PROGRAMS_OPEN, PROGRAMS_CLOSED, PROGRAMS_CLOSED_NOW };

/* Callbacks are called from the chain's threads, of several operators at once, too; each may be NULL. */
struct op_programs {
	/* Starts nothing: the commands that would run are told instead, one for each element with
	 * proto=arg and raw, else one for the operator. Nothing comes out. */
	bool dry;
	/* A command, as words quoted for a shell. False: no more is wanted. Needed if `dry`. */
	bool (*would)(void *arg, const struct op_node *n, const char *command, size_t len);
	/* Whether the element was done before: it is left out. Asked once for each, in their order. */
	bool (*before)(void *arg, const struct op_node *n, const struct elem *x);
	/* An element's last try has ended; its answer may wait for its turn. proto=stream pairs no answers
	 * with elements, and calls neither this nor `before` and `ended`. */
	void (*over)(void *arg, const struct op_node *n, bool good);
	/* Told with all that is known, when its answer is given. */
	void (*ended)(void *arg, const struct op_program_run *r);
	/* Like `ended`, for an element that a worker's program has worked on: where a border gives the answers. */
	void (*row)(void *arg, const struct program_row *row, bool answered);
	/* All elements that came of what `ended` and `row` have told so far have been taken by the operator behind. */
	void (*given)(void *arg, const struct op_node *n);
	atomic_bool failed;      /* set by an operator that ends the chain with an error of its own */
	_Atomic int closed;      /* enum op_programs_closed; set by anybody */
	void *arg;
};

/* Whether it gives its elements to programs (exec, sh). */
static inline bool
op_programs_run(const struct op_node *n)
{
	return n->desc->kind == OP_TRANSFORM && (n->desc->flags & OP_EXEC);
}
/* Whether each of its answers belongs to an element: not with proto=stream. */
bool op_programs_pair(const struct op_node *n);
/* Whether an element that comes out of n has been taken when n is called again, and so on up to the top:
 * what stands behind n keeps none. If not, *keeps is the first operator that does. */
bool op_programs_passed(struct op_node *top, const struct op_node *n, const struct op_node **keeps);

#endif
