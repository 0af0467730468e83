/* SPDX-License-Identifier: MIT
 *
 * Reading by index. An operator whose node permutes (shuffle all) gives the
 * elements of what stands before it in an order of their indices; it has an order, and
 * every source before it has a struct by_index, which says what to give next:
 *
 *	order:   place 0, 1, 2, ...  --permutation-->  index 7, 2, 9, ...
 *	path:    from there down to the source, operators that pick (take, skip,
 *	         repeat) turn the indices of what they give into those of their input, and
 *	         an input of a concat keeps those that are its own; one that groups (batch)
 *	         has several of its input for one of its own
 *	source:  at(index, ...)
 *
 * So elements leave the source in the order in which they are wanted, and go
 * through what stands between (map, zip) as ever. Memory is constant: the
 * permutation is a function (base/permute.h), and a position is a number.
 *
 * Places count on from pass to pass: place p is place p mod n of pass p div n, each
 * pass in another order. A split is a range of places.
 */
#ifndef OP_BY_INDEX_H
#define OP_BY_INDEX_H

#include "op/op.h"

struct by_index_step;

struct index_order {
	const struct op_inst *owner;
	uint64_t n;            /* indices in one pass */
	uint64_t from, to;     /* the places to give: the whole pass, or a split of it */
	int64_t seed;          /* the seed that the owner's node has */
	bool reshuffle;
	bool straight;         /* the order is 0, 1, 2, ... */
	struct by_index_step *steps; /* the steps of all paths, owned */
};

/* Opens the order of an operator that strides: what it picks, as it comes. *path is the step
 * to its input. */
enum status index_stride_open(struct op_inst *self, const struct by_index_step **path, struct err *e);
/* Opens the order of the operator that permutes: the range of its split, or a whole pass. */
enum status index_order_open(struct op_inst *self, const struct split *s, struct err *e);
void index_order_free(struct index_order **o);

/* The next step of a path towards the source: through an operator that picks or groups, or to
 * input k of one that joins. Lent until the order is freed. */
const struct by_index_step *by_index_group(struct index_order *o,
					   const struct by_index_step *path, const struct op_node *n);
const struct by_index_step *by_index_pick(struct index_order *o,
					  const struct by_index_step *path, const struct op_node *n);
const struct by_index_step *by_index_part(struct index_order *o, const struct by_index_step *path,
					  const struct by_index *join, size_t k);

/* Opens the walk of a source, or of an operator that joins, n, at the end of `path`. */
struct by_index *by_index_new(struct index_order *o, const struct by_index_step *path,
			      const struct op_node *n);
void by_index_free(struct by_index **w);
void by_index_rewind(struct by_index *w);
/* Lends up to RUN_USUAL indices that come next; gives their number, 0 at the end. */
uint32_t by_index_peek(struct by_index *w, const uint64_t **index);
/* Steps over the first k indices that by_index_peek lent. */
void by_index_used(struct by_index *w, uint32_t k);
/* The place that comes next, in elements of this source, to be saved. by_index_seek goes back
 * to it; false: there is no such place. */
uint64_t by_index_place(const struct by_index *w);
bool by_index_seek(struct by_index *w, uint64_t place);

/* The next run of a source or of a joining operator that is read by index. */
enum status by_index_run(struct op_inst *self, struct err *e);

#endif
