/* SPDX-License-Identifier: MIT
 *
 * Parts of tensors along the first axis, and tensors put end to end along it.
 */
#include <string.h>

#include "expr/tensor/kernel.h"
#include "expr/tensor/tensor_val.h"

static enum status
tensor_part_of(struct expr_vm *vm, const struct val *v, struct tensor *t)
{
	if (tensor_of(vm, v, t))
		return ST_DATA;
	if (!t->n_dims)
		return vm_fault(vm, "a tensor without axes is one number and has no items");
	return ST_OK;
}

int64_t
tensor_length(struct expr_vm *vm, const struct val *a)
{
	struct tensor t;

	return tensor_part_of(vm, a, &t) ? -1 : (int64_t)t.dims[0];
}

static void
tensor_copy(uint8_t *to, const uint8_t *from, size_t n)
{
	if (n)
		memcpy(to, from, n);
}

enum status
tensor_index(struct expr_vm *vm, struct val *d, const struct val *a, const struct val *i)
{
	struct tensor t, out = { 0 };
	struct val made;
	uint8_t *data;

	if (tensor_part_of(vm, a, &t))
		return ST_DATA;
	if (i->kind != VAL_INT)
		return vm_fault(vm, "an index is an int, not %s", val_kind_name(i->kind));
	int64_t n = (int64_t)t.dims[0], k = i->i + (i->i < 0 ? n : 0);
	if (k < 0 || k >= n)
		return vm_fault(vm, "index %lld is out of range: the first axis has length %lld",
				(long long)i->i, (long long)n);
	out.dtype = t.dtype;
	out.n_dims = t.n_dims - 1;
	memcpy(out.dims, t.dims + 1, (size_t)out.n_dims * sizeof out.dims[0]);
	size_t size = t.size / t.dims[0];
	const uint8_t *from = t.data + (size_t)k * size;
	if (!out.n_dims) {
		*d = tensor_item(t.dtype, from);
		return ST_OK;
	}
	if (tensor_make(vm, &made, &out, &data))
		return ST_DATA;
	tensor_copy(data, from, out.size);
	*d = made;
	return ST_OK;
}

enum status
tensor_slice(struct expr_vm *vm, struct val *d, const struct val *a, int64_t from, int64_t to)
{
	struct tensor t, out;
	struct val made;
	uint8_t *data;

	if (tensor_part_of(vm, a, &t))
		return ST_DATA;
	out = t;
	out.dims[0] = (uint64_t)(to - from);
	if (tensor_make(vm, &made, &out, &data))
		return ST_DATA;
	if (out.size)
		memcpy(data, t.data + (size_t)from * (t.size / t.dims[0]), out.size);
	*d = made;
	return ST_OK;
}

static void
tensor_convert(enum dtype to, uint8_t *d, const struct tensor *t)
{
	for (uint64_t i = 0; i < t->count; i += KERNEL_BLOCK)
		kernel_cast(to, d + i * dtype_size(to), t->dtype, t->data + i * dtype_size(t->dtype),
			    t->count - i < KERNEL_BLOCK ? (size_t)(t->count - i) : KERNEL_BLOCK);
}

enum status
tensor_cat(struct expr_vm *vm, struct val *d, const struct val *a, const struct val *b)
{
	struct tensor x, y, out;
	struct val made;
	uint8_t *data;
	char p[200], q[200];

	if (a->kind != b->kind)
		return vm_fault(vm, "`++` of %s and %s", val_kind_name(a->kind),
				val_kind_name(b->kind));
	if (tensor_part_of(vm, a, &x) || tensor_part_of(vm, b, &y))
		return ST_DATA;
	if (x.n_dims != y.n_dims
	    || memcmp(x.dims + 1, y.dims + 1, (size_t)(x.n_dims - 1) * sizeof x.dims[0]))
		return vm_fault(vm, "`++` of tensors of shapes [%s] and [%s]: they may differ in "
				"the first length only", tensor_dims_print(x.dims, x.n_dims, p),
				tensor_dims_print(y.dims, y.n_dims, q));
	out = x;
	out.dtype = tensor_promote(x.dtype, y.dtype);
	if (__builtin_add_overflow(x.dims[0], y.dims[0], &out.dims[0]))
		return vm_fault(vm, "`++` of tensors that are too long");
	if (tensor_make(vm, &made, &out, &data))
		return ST_DATA;
	tensor_convert(out.dtype, data, &x);
	tensor_convert(out.dtype, data + x.count * dtype_size(out.dtype), &y);
	*d = made;
	return ST_OK;
}
