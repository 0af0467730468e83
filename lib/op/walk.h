/* SPDX-License-Identifier: MIT
 *
 * Reading by index. An operator whose node permutes (shuffle all) gives the
 * elements of what stands before it in an order of their indices; it has an order, and
 * every source before it has a walk, which says what to give next:
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
#ifndef OP_WALK_H
#define OP_WALK_H

#include "op/op.h"

struct order {
	const struct op_inst *owner;
	uint64_t n;            /* indices of one pass */
	uint64_t from, to;     /* the places to give: all, or a split's */
	int64_t seed;          /* as the owner's node has it */
	bool reshuffle;
	struct walk_step *steps; /* of all paths, owned */
};

/* For the owner, from its split or over one pass. */
enum status order_open(struct op_inst *self, const struct split *s, struct err *e);
void order_free(struct order **o);

/* One step further down: through an operator that picks or groups, or to input k of
 * one that joins. Lent until the order is freed. */
struct walk_step;
const struct walk_step *walk_group(struct order *o, const struct walk_step *path, const struct op_node *n);
const struct walk_step *walk_pick(struct order *o, const struct walk_step *path, const struct op_node *n);
const struct walk_step *walk_part(struct order *o, const struct walk_step *path, const struct walk *join,
				  size_t k);

/* n: who walks. */
struct walk *walk_new(struct order *o, const struct walk_step *path, const struct op_node *n);
void walk_free(struct walk **w);
void walk_rewind(struct walk *w);
/* The indices that come next: lends up to RUN_USUAL of them; 0 at the end. */
uint32_t walk_peek(struct walk *w, const uint64_t **index);
/* The first k of them are done with. */
void walk_used(struct walk *w, uint32_t k);
/* The place that comes next, to be saved, in elements of who walks; false: there is no
 * such place. */
uint64_t walk_place(const struct walk *w);
bool walk_seek(struct walk *w, uint64_t place);

/* The next run of a source or of a joining operator that is read by index. */
enum status walk_run(struct op_inst *self, struct err *e);

#endif
