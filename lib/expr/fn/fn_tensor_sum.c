/* SPDX-License-Identifier: MIT
 *
 * Functions: what becomes of all numbers of a tensor, or of those along one
 * axis; and choosing between two. Sums are worked out in ints of 64 bits (of
 * all numbers: exactly) and in doubles.
 *
 *	[outer, length, inner], the axis in the middle  ->  [outer, inner]
 */
#include <math.h>
#include <string.h>

#include "expr/fn.h"
#include "expr/fn/fn_tensor.h"
#include "expr/tensor/kernel.h"
#include "expr/tensor/tensor_rule.h"
#include "expr/tensor/tensor_val.h"
#include "value/dtype.h"

enum { SUM_SMALL = 4 /* bytes of an int whose block sums fit 64 bits */ };

static uint64_t
sum_least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static enum dtype
sum_dtype(enum dtype t)
{
	return dtype_is_float(t) ? DTYPE_F64 : t <= DTYPE_U64 ? DTYPE_U64 : DTYPE_I64;
}

/* The sum of n numbers at p, as an int. */
static __int128
sum_ints(enum dtype t, const uint8_t *p, uint64_t n)
{
	int64_t block[KERNEL_BLOCK];
	__int128 sum = 0;

	for (uint64_t i = 0; i < n; i += KERNEL_BLOCK) {
		size_t k = sum_least(n - i, KERNEL_BLOCK);
		const uint8_t *s = p + i * dtype_size(t);

		kernel_cast(DTYPE_I64, block, t, s, k);
		if (dtype_size(t) <= SUM_SMALL)
			sum += kernel_sum_int(block, k);
		else
			for (size_t j = 0; j < k; j++)
				sum += t == DTYPE_U64 ? (__int128)(uint64_t)block[j] : (__int128)block[j];
	}
	return sum;
}

/* The sum of n numbers as doubles. f32 is widened part by part, in the order that kernel_sum
 * has. */
static double
sum_floats(enum dtype t, const uint8_t *p, uint64_t n)
{
	double block[KERNEL_BLOCK];

	if (n <= KERNEL_BLOCK) {
		kernel_cast(DTYPE_F64, block, t, p, n);
		return kernel_sum(block, n);
	}
	uint64_t half = n / 2 - n / 2 % 8;
	return sum_floats(t, p, half) + sum_floats(t, p + half * dtype_size(t), n - half);
}

static enum status
sum_all(struct expr_vm *vm, struct val *out, const struct tensor *t, bool mean)
{
	if (mean && !t->count)
		return vm_fault(vm, "mean() of a tensor without numbers");
	if (tensor_charge(vm, t->count))
		return ST_DATA;
	if (dtype_is_float(t->dtype)) {
		double f = t->count ? sum_floats(t->dtype, t->data, t->count) : 0;

		*out = val_float(mean ? f / (double)t->count : f);
		return ST_OK;
	}
	__int128 sum = sum_ints(t->dtype, t->data, t->count);
	if (mean)
		*out = val_float((double)sum / (double)t->count);
	else if (sum < INT64_MIN || sum > (t->dtype == DTYPE_U64 ? (__int128)UINT64_MAX : INT64_MAX))
		return vm_fault(vm, "integer overflow: this sum does not fit 64 bits");
	else
		*out = sum < 0 ? val_int((int64_t)sum) : val_uint((uint64_t)sum);
	return ST_OK;
}

/* The cut of t at the axis; out is t without the axis. */
struct sum_cut {
	uint64_t outer, length, inner;
	struct tensor out;
};

static enum status
sum_cut(struct expr_vm *vm, const char *name, const struct tensor *t, const struct val *axis,
	struct sum_cut *c)
{
	int64_t k = axis->i < 0 ? axis->i + t->n_dims : axis->i;

	if (k < 0 || k >= t->n_dims)
		return vm_fault(vm, "%s(): there is no axis %lld in a tensor of %d", name,
				(long long)axis->i, t->n_dims);
	c->outer = c->inner = 1;
	c->out.n_dims = 0;
	for (int i = 0; i < t->n_dims; i++) {
		if (i == k)
			c->length = t->dims[i];
		else
			c->out.dims[c->out.n_dims++] = t->dims[i];
	}
	/* When another length is 0 the product could overflow; nothing is read then. */
	for (int i = 0; i < t->n_dims && t->count; i++)
		*(i < k ? &c->outer : &c->inner) *= i == k ? 1 : t->dims[i];
	return ST_OK;
}

/* One sum for each row: the axis is the last one. */
static void
sum_rows(const struct tensor *t, enum dtype work, const struct sum_cut *c, uint8_t *to)
{
	size_t row = c->length * dtype_size(t->dtype);

	for (uint64_t o = 0; o < c->outer; o++, to += 8) {
		double f = work == DTYPE_F64 ? sum_floats(t->dtype, t->data + o * row, c->length) : 0;
		__int128 i = work == DTYPE_F64 ? 0 : sum_ints(t->dtype, t->data + o * row, c->length);
		uint64_t low = (uint64_t)i; /* wraps */

		memcpy(to, work == DTYPE_F64 ? (void *)&f : (void *)&low, 8);
	}
}

/* Adds the rows, one to the other. */
static void
sum_columns(const struct tensor *t, enum dtype work, const struct sum_cut *c, uint8_t *to)
{
	size_t each = dtype_size(t->dtype);
	uint8_t part[KERNEL_BLOCK * 8], sum[KERNEL_BLOCK * 8];

	for (uint64_t o = 0; o < c->outer; o++)
		for (uint64_t i = 0; i < c->inner; i += KERNEL_BLOCK) {
			size_t n = sum_least(c->inner - i, KERNEL_BLOCK);
			uint8_t *w = to + (o * c->inner + i) * 8;

			memset(sum, 0, n * 8);
			for (uint64_t k = 0; k < c->length; k++) {
				kernel_cast(work, part, t->dtype,
					    t->data + ((o * c->length + k) * c->inner + i) * each, n);
				kernel_binary(KERNEL_ADD, work, w, sum, part, n);
				memcpy(sum, w, n * 8);
			}
		}
}

static enum status
sum_along(struct expr_vm *vm, struct val *out, const struct tensor *t, const struct val *axis,
	  bool mean)
{
	const char *name = mean ? "mean" : "sum";
	enum dtype work = sum_dtype(t->dtype);
	struct sum_cut c = { 0 };
	struct val made;
	uint8_t *data, *wide;

	if (sum_cut(vm, name, t, axis, &c))
		return ST_DATA;
	if (mean && !c.length)
		return vm_fault(vm, "mean() along an axis of length 0");
	c.out.dtype = dtype_is_float(t->dtype) ? t->dtype : mean ? DTYPE_F64 : work;
	if (mean && !dtype_is_float(work))
		work = DTYPE_F64;
	if (tensor_make(vm, &made, &c.out, &data) || tensor_charge(vm, t->count))
		return ST_DATA;
	wide = data;
	if (dtype_size(c.out.dtype) < 8) {
		wide = vm_room(vm, c.out.count * 8);
		if (!wide)
			return ST_DATA;
	}
	if (!t->count)
		memset(wide, 0, c.out.count * 8);
	else if (c.inner == 1)
		sum_rows(t, work, &c, wide);
	else
		sum_columns(t, work, &c, wide);
	for (uint64_t i = 0; mean && i < c.out.count; i++) {
		double f;

		memcpy(&f, wide + i * 8, 8);
		f /= (double)c.length;
		memcpy(wide + i * 8, &f, 8);
	}
	if (wide != data)
		kernel_cast(c.out.dtype, data, DTYPE_F64, wide, c.out.count);
	*out = made;
	return ST_OK;
}

enum status
fn_tensor_total(struct expr_vm *vm, struct val *out, const struct val *a, unsigned n, bool mean)
{
	struct tensor t;

	if (tensor_of(vm, a, &t))
		return ST_DATA;
	return n > 1 ? sum_along(vm, out, &t, &a[1], mean) : sum_all(vm, out, &t, mean);
}

/* Puts the least or greatest of n numbers into `to`: compares blocks number by number, then
 * folds the last one. */
static void
most_row(enum kernel_op op, enum dtype t, const uint8_t *p, uint64_t n, uint8_t *to)
{
	size_t each = dtype_size(t), have = sum_least(n, KERNEL_BLOCK);
	uint8_t best[KERNEL_BLOCK * 8], next[KERNEL_BLOCK * 8];

	memcpy(best, p, have * each);
	for (uint64_t i = have; i < n; i += KERNEL_BLOCK) {
		size_t k = sum_least(n - i, KERNEL_BLOCK);

		kernel_binary(op, t, next, best, p + i * each, k);
		memcpy(best, next, k * each);
	}
	while (have > 1) {
		size_t half = have / 2;

		kernel_binary(op, t, next, best, best + (have - half) * each, half);
		memcpy(best, next, half * each);
		have -= half;
	}
	memcpy(to, best, each);
}

static void
most_columns(enum kernel_op op, const struct tensor *t, const struct sum_cut *c, uint8_t *to)
{
	size_t each = dtype_size(t->dtype);
	uint8_t best[KERNEL_BLOCK * 8];

	for (uint64_t o = 0; o < c->outer; o++)
		for (uint64_t i = 0; i < c->inner; i += KERNEL_BLOCK) {
			size_t n = sum_least(c->inner - i, KERNEL_BLOCK);
			const uint8_t *p = t->data + (o * c->length * c->inner + i) * each;
			uint8_t *w = to + (o * c->inner + i) * each;

			memcpy(w, p, n * each);
			for (uint64_t k = 1; k < c->length; k++) {
				memcpy(best, w, n * each);
				kernel_binary(op, t->dtype, w, best, p + k * c->inner * each, n);
			}
		}
}

enum status
fn_tensor_most(struct expr_vm *vm, struct val *out, const struct val *a, unsigned n, bool least)
{
	enum kernel_op op = least ? KERNEL_MIN : KERNEL_MAX;
	const char *name = least ? "amin" : "amax";
	struct sum_cut c = { 0 };
	struct tensor t;
	struct val made;
	uint8_t *data, one[8];

	if (tensor_of(vm, a, &t) || tensor_charge(vm, t.count))
		return ST_DATA;
	if (n < 2) {
		if (!t.count)
			return vm_fault(vm, "%s() of a tensor without numbers", name + 1);
		most_row(op, t.dtype, t.data, t.count, one);
		*out = tensor_item(t.dtype, one);
		return ST_OK;
	}
	if (sum_cut(vm, name, &t, &a[1], &c))
		return ST_DATA;
	if (!c.length)
		return vm_fault(vm, "%s() along an axis of length 0", name);
	c.out.dtype = t.dtype;
	if (tensor_make(vm, &made, &c.out, &data))
		return ST_DATA;
	if (t.count && c.inner == 1)
		for (uint64_t o = 0; o < c.outer; o++)
			most_row(op, t.dtype, t.data + o * c.length * dtype_size(t.dtype), c.length,
				 data + o * dtype_size(t.dtype));
	else if (t.count)
		most_columns(op, &t, &c, data);
	*out = made;
	return ST_OK;
}

static enum status
sum_amin(struct expr_vm *vm, struct val *out, const struct val *a, unsigned n)
{
	return fn_tensor_most(vm, out, a, n, true);
}

static enum status
sum_amax(struct expr_vm *vm, struct val *out, const struct val *a, unsigned n)
{
	return fn_tensor_most(vm, out, a, n, false);
}

/* One of the values of where(): a tensor of the test's shape, or a number in a block. */
struct sum_side {
	bool plain;
	struct tensor t;
	uint8_t block[KERNEL_BLOCK * 8];
};

static enum status
sum_side_init(struct expr_vm *vm, struct sum_side *s, const struct val *v, const struct tensor *test)
{
	char p[200], q[200];

	s->plain = !tensor_is(v);
	if (s->plain)
		return ST_OK;
	if (tensor_of(vm, v, &s->t))
		return ST_DATA;
	if (s->t.n_dims == test->n_dims
	    && !memcmp(s->t.dims, test->dims, (size_t)test->n_dims * sizeof test->dims[0]))
		return ST_OK;
	return vm_fault(vm, "where() of tensors of shapes [%s] and [%s]",
			tensor_dims_print(test->dims, test->n_dims, p),
			tensor_dims_print(s->t.dims, s->t.n_dims, q));
}

static enum status
sum_side_fix(struct expr_vm *vm, struct sum_side *s, const struct val *v, enum dtype t)
{
	size_t each = dtype_size(t);

	if (!s->plain)
		return ST_OK;
	if (!tensor_put(t, v, s->block))
		return vm_fault(vm, "where(): an int that does not fit %s", dtype_name(t));
	for (size_t i = 1; i < KERNEL_BLOCK; i++)
		memcpy(s->block + i * each, s->block, each);
	return ST_OK;
}

static const uint8_t *
sum_side_get(struct sum_side *s, enum dtype t, uint64_t i, size_t n)
{
	if (!s->plain)
		kernel_cast(t, s->block, s->t.dtype, s->t.data + i * dtype_size(s->t.dtype), n);
	return s->block;
}

static enum status
sum_where(struct expr_vm *vm, struct val *out, const struct val *a, unsigned n)
{
	struct sum_side x, y;
	struct tensor test, to;
	struct val made;
	uint8_t *data;
	enum dtype t;

	(void)n;
	if (tensor_of(vm, a, &test) || sum_side_init(vm, &x, &a[1], &test)
	    || sum_side_init(vm, &y, &a[2], &test))
		return ST_DATA;
	if (test.dtype != DTYPE_BOOL)
		return vm_fault(vm, "where() takes a tensor of bools first, not of %s",
				dtype_name(test.dtype));
	if (x.plain)
		t = y.plain ? tensor_where_plain(a[1].kind, a[2].kind)
			: tensor_promote_plain(y.t.dtype, a[1].kind);
	else
		t = y.plain ? tensor_promote_plain(x.t.dtype, a[2].kind)
			: tensor_promote(x.t.dtype, y.t.dtype);
	to = test;
	to.dtype = t;
	if (sum_side_fix(vm, &x, &a[1], t) || sum_side_fix(vm, &y, &a[2], t)
	    || tensor_make(vm, &made, &to, &data))
		return ST_DATA;
	for (uint64_t i = 0; i < to.count; i += KERNEL_BLOCK) {
		size_t m = sum_least(to.count - i, KERNEL_BLOCK);

		kernel_where(dtype_size(t), data + i * dtype_size(t), test.data + i,
			     sum_side_get(&x, t, i, m), sum_side_get(&y, t, i, m), m);
	}
	*out = made;
	return ST_OK;
}

const struct fn fn_tensor_sum[] = {
	{ "amin", "T?i", .call = sum_amin, .check = tensor_rule_most, .args = "tensor[, axis]",
	  .brief = "the least number, or the least numbers along an axis",
	  .example = "amin(tensor([[1, 5], [4, 2]]), 0)", .output = "[1,2]" },
	{ "amax", "T?i", .call = sum_amax, .check = tensor_rule_most, .args = "tensor[, axis]",
	  .brief = "the greatest number, or the greatest numbers along an axis",
	  .example = "amax(tensor([[1, 5], [4, 2]]), -1)", .output = "[5,4]" },
	{ "where", "TUU", .call = sum_where, .check = tensor_rule_where,
	  .args = "tensor of bools, tensor|number, tensor|number",
	  .brief = "at each place the number of the second argument where the first is true, else "
		  "that of the third",
	  .example = "where(tensor([true, false]), tensor([1, 2]), 0)", .output = "[1,0]" },
	{ 0 }
};
