/* SPDX-License-Identifier: MIT
 *
 * What operators do that look at each element through one expression and give
 * something else than its value: keys, numbers to sort by, weights. Without the
 * expression (an optional parameter that was not given) it is the element itself.
 */
#ifndef KIT_EXPR_VALUE_H
#define KIT_EXPR_VALUE_H

#include "op/kit/expr_run.h"
#include "op/state.h"
#include "value/mp.h"

struct expr_value {
	bool by_expr;
	struct expr_run run;
};

/* Compiles the expression; *type (may be NULL) is the type of its value. */
enum status expr_value_typing(struct op_node *n, struct op_typing *t, struct op_expr *ex,
			      const struct type **type, struct err *e);
/* Like expr_value_typing, but refuses an expression known not to give a number; nulls: or null. */
enum status expr_value_typing_number(struct op_node *n, struct op_typing *t, struct op_expr *ex,
				     bool nulls, struct err *e);
void expr_value_open(struct op_inst *self, struct expr_value *k, const struct op_expr *ex);
void expr_value_close(struct expr_value *k);
/* Evaluates in->e[i]: ST_OK and the value, lent until the next call; ST_SKIP: go on with the
 * next element; else the error to return. */
enum status expr_value_get(struct op_inst *self, struct expr_value *k, const struct run *in,
			   uint32_t i, struct run *out, const uint8_t **p, size_t *len,
			   struct err *e);
/* Evaluates to an integer from 0 to max; `what` names it in errors: "class", "length". */
enum status expr_value_index(struct op_inst *self, struct expr_value *k, const struct run *in,
			     uint32_t i, struct run *out, const char *what, uint64_t max,
			     uint64_t *v, struct err *e);
extern const struct state_kind expr_value_state; /* for state rows of a struct expr_value */
/* The message for a value of this kind where a number is needed. */
const char *expr_value_not_number(enum mp_kind kind);
void expr_value_save(const struct expr_value *k, struct buf *out);
void expr_value_restore(struct expr_value *k, struct state_in *in);

#endif
