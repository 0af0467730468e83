/* SPDX-License-Identifier: MIT
 *
 * The batch of rows at hand of a file of tables: how its columns become records, which of its rows are wanted, and
 * which comes next.
 *
 *	table_batch_shape, once the columns are chosen --> (table_batch_bind --> rows [row, n)), for each batch
 *
 * Zero is a batch without rows.
 */
#ifndef TABLE_TABLE_BATCH_H
#define TABLE_TABLE_BATCH_H

#include "op/table/table_as.h"

struct table_sift;

struct table_batch {
	struct arrow_rows *rows;    /* these two are those of all batches of the file */
	struct table_sift *sift;    /* NULL: all rows are wanted */
	bool sifted;                /* it has looked at this batch */
	struct ArrowArray array;
	int64_t row, n;             /* the next row, and how many there are */
};

/* The columns of the batches that follow. Takes schema. */
enum status table_batch_shape(struct table_batch *b, struct ArrowSchema *schema, const struct table_as *as,
			      struct err *e);
/* The rows are those of `array`, which the caller has filled; more than `most` are an error. */
enum status table_batch_bind(struct table_batch *b, uint64_t most, struct err *e);
/* Passes over rows that the tests let not through, and gives their number. */
uint64_t table_batch_pass(struct table_batch *b);
/* There are no rows any more; columns stay as they are. */
void table_batch_drop(struct table_batch *b);
void table_batch_clear(struct table_batch *b);

#endif
