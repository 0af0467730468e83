/* SPDX-License-Identifier: MIT
 *
 * Rows that the conditions of the filters right behind the source let not through, told from single columns before
 * elements are made of rows. Whether a row may be left out is what it is for a part of the data that has this row
 * alone (expr/condition.h): so the filter stays, and gets whatever could fail or is not understood.
 */
#ifndef TABLE_TABLE_SIFT_H
#define TABLE_TABLE_SIFT_H

#include "expr/condition.h"
#include "value/arrow/arrow_rows.h"

struct table_sift;

/* The kind of the values of a column, given by its format, whose order as values of elements is that of the file. */
int table_sift_kind(const char *format, struct arrow_as as);
/* For rows of a schema; the conditions are lent. Gives; NULL: there is nothing that it could tell. */
struct table_sift *table_sift_new(const struct conditions *tests, struct arrow_as as, const struct ArrowSchema *schema,
				  const struct arrow_rows *rows);
/* Looks at the first n rows of the array that was bound last. */
void table_sift_look(struct table_sift *s, const struct arrow_rows *rows, int64_t n);
/* The first row from this one on that must be made; n: there is none. */
int64_t table_sift_next(const struct table_sift *s, int64_t row);
void table_sift_free(struct table_sift **s);

#endif
