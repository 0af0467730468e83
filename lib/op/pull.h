/* SPDX-License-Identifier: MIT
 *
 * Running a chain of operators: opening a plan, pulling elements out of it, keeping
 * its state. One thread at a time uses a chain.
 *
 *	op_open -> op_pull ... ST_END -> op_rewind -> ... -> op_close
 */
#ifndef OP_PULL_H
#define OP_PULL_H

#include "op/op.h"

/* Running chains. op_open opens the node and everything before it. Gives. */
enum status op_open(const struct op_node *n, struct op_ctx *ctx, struct op_inst **out, struct err *e);
/* Like op_open, for an inner pipeline: bound parameters are taken from `outer`, which must
 * stay valid as long as the chain (copy it first). */
enum status op_open_inner(const struct op_node *n, struct op_inst *self,
			  const struct elem *outer, struct op_inst **out, struct err *e);
void op_close(struct op_inst **i);
/* Starts another pass from the beginning; the epoch goes up by one. */
enum status op_rewind(struct op_inst *i, struct err *e);
/* After the end of a pass: whether it had elements that other readers of the job may have
 * received. */
bool op_elsewhere(const struct op_inst *i);
/* Pulls the next run, never empty (unless op_brief), lent until the next pull. ST_END at the end, and at every
 * call after it. */
enum status op_pull(struct op_inst *i, struct run **out, struct err *e);
/* From now on op_pull of this operator, which has no other above it, comes back with an empty run
 * when it has taken in one run of its input and gives nothing for it yet. So whoever pulls may save
 * the state in between, however long it takes until an element comes (save, filter). */
void op_brief(struct op_inst *top);
/* Gives elements one by one; each is lent until the next op_next that has to pull. */
enum status op_next(struct op_inst *i, struct elem *out, struct err *e);
/* Whether op_next would answer at once, without pulling. */
bool op_ready(const struct op_inst *i);
/* Makes op_ready true, pulling if needed, and takes nothing: ST_OK when there is an element,
 * ST_END at the end. */
enum status op_prime(struct op_inst *i, struct err *e);
/* Lends the elements that op_next would hand over without pulling, and their number. */
static inline const struct elem *
op_untaken(const struct op_inst *i, uint32_t *n)
{
	*n = i->lent->n - i->taken;
	return *n ? i->lent->e + i->taken : NULL;
}

/* The one whose elements, by its stats, the chain has taken in without giving any for them yet, for
 * it stores them or gives them late (save, sort); NULL: there is none such. */
const struct op_inst *op_stored(const struct op_inst *top);

/* Saves the state of the whole chain between two pulls; restores it, after op_open. Saving
 * gives false when an operator in the chain cannot be saved. */
bool op_state_save(struct op_inst *i, struct buf *out);
enum status op_state_restore(struct op_inst *i, const uint8_t *p, size_t n, struct err *e);

/* Passes over the first n elements of the pass without making them, before anything is pulled: where they come from a
 * source in the order of `shuffle all`, and each is made from one of its elements alone. False: it cannot be done, or
 * the pass has fewer, and nothing has changed. */
bool op_seek(struct op_inst *top, uint64_t n);

/* Between two pulls: passes over up to n of the elements that come next, where a source can do so without making them
 * and each is made from one of the source's alone, and gives their number, which may be 0. */
uint64_t op_pass(struct op_inst *top, uint64_t n);

/* Gives the chain at i another context, for example with a `stop` of its own. Call it before
 * anything is pulled from the chain. */
void op_set_ctx(struct op_inst *i, struct op_ctx *ctx);

#endif
