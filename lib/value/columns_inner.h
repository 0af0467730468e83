/* SPDX-License-Identifier: MIT
 *
 * What the files of columns share.
 */
#ifndef VALUE_COLUMNS_INNER_H
#define VALUE_COLUMNS_INNER_H

#include "value/columns.h"

/* A field: a record with fields of its own, or a column. */
struct column_node {
	char *name;
	uint32_t len;             /* length of the name */
	struct column_node *v;    /* fields of a record */
	uint32_t n;
	bool record;
	size_t column;            /* else: which one */
	uint64_t stamp;           /* stamp of the element that had this field last */
};

/* Kind, dtype and dims of one row, from one value; false: nothing can be said of it. */
bool column_of_value(struct column *c, const uint8_t *p, size_t len, const struct type *type);
/* Puts n rows, which lie along the column's axis, one after the other. */
void column_turn(const struct column *c, const uint8_t *from, uint64_t n, uint8_t *to);
/* Offsets of a column that is not fixed. They are aligned. */
static inline uint64_t *
column_offsets(const struct column *c, const uint8_t *slot)
{
	return (uint64_t *)(uintptr_t)(slot + c->at);
}

#endif
