/* SPDX-License-Identifier: MIT
 *
 * What the typing callbacks of operators with an expression share.
 */
#ifndef OP_TYPED_H
#define OP_TYPED_H

#include <stdbool.h>

#include "op/op.h"

/* The error at the operator's place in the spec; gives ST_DATA. */
enum status typed_fail(const struct op_typing *t, const struct op_node *n, struct err *e,
		       const char *fmt, ...) __attribute__((format(printf, 4, 5)));
/* Compiles an expression over the input's elements that must give a bool. */
enum status typed_test(struct op_node *n, struct op_typing *t, struct op_expr *ex, struct err *e);
/* Compiles one with a state: finds the type that holds both init and results. */
enum status typed_fold(struct op_node *n, struct op_typing *t, struct op_expr *ex,
		       const struct buf *init, const struct type **type, struct err *e);
/* Whether each element gives one: no skip() in an expression, no policy that drops. */
bool typed_one_each(const struct op_node *n);

#endif
