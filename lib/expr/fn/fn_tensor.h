/* SPDX-License-Identifier: MIT
 *
 * What functions of lists and numbers do when they are given a tensor.
 */
#ifndef FN_FN_TENSOR_H
#define FN_FN_TENSOR_H

#include "expr/vm.h"

/* sum, mean: over all numbers, or along the axis a[1]. */
enum status fn_tensor_total(struct expr_vm *vm, struct val *out, const struct val *a, unsigned n,
			  bool mean);
/* amin, amax: over all numbers, or along the axis a[1]. */
enum status fn_tensor_most(struct expr_vm *vm, struct val *out, const struct val *a, unsigned n,
			   bool least);

#endif
