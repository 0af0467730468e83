/* SPDX-License-Identifier: MIT
 *
 * Tensors as values of the machine: VAL_EXT whose encoding is one. What is made
 * here is in the canonical form of value/tensor.h, so that equal tensors are
 * equal bytes. A result is limited as all values are (SCRATCH_VALUE_MAX), and
 * that is looked at before there is memory for it.
 */
#ifndef TENSOR_TENSOR_VAL_H
#define TENSOR_TENSOR_VAL_H

#include "expr/code.h"
#include "expr/val.h"
#include "expr/vm.h"
#include "value/tensor.h"

/* Lends the tensor in the value; a fault when it is not a known tensor. */
enum status tensor_of(struct expr_vm *vm, const struct val *v, struct tensor *t);
/* Makes a tensor of t's dtype and dims, whose data is then to be written at *data. It lies
 * where the machine wants its result, or in the scratch memory. */
enum status tensor_make(struct expr_vm *vm, struct val *d, struct tensor *t, uint8_t **data);
/* One number of a tensor, as a value. */
struct val tensor_item(enum dtype t, const uint8_t *p);
/* Writes the number at p in dtype t; false: it does not fit. */
bool tensor_put(enum dtype t, const struct val *v, uint8_t *p);
/* Prints the lengths of the axes as they are written: [2,3]. */
const char *tensor_dims_print(const uint64_t *dims, int n_dims, char out[200]);
/* Reads a list of lengths, each at least 0, or -1 where `open`; false: the fault is set. */
bool tensor_dims_read(struct expr_vm *vm, const struct val *list, bool open, int64_t *dims,
		      int *n_dims);
bool tensor_dtype_read(struct expr_vm *vm, const struct val *name, enum dtype *out);
bool tensor_dtype_find(const struct val *name, enum dtype *out);
/* Charges for work by the number, as for items of lists, but less. */
enum status tensor_charge(struct expr_vm *vm, uint64_t count);

/* The common dtype of two tensors, as in numpy 2. */
enum dtype tensor_promote(enum dtype a, enum dtype b);
/* The common dtype of a tensor of dtype t and a plain number of the kind (VAL_*). */
enum dtype tensor_promote_plain(enum dtype t, unsigned kind);
/* The dtype of the result of an operation (enum code_op) on operands promoted to t. */
enum dtype tensor_promote_op(unsigned op, enum dtype t);
/* The common shape of two, last axes first; false: they do not go together. Lengths below 0
 * are unknown. */
bool tensor_broadcast(const int64_t *a, int n_a, const int64_t *b, int n_b, int64_t *out,
		      int *n_out);

/* Operators and functions, where one of the values is a tensor. */
enum status tensor_binary(struct expr_vm *vm, unsigned op, struct val *d, const struct val *a,
			  const struct val *b);
enum status tensor_most(struct expr_vm *vm, bool least, struct val *d, const struct val *a,
			const struct val *b);
/* Operators and functions of one tensor: enum kernel_unary. */
enum status tensor_unary(struct expr_vm *vm, unsigned op, const char *name, struct val *d,
			 const struct val *a);
enum status tensor_index(struct expr_vm *vm, struct val *d, const struct val *a,
			 const struct val *i);
/* Takes [from, to) of the first axis, or a fault; an empty range gives none. */
enum status tensor_slice(struct expr_vm *vm, struct val *d, const struct val *a, int64_t from,
			 int64_t to);
enum status tensor_cat(struct expr_vm *vm, struct val *d, const struct val *a,
		       const struct val *b);
/* Length of the first axis; -1: it has none, the fault is set. */
int64_t tensor_length(struct expr_vm *vm, const struct val *a);

static inline bool
tensor_is(const struct val *v)
{
	return v->kind == VAL_EXT;
}

#endif
