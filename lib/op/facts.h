/* SPDX-License-Identifier: MIT
 *
 * What can be known of a plan without running it. The answers are read from the
 * operators' descriptors; none is known by name.
 */
#ifndef OP_FACTS_H
#define OP_FACTS_H

#include "op/op.h"

/* How many elements can be read by index at n, INT64_MAX: without end, -1: unknown. */
int64_t op_indexed(const struct op_node *n);
/* Whether all before n, which permutes, can be read by index, as far as the plan alone
 * tells; *culprit is the operator that an error is about. */
enum status op_may_permute(const struct op_node *n, const struct op_node **culprit, struct err *e);
/* The same about how many elements there are: looks at files. */
enum status op_permute_count(const struct op_node *n, uint64_t *count, struct err *e);

/* Whether the chain at n can be cut into splits, and its units. The units
 * carry `times`, the repeats inside them and above them multiplied
 * (INT64_MAX: without end), and are numbered by leaf for op_open to know
 * which source each is for. None when the pipeline repeats 0 times. */
bool op_can_split(const struct op_node *n);
enum status op_list_splits(const struct op_node *n, struct split_list *out, struct err *e);
/* How many times the splits are to be read: the product of `times` of element
 * scope chains down to the source. */
int64_t op_split_times(const struct op_node *n);

/* What the operator's own expressions do (enum expr_trait), all that they might do
 * before they are compiled; those of inner pipelines are not among them. */
unsigned op_traits(const struct op_node *n);

/* Whether the operator itself (not what stands before or in it) reads this
 * process's standard input: stdin, or a source of files one of which is `-`. */
bool op_is_local(const struct op_node *n);

/* Whether several streams give in order `source` what the plan gives in one process: seeded,
 * when its random numbers are to be the same each time. ST_DATA otherwise, with the
 * remedies; *culprit (may be NULL) is the operator. */
enum status op_in_order(const struct op_node *top, bool seeded, const struct op_node **culprit,
			struct err *e);

/* How many elements the plan gives: -1 unknown, INT64_MAX without end, as far as can be told
 * (a source that is repeated for ever is taken not to be empty). Looks at files. */
int64_t op_elements_of(const struct op_node *n);

/* The first operator of the plan, inner pipelines too, that runs programs; NULL: none. */
const struct op_node *op_needs_exec(const struct op_node *n);

void op_node_free(struct op_node **n); /* with everything before it */

#endif
