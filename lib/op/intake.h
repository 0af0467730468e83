/* SPDX-License-Identifier: MIT
 *
 * How much there is to be taken in by the sources of a plan, beside which struct
 * op_intake of a running chain tells how far it is.
 */
#ifndef OP_INTAKE_H
#define OP_INTAKE_H

#include "op/op.h"

struct intake {
	const struct op_node **leaf; /* the plan's sources, inner pipelines excepted; lent from the plan */
	size_t n, cap;
	/* How far the sources are says how far the plan is: nothing in it ends early or reads
	 * again. */
	bool tells;
	bool holds; /* an operator gives nothing before its input has ended */
};

/* Finds the sources. Looks at no file, and is cheap. */
void intake_find(struct intake *t, const struct op_node *top);
void intake_clear(struct intake *t);
/* The elements that the chain gives; 0: not known, or it has no end. Looks at files. Any thread. */
uint64_t intake_elements(const struct op_node *n);
/* Adds up what the sources have, in bytes on disk and in elements; 0: not known of all of
 * them. Looks at files. Any thread, as long as the plan's nodes live. */
void intake_total(const struct intake *t, uint64_t *bytes, uint64_t *elements);

#endif
