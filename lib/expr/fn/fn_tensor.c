/* SPDX-License-Identifier: MIT
 *
 * Functions: tensors made, and made over.
 */
#include <stdio.h>
#include <string.h>

#include "expr/fn.h"
#include "expr/tensor/kernel.h"
#include "expr/tensor/tensor_rule.h"
#include "expr/tensor/tensor_val.h"
#include "value/dtype.h"

/* Reads the numbers of nested lists: first their shape, then the numbers. */
struct tensor_list {
	struct expr_vm *vm;
	const char *why;      /* reason why the list is not a tensor */
	int n_dims;
	uint64_t dims[TYPE_DIMS_MAX];
	bool ended;           /* numbers lie n_dims deep */
	bool floats, ints, bools;
	enum dtype dtype;
	uint8_t *at;
};

static const uint8_t *
tensor_list_measure(struct tensor_list *l, const uint8_t *p, int depth)
{
	struct val v = { 0 };

	val_load(p, &v);
	if (v.kind != VAL_LIST) {
		if (!val_is_number(&v) && v.kind != VAL_BOOL)
			l->why = "of numbers and bools only";
		else if (l->ended ? depth != l->n_dims : depth < l->n_dims)
			l->why = "of lists that are equally deep";
		l->ended = true;
		l->floats |= v.kind == VAL_FLOAT;
		l->ints |= v.kind == VAL_INT || v.kind == VAL_BIG;
		l->bools |= v.kind == VAL_BOOL;
		return l->why ? NULL : mp_past(p);
	}
	uint32_t n = val_count(&v, &p);
	if (depth == TYPE_DIMS_MAX || (l->ended && depth >= l->n_dims)) {
		l->why = depth == TYPE_DIMS_MAX ? "of at most 16 axes" : "of lists that are equally deep";
		return NULL;
	}
	if (depth == l->n_dims) {
		l->dims[depth] = n;
		l->n_dims++;
	} else if (l->dims[depth] != n) {
		l->why = "of lists that are equally long";
		return NULL;
	}
	if (!n && depth + 1 == l->n_dims)
		l->ended = true;
	while (p && n--)
		p = tensor_list_measure(l, p, depth + 1);
	return p;
}

static const uint8_t *
tensor_list_write(struct tensor_list *l, const uint8_t *p, int depth)
{
	struct val v = { 0 };

	val_load(p, &v);
	if (depth < l->n_dims) {
		for (uint32_t n = val_count(&v, &p); p && n; n--)
			p = tensor_list_write(l, p, depth + 1);
		return p;
	}
	if (v.kind == VAL_FLOAT && !dtype_is_float(l->dtype)) {
		kernel_cast(l->dtype, l->at, DTYPE_F64, &v.f, 1); /* converts as cast() does */
	} else if (!tensor_put(l->dtype, &v, l->at)) {
		vm_fault(l->vm, "tensor(): a number of the list does not fit %s", dtype_name(l->dtype));
		return NULL;
	}
	l->at += dtype_size(l->dtype);
	return mp_past(p);
}

static enum dtype
tensor_list_dtype(const struct tensor_list *l)
{
	return l->floats ? DTYPE_F64 : l->bools && !l->ints ? DTYPE_BOOL : l->ints ? DTYPE_I64
		: DTYPE_F64;
}

static enum status
tensor_from_list(struct expr_vm *vm, struct val *out, const struct val *a, enum dtype *dtype)
{
	struct tensor_list l = { .vm = vm };
	struct tensor t = { 0 };
	struct val made;

	if (!tensor_list_measure(&l, a->p, 0))
		return vm_fault(vm, "tensor() takes a list %s", l.why);
	l.dtype = t.dtype = dtype ? *dtype : tensor_list_dtype(&l);
	t.n_dims = l.n_dims;
	memcpy(t.dims, l.dims, sizeof t.dims);
	if (tensor_make(vm, &made, &t, &l.at) || tensor_charge(vm, 8 * t.count))
		return ST_DATA;
	if (!tensor_list_write(&l, a->p, 0))
		return ST_DATA;
	*out = made;
	return ST_OK;
}

/* Makes a tensor whose numbers are the bytes, little endian. */
static enum status
tensor_from_bytes(struct expr_vm *vm, struct val *out, const struct val *a, enum dtype dtype)
{
	struct tensor t = { .dtype = dtype, .n_dims = 1 };
	size_t each = dtype_size(dtype);
	struct val made;
	uint8_t *data;

	t.dims[0] = a->n / each;
	if (a->n % each)
		return vm_fault(vm, "tensor() of %u bytes: %s needs a multiple of %zu", a->n,
				dtype_name(dtype), each);
	if (tensor_make(vm, &made, &t, &data))
		return ST_DATA;
	for (uint32_t i = 0; dtype == DTYPE_BOOL && i < a->n; i++)
		data[i] = a->p[i] != 0;
	if (dtype != DTYPE_BOOL && a->n)
		memcpy(data, a->p, a->n);
	*out = made;
	return ST_OK;
}

static enum status
tensor_cast_to(struct expr_vm *vm, struct val *out, const struct val *a, enum dtype dtype)
{
	struct tensor t, to;
	struct val made;
	uint8_t *data;

	if (tensor_of(vm, a, &t))
		return ST_DATA;
	if (t.dtype == dtype) {
		*out = *a;
		return ST_OK;
	}
	to = t;
	to.dtype = dtype;
	if (tensor_make(vm, &made, &to, &data))
		return ST_DATA;
	kernel_cast(dtype, data, t.dtype, t.data, t.count);
	*out = made;
	return ST_OK;
}

static enum status
tensor_from_number(struct expr_vm *vm, struct val *out, const struct val *a, enum dtype *dtype)
{
	struct tensor t = { .dtype = dtype ? *dtype : a->kind == VAL_FLOAT ? DTYPE_F64
			    : a->kind == VAL_BOOL ? DTYPE_BOOL : DTYPE_I64 };
	struct tensor_list l = { .vm = vm, .dtype = t.dtype };
	uint8_t encoded[MP_INT_MAX];
	struct val made;

	val_encode(a, encoded);
	if (tensor_make(vm, &made, &t, &l.at) || !tensor_list_write(&l, encoded, 0))
		return ST_DATA;
	*out = made;
	return ST_OK;
}

static enum status
tensor_tensor(struct expr_vm *vm, struct val *out, const struct val *a, unsigned n)
{
	enum dtype dtype = DTYPE_U8;

	if (n > 1 && !tensor_dtype_read(vm, &a[1], &dtype))
		return ST_DATA;
	if (a->kind == VAL_BYTES)
		return tensor_from_bytes(vm, out, a, dtype);
	if (a->kind == VAL_LIST)
		return tensor_from_list(vm, out, a, n > 1 ? &dtype : NULL);
	if (a->kind != VAL_EXT)
		return tensor_from_number(vm, out, a, n > 1 ? &dtype : NULL);
	if (n > 1)
		return tensor_cast_to(vm, out, a, dtype);
	*out = *a;
	return ST_OK;
}

static enum status
tensor_cast(struct expr_vm *vm, struct val *out, const struct val *a, unsigned n)
{
	enum dtype dtype;

	(void)n;
	return tensor_dtype_read(vm, &a[1], &dtype) ? tensor_cast_to(vm, out, a, dtype) : ST_DATA;
}

static enum status
tensor_zeros(struct expr_vm *vm, struct val *out, const struct val *a, unsigned n)
{
	struct tensor t = { .dtype = DTYPE_F64 };
	int64_t dims[TYPE_DIMS_MAX];
	struct val made;
	uint8_t *data;

	if (!tensor_dims_read(vm, a, false, dims, &t.n_dims)
	    || (n > 1 && !tensor_dtype_read(vm, &a[1], &t.dtype)))
		return ST_DATA;
	for (int i = 0; i < t.n_dims; i++)
		t.dims[i] = (uint64_t)dims[i];
	if (tensor_make(vm, &made, &t, &data))
		return ST_DATA;
	memset(data, 0, t.size);
	*out = made;
	return ST_OK;
}

static enum status
tensor_dtype(struct expr_vm *vm, struct val *out, const struct val *a, unsigned n)
{
	struct tensor t;

	(void)n;
	if (tensor_of(vm, a, &t))
		return ST_DATA;
	*out = val_text(dtype_name(t.dtype), strlen(dtype_name(t.dtype)));
	return ST_OK;
}

static enum status
tensor_shape(struct expr_vm *vm, struct val *out, const struct val *a, unsigned n)
{
	struct tensor t;
	uint8_t *p, *w;

	(void)n;
	if (tensor_of(vm, a, &t))
		return ST_DATA;
	p = vm_room(vm, MP_HEAD_MAX + MP_INT_MAX * TYPE_DIMS_MAX);
	if (!p)
		return ST_DATA;
	w = mp_put_list_head(p, (uint32_t)t.n_dims);
	for (int i = 0; i < t.n_dims; i++)
		w = mp_put_uint(w, t.dims[i]);
	scratch_done(&vm->scratch, w);
	*out = val_whole(VAL_LIST, p, (size_t)(w - p));
	return ST_OK;
}

static enum status
tensor_reshape(struct expr_vm *vm, struct val *out, const struct val *a, unsigned n)
{
	struct tensor t, to;
	int64_t dims[TYPE_DIMS_MAX];
	struct val made;
	char p[200], q[200];
	uint8_t *data;

	(void)n;
	if (tensor_of(vm, a, &t))
		return ST_DATA;
	to = t;
	if (!tensor_dims_read(vm, &a[1], true, dims, &to.n_dims))
		return ST_DATA;
	for (int i = 0; i < to.n_dims; i++)
		to.dims[i] = (uint64_t)dims[i];
	if (!tensor_reshape_dims((int64_t)t.count, dims, to.n_dims))
		return vm_fault(vm, "reshape() of %llu numbers, shape [%s], to [%s]",
				(unsigned long long)t.count, tensor_dims_print(t.dims, t.n_dims, p),
				tensor_dims_print(to.dims, to.n_dims, q));
	for (int i = 0; i < to.n_dims; i++)
		to.dims[i] = (uint64_t)dims[i];
	if (tensor_make(vm, &made, &to, &data))
		return ST_DATA;
	if (t.size)
		memcpy(data, t.data, t.size);
	*out = made;
	return ST_OK;
}

static enum status
tensor_stack(struct expr_vm *vm, struct val *out, const struct val *a, unsigned n)
{
	struct tensor first, t, to;
	struct val item = { 0 }, made;
	const uint8_t *p, *at;
	uint32_t count = val_count(a, &p);
	uint8_t *data;
	char x[200], y[200];

	(void)n;
	if (!count)
		return vm_fault(vm, "stack() of an empty list");
	at = p;
	for (uint32_t i = 0; i < count; i++, at = mp_past(at)) {
		val_load(at, &item);
		if (tensor_of(vm, &item, &t))
			return ST_DATA;
		if (i == 0)
			first = to = t;
		if (t.n_dims != first.n_dims
		    || memcmp(t.dims, first.dims, (size_t)t.n_dims * sizeof t.dims[0]))
			return vm_fault(vm, "stack() of tensors of shapes [%s] and [%s]",
					tensor_dims_print(first.dims, first.n_dims, x),
					tensor_dims_print(t.dims, t.n_dims, y));
		to.dtype = tensor_promote(to.dtype, t.dtype);
	}
	if (first.n_dims == TYPE_DIMS_MAX)
		return vm_fault(vm, "a tensor has at most %d axes", TYPE_DIMS_MAX);
	memcpy(to.dims + 1, first.dims, (size_t)first.n_dims * sizeof to.dims[0]);
	to.dims[0] = count;
	to.n_dims = first.n_dims + 1;
	if (tensor_make(vm, &made, &to, &data))
		return ST_DATA;
	for (uint32_t i = 0; i < count; i++, p = mp_past(p)) {
		val_load(p, &item);
		tensor_of(vm, &item, &t);
		kernel_cast(to.dtype, data, t.dtype, t.data, t.count);
		data += t.count * dtype_size(to.dtype);
	}
	*out = made;
	return ST_OK;
}

const struct fn fn_tensor[] = {
	{ "tensor", "M?t", .call = tensor_tensor, .check = tensor_rule_tensor,
	  .args = "list|number|bytes[, dtype]",
	  .brief = "a tensor of the numbers in nested lists; unless a dtype is given, ints give "
		  "i64, floats f64 and bools bool; bytes become u8 numbers",
	  .example = "tensor([[1, 2], [3, 4]], \"u8\") + 1", .output = "[[2,3],[4,5]]" },
	{ "zeros", "l?t", .call = tensor_zeros, .check = tensor_rule_zeros, .args = "shape[, dtype]",
	  .brief = "a tensor of zeros; its dtype is f64 unless another is given",
	  .example = "zeros([2, 3], \"u8\")",
	  .output = "[[0,0,0],[0,0,0]]" },
	{ "dtype", "T", "text", .call = tensor_dtype, .args = "tensor",
	  .brief = "the dtype: u8, u16, u32, u64, i8, i16, i32, i64, f16, bf16, f32, f64 or bool",
	  .example = "dtype(tensor([1, 2]) / 2)", .output = "f64" },
	{ "shape", "T", "[int]", .call = tensor_shape, .args = "tensor",
	  .brief = "the lengths of the axes",
	  .example = "shape(zeros([2, 3]))", .output = "[2,3]" },
	{ "reshape", "Tl", .call = tensor_reshape, .check = tensor_rule_reshape, .args = "tensor, shape",
	  .brief = "the same numbers in another shape; one length may be -1, and is then computed "
		  "from the others",
	  .example = "reshape(tensor([1, 2, 3, 4]), [2, -1])", .output = "[[1,2],[3,4]]" },
	{ "cast", "Tt", .call = tensor_cast, .check = tensor_rule_cast, .args = "tensor, dtype",
	  .brief = "the tensor in another dtype: ints wrap around; floats that become ints lose "
		  "their fraction and are limited to the range of the dtype, and nan becomes 0",
	  .example = "cast(tensor([1.5, -2.5, 300.0]), \"u8\")", .output = "[1,0,255]" },
	{ "stack", "l", .call = tensor_stack, .check = tensor_rule_stack, .args = "list of tensors",
	  .brief = "tensors of one shape, joined along a new first axis",
	  .example = "stack([tensor([1, 2]), tensor([3, 4])])", .output = "[[1,2],[3,4]]" },
	{ 0 }
};
