/* SPDX-License-Identifier: MIT
 *
 * Operators of numbers, tests and tensors, beyond what the machine does in place.
 * op: enum code_op.
 */
#ifndef RUN_ARITH_H
#define RUN_ARITH_H

#include "expr/vm.h"

enum status arith_binary(struct expr_vm *vm, unsigned op, struct val *d, const struct val *a,
			 const struct val *b);
enum status arith_negate(struct expr_vm *vm, struct val *d, const struct val *a);
enum status arith_compare(struct expr_vm *vm, unsigned op, struct val *d, const struct val *a,
			  const struct val *b);

#endif
