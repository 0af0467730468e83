/* SPDX-License-Identifier: MIT
 *
 * What the typing callbacks of operators with an expression share.
 */
#ifndef OP_TYPED_H
#define OP_TYPED_H

#include <stdbool.h>

#include "op/op.h"

/* Sets the error with the operator's place in the spec; gives ST_DATA. */
enum status typed_fail(const struct op_typing *t, const struct op_node *n, struct err *e,
		       const char *fmt, ...) __attribute__((format(printf, 4, 5)));
/* Compiles an expression over the input's elements that must give a bool. */
enum status typed_test(struct op_node *n, struct op_typing *t, struct op_expr *ex, struct err *e);
/* Compiles an expression with a state s: finds a type that holds both init and the results. */
enum status typed_fold(struct op_node *n, struct op_typing *t, struct op_expr *ex,
		       const struct buf *init, const struct type **type, struct err *e);
/* Whether one element comes out for each that goes in: no skip() in an expression, no on_error
 * that drops. */
bool typed_one_each(const struct op_node *n);

#endif
