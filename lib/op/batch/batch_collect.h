/* SPDX-License-Identifier: MIT
 *
 * Elements collected until they are given as one: records as a record of lists,
 * tensors as a tensor where that is wanted, anything else as a list. What
 * padded_batch, ragged_batch, rebatch and bucket
 * share; limits and padding are theirs.
 */
#ifndef BATCH_BATCH_COLLECT_H
#define BATCH_BATCH_COLLECT_H

#include "op/batch/batch_columns.h"
#include "op/op.h"
#include "op/state.h"

struct batch_collect {
	struct run part; /* the elements collected */
	size_t bytes;
	bool tensors;    /* set by operators that put tensors together */
};

/* How elements are padded to equal lengths. */
struct padding {
	/* fills the gaps; empty: 0, 0.0, "", false or null by kind */
	const struct buf *value;
	int64_t shape[TYPE_DIMS_MAX]; /* the lengths wanted; -1: that of the longest */
	int n_shape;
	/* type of the elements, for the items of lists that are all empty; NULL: not known */
	const struct type *type;
};

/* The type of batches of elements of type x. */
const struct type *batch_collect_typing(struct op_typing *t, const struct type *x, bool padded);
void batch_collect_clear(struct batch_collect *s);
void batch_collect_reset(struct batch_collect *s);
/* Adds an element; ST_DATA when the batch would become larger than an element may be. */
enum status batch_collect_add(struct op_inst *self, struct batch_collect *s, struct elem x,
			      struct err *e);
/* Gives what was collected, and forgets it. `pad` may be NULL. ST_OK with nothing given when
 * on_error has dropped the batch because of an error. */
enum status batch_collect_give(struct op_inst *self, struct batch_collect *s,
			       struct batch_columns *c, const struct padding *pad, struct run *out,
			       struct err *e);
void batch_collect_save(const struct batch_collect *s, struct buf *out);
void batch_collect_restore(struct batch_collect *s, struct state_in *in);

/* Reads shape=[..]: a list of lengths, where null stands for that of the longest. */
enum status padding_shape(const struct buf *list, struct padding *out, struct err *e);
/* Appends the list at p with its items padded to equal length at every depth. `type` is the
 * type of its items; NULL: not known. */
enum status padding_list(const struct padding *pad, const struct type *type, const uint8_t *p,
			 const uint8_t *end, size_t max, struct buf *out, struct err *e);
/* Whether the list's first item is a tensor. Then all its items are put into one tensor with a
 * new first axis, padded to the same shape. */
bool padding_is_tensors(const uint8_t *p, const uint8_t *end);
enum status padding_tensors(const struct padding *pad, const uint8_t *p, const uint8_t *end,
			    size_t max, struct buf *out, struct err *e);

#endif
