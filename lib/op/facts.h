/* SPDX-License-Identifier: MIT
 *
 * What can be known of a plan without running it. The answers are read from the
 * operators' descriptors; none is known by name.
 */
#ifndef OP_FACTS_H
#define OP_FACTS_H

#include "op/op.h"

/* Number of elements at n that can be read by index; INT64_MAX: endless, -1: unknown. */
int64_t op_indexed(const struct op_node *n);
/* Whether everything before n, which permutes, can be read by index, as far as the plan alone
 * tells; *culprit is the operator that an error is about. */
enum status op_may_permute(const struct op_node *n, const struct op_node **culprit, struct err *e);
/* Number of elements that n, which permutes, puts in order. Looks at files; errors as those of
 * op_may_permute. */
enum status op_permute_count(const struct op_node *n, uint64_t *count, struct err *e);

/* Whether the elements of n, a transform, are those of its input, each made from one alone, and always the same. */
bool op_each_alone(const struct op_node *n);

/* Where a `shard` behind the chain at `top` can stand, with the same result: behind the node that
 * is given, whose elements are made in vain in other shards. *by_index: not even these are, since
 * the source is read by index. */
const struct op_node *op_shard_place(const struct op_node *top, bool *by_index);
/* Moves the `shard` at *top there. The plan must not have been used before. */
void op_push_shard(struct op_node **top);

/* Whether the chain at n can be cut into splits, and the units that it is cut into. Each unit
 * carries `times`, the product of the repeats in and above it (INT64_MAX: endless), and the
 * number of its leaf, so that op_open knows which source it is for. There are no units when
 * the pipeline repeats 0 times. */
bool op_can_split(const struct op_node *n);
enum status op_list_splits(const struct op_node *n, struct split_list *out, struct err *e);
/* How many times the splits are to be read: the product of the repeats in the chain of element
 * scope down to the source. */
int64_t op_split_times(const struct op_node *n);
/* The repeat among those that op_split_times covers whose input, if there is nothing in it, makes all end: the
 * first that is endless, else the last. *period is the number of passes over the splits that make one of
 * its own. NULL: there is none. */
const struct op_node *op_repeat_watched(const struct op_node *n, uint64_t *period);

/* The traits of the operator's own expressions (enum expr_trait); before they are compiled,
 * all that are possible. Expressions of inner pipelines are not included. */
unsigned op_traits(const struct op_node *n);

/* Whether this operator itself (not an input or inner pipeline) reads this process's standard
 * input: stdin, or a source of files one of which is `-`. */
bool op_is_local(const struct op_node *n);

/* Whether several streams can give, in order `source`, what the plan gives in one process;
 * seeded: when its random numbers are to be the same each time. Otherwise ST_DATA with
 * remedies; *culprit (may be NULL) is the operator. */
enum status op_in_order(const struct op_node *top, bool seeded, const struct op_node **culprit,
			struct err *e);

/* Whether n gives an answer at the end of its input, and, when splits have to be told apart, may get an
 * instance of its own for each split, together with everything before it. */
bool op_by_part(const struct op_node *n);
/* Whether n and everything before it may have an instance for each split. */
bool op_splits_alone(const struct op_node *n);

/* Whether the plan, run again with the same seed, may give other elements. */
bool op_timed(const struct op_node *n);
/* Whether some operator puts elements of one kind together. */
bool op_alike(const struct op_node *n);

/* Number of elements that the plan gives, as far as it can be told: -1 unknown, INT64_MAX
 * endless (an endlessly repeated source is assumed not to be empty). Looks at files. */
int64_t op_elements_of(const struct op_node *n);

/* The first operator up to n, in the order in which elements go through them, inner pipelines included,
 * for which `is` holds; NULL: none. n may be NULL. */
const struct op_node *op_node_find(const struct op_node *n, bool (*is)(void *arg, const struct op_node *n), void *arg);
/* Calls `each` for the operators of the plan that run in this process, inner pipelines included, and
 * those before a border not; for one after those before it. */
void op_each_here(struct op_node *top, void (*each)(void *arg, struct op_node *n), void *arg);
/* The first operator of the plan, inner pipelines included, that runs programs; NULL: none. */
const struct op_node *op_needs_exec(const struct op_node *n);

void op_node_free(struct op_node **n); /* frees everything before it, too */

#endif
