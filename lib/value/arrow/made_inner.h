/* SPDX-License-Identifier: MIT
 *
 * A column to be made, or a part of one: arrow_made.c finds its type, made_columns.c fills it.
 */
#ifndef ARROW_MADE_INNER_H
#define ARROW_MADE_INNER_H

#include "value/arrow/arrow_made.h"
#include "value/arrow/arrow_plugin.h"

/* The kinds that scalars of MessagePack have stand for themselves (value/mp.h). */
struct made_node {
	int kind;                /* enum mp_kind; MP_NIL: no value has come yet */
	char *name;
	size_t name_len;
	struct made_node **kids; /* list: its items; record: its fields */
	size_t n, cap;
};

/* Makes the schema of a column. Gives. */
void made_schema(const struct made_node *n, struct ArrowSchema *out);
/* Makes a column of n values; those that are NULL or null are null. They must fit the node. ST_DATA: they are too
 * large together. Gives. */
enum status made_column(const struct made_node *node, const uint8_t *const *values, const uint8_t *end, size_t n,
			struct ArrowArray *out, struct err *e);

#endif
