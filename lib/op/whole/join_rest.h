/* SPDX-License-Identifier: MIT
 *
 * The rows of a join that no element has matched, for kind=right and kind=outer:
 * which rows those are, and the records made of them when the input has ended.
 *
 * In such a record the fields of the elements are null, except those that the
 * row has as well. The names are those of the type if it tells all of them, or
 * else those of the first element.
 */
#ifndef WHOLE_JOIN_REST_H
#define WHOLE_JOIN_REST_H

#include "op/state.h"
#include "op/whole/join_table.h"

/* Zero is a valid empty rest. */
struct join_rest {
	struct buf matched;   /* one bit for each row */
	struct buf names;     /* a record with the fields of the elements, all null; empty: not known yet */
	struct buf made;      /* scratch */
	uint32_t rows;        /* number of rows that the bits are about */
	bool restored;        /* the bits were there before the rows */
	uint32_t at;          /* in finish: the next row to look at */
};

void join_rest_clear(struct join_rest *r);
/* Takes the names from the type of the elements, if they are all there. */
void join_rest_typed(struct join_rest *r, const struct type *x);
/* Takes the names from an element, which is a record, unless there are some. */
void join_rest_first(struct join_rest *r, const struct elem *x);
/* To be called when the rows were read. ST_DATA: they are not as many as when the state was saved. */
enum status join_rest_begin(struct join_rest *r, const struct op_node *n, uint32_t rows, struct err *e);
static inline void
join_rest_mark(struct join_rest *r, uint32_t row)
{
	r->matched.data[row / 8] |= (uint8_t)(1u << row % 8);
}
/* Gives records of rows that were not matched: ST_END with the last ones, ST_OK: call it again. */
enum status join_rest_give(struct join_rest *r, struct join_table *t, const char *as, struct run *out);
/* false: the state is too large to be saved. */
bool join_rest_save(const struct join_rest *r, struct buf *out);
void join_rest_restore(struct join_rest *r, struct state_in *in);
/* The type of the records of such a join; both: elements without a row come out, too. */
const struct type *join_rest_type(struct op_typing *t, const struct type *x, const struct type *row,
				  const char *as, bool both);

#endif
