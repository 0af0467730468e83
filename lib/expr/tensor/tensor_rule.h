/* SPDX-License-Identifier: MIT
 *
 * The types of what is done with tensors: dtype and shape, as far as they are
 * known before anything runs. Shapes that are known not to go together are
 * found here.
 */
#ifndef TENSOR_TENSOR_RULE_H
#define TENSOR_TENSOR_RULE_H

#include "expr/fn.h"
#include "value/type.h"

/* Whether a value of the type may be a tensor. */
bool tensor_rule_may(const struct type *t);
/* The type of an operator (enum ast_op) with at least one tensor; the other operand may be a
 * plain value. NULL: they do not go together; why tells when the shapes are the reason, else
 * it is empty. */
const struct type *tensor_rule_binary(struct types *t, unsigned op, const struct type *l,
				      const struct type *r, char why[FN_WHY]);
const struct type *tensor_rule_cat(struct types *t, const struct type *l, const struct type *r,
				   char why[FN_WHY]);
const struct type *tensor_rule_index(struct types *t, const struct type *a, bool slice,
				     char why[FN_WHY]);
/* The type of a number as a plain value: int, float, bool. */
const struct type *tensor_rule_item(enum dtype t);
/* The type of n elements of type x along a new first axis; n < 0: unknown. */
const struct type *tensor_rule_stacked(struct types *t, const struct type *x, int64_t n);

/* Fills the one length of -1 so that the product is `count`, unless that is unknown (below 0);
 * false: no length would do. */
bool tensor_reshape_dims(int64_t count, int64_t *dims, int n_dims);
/* The dtype of where() with two plain values, by their kinds (VAL_*). */
enum dtype tensor_where_plain(unsigned a, unsigned b);

/* Types of functions. */
fn_check tensor_rule_tensor, tensor_rule_zeros, tensor_rule_reshape, tensor_rule_cast,
	tensor_rule_stack, tensor_rule_most, tensor_rule_where, tensor_rule_sum, tensor_rule_mean,
	tensor_rule_min, tensor_rule_float, tensor_rule_int;

#endif
