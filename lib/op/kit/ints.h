/* SPDX-License-Identifier: MIT
 *
 * Arithmetic series of integers as elements: what range and counter make.
 */
#ifndef KIT_INTS_H
#define KIT_INTS_H

#include "op/op.h"
#include "op/state.h"

/* How many of start, start + step, ... come before stop (for a negative step: are above it).
 * step is not 0. */
uint64_t ints_count(int64_t start, int64_t stop, int64_t step);
/* The number of that index; exact as long as it belongs to the series. */
static inline int64_t
ints_at(int64_t start, int64_t step, uint64_t index)
{
	return (int64_t)((uint64_t)start + (uint64_t)step * index);
}
/* Appends n numbers beginning with `first`, and with pos from `pos` on. */
void ints_fill(struct run *out, int64_t first, int64_t step, uint32_t n, uint32_t pos);

/* Appends the numbers of the indices first, first + stride, ...: *n of them, or one, and then *n
 * is set to 1. */
void ints_every(struct run *out, int64_t start, int64_t step, uint64_t first, uint64_t stride, uint32_t *n);

/* Appends the numbers of n indices. */
void ints_pick(struct run *out, int64_t start, int64_t step, const uint64_t *index, uint32_t n);

/* A walk over indices, all of them or those of a split: the running state of sources whose
 * i-th element is known from i alone. */
struct ints_walk {
	uint64_t at, end; /* the next index, and one past the last */
};
/* Begins a walk over `count` indices, or over the range of self->split. */
enum status ints_walk_open(struct op_inst *self, struct ints_walk *w, uint64_t count, struct err *e);
/* How many elements the next run should have; 0 at the end. */
static inline uint32_t
ints_walk_some(const struct ints_walk *w)
{
	uint64_t left = w->end - w->at;
	return left < RUN_USUAL ? (uint32_t)left : RUN_USUAL;
}
extern const struct state_kind ints_walk_state; /* for state rows of a struct ints_walk */
/* Adds the one unit of such a source. count INT64_MAX: endless. */
void ints_list(struct split_list *out, uint64_t count);

#endif
