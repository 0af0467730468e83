/* SPDX-License-Identifier: MIT
 *
 * Arithmetic on whole columns. An expression that only calculates with x and i,
 * x being known to be an int or a float, is evaluated for COLUMN_LEN elements at
 * a time, operator by operator. Whatever is out of the ordinary (a value of
 * another kind, an overflow, a zero divisor) sends those elements to the machine,
 * which knows all the rules; so a column never has to be right about errors.
 */
#ifndef EXPR_COLUMN_H
#define EXPR_COLUMN_H

#include "expr/run/machine.h"

enum { COLUMN_LEN = 128, COLUMN_OPS = 16, COLUMN_MOST = 2 * COLUMN_OPS + 8 };

enum column_kind { COLUMN_INT, COLUMN_FLOAT, COLUMN_BOOL };

union column {
	int64_t i[COLUMN_LEN]; /* COLUMN_BOOL: 0 and 1 */
	double f[COLUMN_LEN];
};

struct column_op {
	uint8_t op;      /* enum code_op; CODE_MOVE: int to float */
	uint8_t kind;    /* kind of the operands */
	uint8_t d, a, b; /* number of the columns */
};

/* x is column 0, i column 1. */
struct column_plan {
	uint8_t n_ops, n_cols, result;
	uint8_t x_kind, kind; /* kinds of x and of the result */
	struct column_op ops[COLUMN_OPS];
	struct val consts[COLUMN_MOST]; /* constant that fills the column; nil: none */
};

/* Gives the plan; NULL: the code cannot be run by columns. */
struct column_plan *column_plan_new(const struct expr *x, const struct type *type);
/* Does what machine_run does, for MAP and FILTER. */
enum status column_run(struct expr_vm *vm, enum machine_mode mode, const struct run *in,
		       uint32_t *from, struct run *out);

#endif
