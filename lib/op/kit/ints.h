/* SPDX-License-Identifier: MIT
 *
 * Arithmetic series of integers as elements: what range and counter make.
 */
#ifndef KIT_INTS_H
#define KIT_INTS_H

#include "op/op.h"
#include "op/state.h"

/* How many numbers start, start + step, ... lie before stop (behind it when
 * step is negative). step is not 0. */
uint64_t ints_count(int64_t start, int64_t stop, int64_t step);
/* The index-th number; exact as long as it is one of the series. */
static inline int64_t
ints_at(int64_t start, int64_t step, uint64_t index)
{
	return (int64_t)((uint64_t)start + (uint64_t)step * index);
}
/* Appends n numbers from `first`, with pos from `pos`. */
void ints_fill(struct run *out, int64_t first, int64_t step, uint32_t n, uint32_t pos);

/* Appends the numbers of n indices. */
void ints_pick(struct run *out, int64_t start, int64_t step, const uint64_t *index, uint32_t n);

/* A walk over indices, whole or one split of it: the running state of sources
 * whose i-th element is known from i alone. */
struct ints_walk {
	uint64_t at, end; /* next index; one past the last */
};
/* Takes the bounds of self->split when it is a range; `count` in all. */
enum status ints_walk_open(struct op_inst *self, struct ints_walk *w, uint64_t count, struct err *e);
/* How many elements the next run should have; 0 at the end. */
static inline uint32_t
ints_walk_some(const struct ints_walk *w)
{
	uint64_t left = w->end - w->at;
	return left < RUN_USUAL ? (uint32_t)left : RUN_USUAL;
}
extern const struct state_kind ints_walk_state; /* for rows: struct ints_walk */
/* The one unit of such a source. count INT64_MAX and more: without end. */
void ints_list(struct split_list *out, uint64_t count);

#endif
