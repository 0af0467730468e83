/* SPDX-License-Identifier: MIT */
#include "expr/tensor/tensor_val.h"

#include <stdio.h>
#include <string.h>

#include "value/dtype.h"

enum { TENSOR_CHEAP = 16 /* numbers that cost as much as one item of a list */ };

enum status
tensor_of(struct expr_vm *vm, const struct val *v, struct tensor *t)
{
	struct mp m;

	if (v->kind != VAL_EXT)
		return vm_fault(vm, "%s is not a tensor", val_kind_name(v->kind));
	mp_head(v->p, v->p + val_span(v), &m);
	if (m.kind != MP_EXT || m.ext != MP_EXT_TENSOR || !tensor_read(m.p, m.n, t))
		return vm_fault(vm, "an extension value that is not a tensor");
	return ST_OK;
}

/* Whether the value made now is the result of the expression, which goes to the output at once. */
static bool
tensor_is_last(const struct expr_vm *vm)
{
	return vm->direct && vm->ins[1].op == CODE_RET && vm->ins[1].a == vm->ins->d;
}

enum status
tensor_make(struct expr_vm *vm, struct val *d, struct tensor *t, uint8_t **data)
{
	uint8_t head[TENSOR_HEAD_MAX], *p;
	uint8_t *end = tensor_put_head(head, t);
	size_t n = end ? (size_t)(end - head) + t->size : 0;

	if (!end || n > SCRATCH_VALUE_MAX)
		return vm_fault(vm, "a tensor %s[%s] is too large (most is %d MiB)",
				dtype_name(t->dtype),
				tensor_dims_print(t->dims, t->n_dims, (char[200]){ 0 }),
				SCRATCH_VALUE_MAX >> 20);
	if (tensor_charge(vm, t->count))
		return ST_DATA;
	if (tensor_is_last(vm)) {
		p = run_room(vm->direct, n);
	} else {
		p = vm_room(vm, n);
		if (!p)
			return ST_DATA;
		scratch_done(&vm->scratch, p + n);
	}
	memcpy(p, head, (size_t)(end - head));
	*data = p + (end - head);
	t->data = *data;
	*d = val_whole(VAL_EXT, p, n);
	return ST_OK;
}

struct val
tensor_item(enum dtype t, const uint8_t *p)
{
	if (t == DTYPE_BOOL)
		return val_bool(*p != 0);
	if (dtype_is_float(t))
		return val_float(dtype_float(t, p));
	return t == DTYPE_U64 ? val_uint((uint64_t)dtype_int(t, p)) : val_int(dtype_int(t, p));
}

static bool
tensor_int_fits(enum dtype t, const struct val *v)
{
	__int128 w = val_to_wide(v);
	unsigned bits = (unsigned)dtype_size(t) * 8;

	if (t == DTYPE_BOOL)
		return w == 0 || w == 1;
	if (t <= DTYPE_U64)
		return w >= 0 && w >> bits == 0;
	return w >> (bits - 1) == 0 || w >> (bits - 1) == -1;
}

bool
tensor_put(enum dtype t, const struct val *v, uint8_t *p)
{
	if (dtype_is_float(t)) {
		dtype_put_float(t, v->kind == VAL_BOOL ? v->b : val_to_float(v), p);
		return true;
	}
	struct val i = v->kind == VAL_BOOL ? val_int(v->b) : *v;
	if (v->kind == VAL_FLOAT || !tensor_int_fits(t, &i))
		return false;
	memcpy(p, &i.u, dtype_size(t)); /* little endian: the low bytes come first */
	return true;
}

const char *
tensor_dims_print(const uint64_t *dims, int n_dims, char out[200])
{
	size_t at = 0;

	out[0] = '\0';
	for (int i = 0; i < n_dims && at < 170; i++)
		at += (size_t)snprintf(out + at, 200 - at, "%s%llu", i ? "," : "",
				       (unsigned long long)dims[i]);
	return out;
}

bool
tensor_dims_read(struct expr_vm *vm, const struct val *list, bool open, int64_t *dims, int *n_dims)
{
	const uint8_t *p;
	struct val v = { 0 };
	uint32_t n = val_count(list, &p);

	if (n > TYPE_DIMS_MAX) {
		vm_fault(vm, "a tensor has at most %d axes, not %u", TYPE_DIMS_MAX, n);
		return false;
	}
	for (uint32_t i = 0; i < n; i++, p = mp_past(p)) {
		val_load(p, &v);
		if (v.kind != VAL_INT || v.i < (open ? -1 : 0)) {
			vm_fault(vm, "a shape is a list of lengths, and %s is none",
				 v.kind == VAL_INT ? "a number below 0" : val_kind_name(v.kind));
			return false;
		}
		dims[i] = v.i;
	}
	*n_dims = (int)n;
	return true;
}

bool
tensor_dtype_find(const struct val *name, enum dtype *out)
{
	for (unsigned d = 0; name->kind == VAL_TEXT && d < DTYPE_COUNT; d++)
		if (strlen(dtype_name(d)) == name->n && !memcmp(dtype_name(d), name->p, name->n)) {
			*out = d;
			return true;
		}
	return false;
}

bool
tensor_dtype_read(struct expr_vm *vm, const struct val *name, enum dtype *out)
{
	if (tensor_dtype_find(name, out))
		return true;
	vm_fault(vm, "there is no dtype \"%.*s\": u8 to u64, i8 to i64, f16 to f64, bf16, bool",
		 (int)(name->n < 40 ? name->n : 40), (const char *)name->p);
	return false;
}

enum status
tensor_charge(struct expr_vm *vm, uint64_t count)
{
	return vm_steps(vm, count / TENSOR_CHEAP);
}

/* The int dtype of the size in bytes: u8..u64 or i8..i64. */
static enum dtype
tensor_int(bool minus, size_t size)
{
	return (enum dtype)((minus ? DTYPE_I8 : DTYPE_U8)
			    + (size == 1 ? 0 : size == 2 ? 1 : size == 4 ? 2 : 3));
}

/* A float with an int of `size` bytes: the smallest float that holds all of both. */
static enum dtype
tensor_float(enum dtype f, size_t size)
{
	if (size > 2)
		return DTYPE_F64;
	return size == 2 && dtype_is_half(f) ? DTYPE_F32 : f;
}

enum dtype
tensor_promote(enum dtype a, enum dtype b)
{
	size_t x = dtype_size(a), y = dtype_size(b);

	if (a == b || b == DTYPE_BOOL)
		return a;
	if (a == DTYPE_BOOL)
		return b;
	if (dtype_is_float(a) && dtype_is_float(b))
		return a == DTYPE_F64 || b == DTYPE_F64 ? DTYPE_F64 : DTYPE_F32;
	if (dtype_is_float(a))
		return tensor_float(a, y);
	if (dtype_is_float(b))
		return tensor_float(b, x);
	if ((a <= DTYPE_U64) == (b <= DTYPE_U64))
		return x > y ? a : b;
	size_t u = a <= DTYPE_U64 ? x : y, s = a <= DTYPE_U64 ? y : x;
	return u < s ? tensor_int(true, s) : u == 8 ? DTYPE_F64 : tensor_int(true, 2 * u);
}

enum dtype
tensor_promote_plain(enum dtype t, unsigned kind)
{
	if (kind == VAL_BOOL || dtype_is_float(t))
		return t;
	if (kind == VAL_FLOAT)
		return DTYPE_F64;
	return t == DTYPE_BOOL ? DTYPE_I64 : t;
}

enum dtype
tensor_promote_op(unsigned op, enum dtype t)
{
	if (op >= CODE_EQ && op <= CODE_GE)
		return DTYPE_BOOL;
	return op == CODE_DIV && !dtype_is_float(t) ? DTYPE_F64 : t;
}

bool
tensor_broadcast(const int64_t *a, int n_a, const int64_t *b, int n_b, int64_t *out, int *n_out)
{
	int n = n_a > n_b ? n_a : n_b;

	*n_out = n;
	for (int k = 1; k <= n; k++) {
		int64_t x = k <= n_a ? a[n_a - k] : 1, y = k <= n_b ? b[n_b - k] : 1;

		if (x == y || y == 1)
			out[n - k] = x;
		else if (x == 1)
			out[n - k] = y;
		else if (x < 0 || y < 0)
			out[n - k] = x < 0 ? y : x;
		else
			return false;
	}
	return true;
}
