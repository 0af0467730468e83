/* SPDX-License-Identifier: MIT
 *
 * A test that was never true since no element had a field that it reads: most likely
 * the name is misspelt, and nothing else would tell.
 */
#ifndef EACH_UNSEEN_H
#define EACH_UNSEEN_H

#include <stdint.h>

#include "op/op.h"
#include "op/typed.h"

enum { UNSEEN_FIELDS = 8 };

/* Zero watches for nothing. */
struct unseen {
	const char *field[UNSEEN_FIELDS]; /* names that no element has had; lent by the expression */
	unsigned n;
	uint64_t elements;                /* number of elements looked at */
	const uint8_t *first;             /* a copy of the first one */
	uint32_t first_len;
};

/* Begins to watch for the fields that the expression reads, where somebody may be told. */
void unseen_open(struct op_inst *self, struct unseen *u, const struct op_expr *ex);
/* Looks at elements of which none was let through. */
void unseen_look(struct unseen *u, const struct run *in, uint32_t from);
/* An element was let through: nothing is to be told. */
void unseen_forget(struct unseen *u);
/* At the end of the input: passes a note on, once. */
void unseen_tell(struct op_inst *self, struct unseen *u);

#endif
