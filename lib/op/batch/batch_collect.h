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
	struct run part; /* what has been collected */
	size_t bytes;
	bool tensors;    /* set by those who put tensors together */
};

/* How elements are padded to the same lengths. */
struct padding {
	const struct buf *value;      /* put behind; empty: 0, 0.0, "", false, null by kind */
	int64_t shape[TYPE_DIMS_MAX]; /* lengths wanted; -1: that of the longest */
	int n_shape;
	const struct type *type;      /* of the elements: what is in lists that are all empty; NULL:
				       * not known */
};

/* What batches of elements of type x are. */
const struct type *batch_collect_typing(struct op_typing *t, const struct type *x, bool padded);
void batch_collect_clear(struct batch_collect *s);
void batch_collect_reset(struct batch_collect *s);
/* ST_DATA when it would become larger than elements may be. */
enum status batch_collect_add(struct op_inst *self, struct batch_collect *s, struct elem x,
			      struct err *e);
/* Gives what was collected, and forgets it. `pad` may be NULL. Errors have been
 * through the operator's policy: then nothing is given. */
enum status batch_collect_give(struct op_inst *self, struct batch_collect *s,
			       struct batch_columns *c, const struct padding *pad, struct run *out,
			       struct err *e);
void batch_collect_save(const struct batch_collect *s, struct buf *out);
void batch_collect_restore(struct batch_collect *s, struct state_in *in);

/* Reads shape=[..]: lengths, null for that of the longest. */
enum status padding_shape(const struct buf *list, struct padding *out, struct err *e);
/* Appends the list at p, its items made equally long at every depth. `type`: of its
 * items; NULL: not known. */
enum status padding_list(const struct padding *pad, const struct type *type, const uint8_t *p,
			 const uint8_t *end, size_t max, struct buf *out, struct err *e);
/* Whether the list's first item is a tensor; then all are put into one tensor with
 * a new first dimension, padded to the same shape. */
bool padding_is_tensors(const uint8_t *p, const uint8_t *end);
enum status padding_tensors(const struct padding *pad, const uint8_t *p, const uint8_t *end,
			    size_t max, struct buf *out, struct err *e);

#endif
