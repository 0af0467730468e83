/* SPDX-License-Identifier: MIT
 *
 * What batch, padded_batch and ragged_batch share, which put every N elements together:
 * the callbacks below go into their descriptors. An operator's state begins with
 * struct batch_every, and its open callback says how a batch is given.
 */
#ifndef BATCH_BATCH_EVERY_H
#define BATCH_BATCH_EVERY_H

#include "op/batch/batch_collect.h"

struct batch_every {
	int64_t n;  /* elements in a batch; a parameter */
	bool drop;  /* drop the last batch when it is not full; a parameter */
	struct batch_collect stack;
	struct batch_columns columns;
	/* Gives what the stack holds as a batch, and empties it. */
	enum status (*give)(struct op_inst *self, struct run *out, struct err *e);
};

/* The rows of the parameters n and drop_remainder; `state` is the operator's struct, of which
 * `every` is the first member. */
#define BATCH_EVERY_N(state) \
	{ "n", PARAM_INT, offsetof(state, every.n), .min = 1, .max = INT32_MAX, \
	  .help = "elements in a batch" }
#define BATCH_EVERY_DROP(state) \
	{ "drop_remainder", PARAM_BOOL, offsetof(state, every.drop), "false", \
	  .flags = PARAM_KEY_ONLY, .help = "drop the last batch when it is not full" }

uint64_t batch_every_groups(const struct op_node *n);
int64_t batch_every_cardinality(const struct op_node *n, const int64_t *in);
enum status batch_every_feed(struct op_inst *self, const struct run *in, struct run *out, struct err *e);
enum status batch_every_finish(struct op_inst *self, struct run *out, struct err *e);
void batch_every_close(struct op_inst *self);
void batch_every_save(struct op_inst *self, struct buf *out);
enum status batch_every_restore(struct op_inst *self, const uint8_t *p, size_t n, struct err *e);

#endif
