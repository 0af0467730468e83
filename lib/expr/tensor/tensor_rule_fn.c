/* SPDX-License-Identifier: MIT
 *
 * The types of functions that make tensors or take them apart. Shapes and
 * dtypes are values in the language: known here when they are constants.
 */
#include <stdio.h>
#include <string.h>

#include "expr/ast.h"
#include "expr/tensor/tensor_rule.h"
#include "expr/tensor/tensor_val.h"
#include "value/dtype.h"

static const struct type *
rule_fn_any(void)
{
	return type_scalar(TYPE_ANY);
}

static bool
rule_fn_is(const struct fn_arg *a)
{
	return a->type->kind == TYPE_TENSOR && !a->type->nullable;
}

/* The dtype that a constant argument names. -1: not known; -2: there is no such dtype. */
static int
rule_fn_dtype(const struct fn_arg *a, char why[FN_WHY])
{
	enum dtype d;

	if (!a->value)
		return -1;
	if (tensor_dtype_find(a->value, &d))
		return (int)d;
	snprintf(why, FN_WHY, "there is no dtype \"%.*s\": u8 to u64, i8 to i64, f16 to f64, bf16, bool",
		 (int)(a->value->n < 40 ? a->value->n : 40), (const char *)a->value->p);
	return -2;
}

/* The shape that a constant argument gives; false: it is not a shape. *n -1: not known. */
static bool
rule_fn_dims(const struct fn_arg *a, int64_t *dims, int *n, bool open, char why[FN_WHY])
{
	const uint8_t *p;
	struct val v = { 0 };
	uint32_t count;

	*n = -1;
	if (!a->value)
		return true;
	count = val_count(a->value, &p);
	*n = (int)count;
	for (uint32_t i = 0; i < count && count <= TYPE_DIMS_MAX; i++, p = mp_past(p)) {
		val_load(p, &v);
		if (v.kind != VAL_INT || v.i < (open ? -1 : 0)) {
			snprintf(why, FN_WHY, "a shape is a list of lengths");
			return false;
		}
		dims[i] = v.i;
	}
	if (count > TYPE_DIMS_MAX)
		snprintf(why, FN_WHY, "a tensor has at most %d axes, not %u", TYPE_DIMS_MAX, count);
	return count <= TYPE_DIMS_MAX;
}

/* The rank and kind of a list's type: [[int]] has rank 2. */
static const struct type *
rule_fn_nested(const struct type *list, int *rank)
{
	for (*rank = 0; list->kind == TYPE_LIST && !list->nullable; list = list->item)
		++*rank;
	return list;
}

/* Measures a constant list by its first items. The rest is checked when the tensor is made. */
static void
rule_fn_measure(const struct val *list, int64_t *dims, int rank)
{
	struct val v = *list;
	const uint8_t *p;

	for (int k = 0; k < rank && v.kind == VAL_LIST; k++) {
		dims[k] = val_count(&v, &p);
		if (!dims[k])
			return;
		val_load(p, &v);
	}
}

const struct type *
tensor_rule_tensor(struct types *t, const struct fn_arg *a, unsigned n, char why[FN_WHY])
{
	int64_t dims[TYPE_DIMS_MAX];
	int rank, d = n > 1 ? rule_fn_dtype(&a[1], why) : -1;
	const struct type *item = rule_fn_nested(a->type, &rank);

	for (int i = 0; i < TYPE_DIMS_MAX; i++)
		dims[i] = -1;
	if (d == -2)
		return NULL;
	if (rule_fn_is(a))
		return d >= 0 ? type_tensor(t, (enum dtype)d, a->type->dims, a->type->n_dims)
			: n > 1 ? rule_fn_any() : a->type;
	if (item->kind == TYPE_BYTES && !rank && !item->nullable)
		return n > 1 && d < 0 ? rule_fn_any()
			: type_tensor(t, d < 0 ? DTYPE_U8 : (enum dtype)d, dims, 1);
	if (n < 2 && !item->nullable)
		d = item->kind == TYPE_INT ? DTYPE_I64 : item->kind == TYPE_FLOAT ? DTYPE_F64
			: item->kind == TYPE_BOOL ? DTYPE_BOOL : -1;
	if (d < 0)
		return rule_fn_any();
	/* A list known to be empty, or of anything, has an unknown depth. An empty list among
	 * lists of ints would make floats. */
	bool sure = (item->kind == TYPE_INT || item->kind == TYPE_FLOAT || item->kind == TYPE_BOOL)
		&& rank <= TYPE_DIMS_MAX;
	if (sure && a->value && a->value->kind == VAL_LIST)
		rule_fn_measure(a->value, dims, rank);
	else if (sure && rank && n < 2 && d != DTYPE_F64)
		return rule_fn_any();
	return type_tensor(t, (enum dtype)d, dims, sure ? rank : -1);
}

const struct type *
tensor_rule_zeros(struct types *t, const struct fn_arg *a, unsigned n, char why[FN_WHY])
{
	int64_t dims[TYPE_DIMS_MAX];
	int rank, d = n > 1 ? rule_fn_dtype(&a[1], why) : DTYPE_F64;

	if (d == -2 || !rule_fn_dims(a, dims, &rank, false, why))
		return NULL;
	return d < 0 ? rule_fn_any() : type_tensor(t, (enum dtype)d, dims, rank);
}

const struct type *
tensor_rule_reshape(struct types *t, const struct fn_arg *a, unsigned n, char why[FN_WHY])
{
	int64_t dims[TYPE_DIMS_MAX], count = 1;
	struct buf x = { 0 };
	int rank;

	(void)n;
	if (!rule_fn_dims(&a[1], dims, &rank, true, why))
		return NULL;
	if (!rule_fn_is(a))
		return rule_fn_any();
	for (int i = 0; i < a->type->n_dims; i++)
		if (count >= 0 && (a->type->dims[i] < 0
				   || __builtin_mul_overflow(count, a->type->dims[i], &count)))
			count = -1;
	if (a->type->n_dims < 0)
		count = -1;
	if (rank < 0 || tensor_reshape_dims(count, dims, rank))
		return type_tensor(t, a->type->dtype, dims, rank);
	type_print(a->type, &x);
	buf_str(&x, " to ");
	type_print(type_tensor(t, a->type->dtype, dims, rank), &x);
	snprintf(why, FN_WHY, "reshape() of %s: another number of numbers", (char *)x.data);
	buf_clear(&x);
	return NULL;
}

const struct type *
tensor_rule_cast(struct types *t, const struct fn_arg *a, unsigned n, char why[FN_WHY])
{
	int d = rule_fn_dtype(&a[1], why);

	(void)n;
	if (d == -2)
		return NULL;
	if (d < 0)
		return rule_fn_any();
	return rule_fn_is(a) ? type_tensor(t, (enum dtype)d, a->type->dims, a->type->n_dims)
		: type_tensor(t, (enum dtype)d, NULL, -1);
}

const struct type *
tensor_rule_stack(struct types *t, const struct fn_arg *a, unsigned n, char why[FN_WHY])
{
	const struct type *item = a->type->kind == TYPE_LIST ? a->type->item : rule_fn_any();

	(void)n;
	if (!tensor_rule_may(item)) {
		snprintf(why, FN_WHY, "stack() takes a list of tensors (tensor() makes one of numbers)");
		return NULL;
	}
	return tensor_rule_stacked(t, item, -1);
}

/* The type without the axis a[1]; NULL: there is no such axis. */
static const struct type *
rule_fn_along(struct types *t, const struct fn_arg *a, enum dtype d, char why[FN_WHY])
{
	const struct type *x = a->type;
	int64_t dims[TYPE_DIMS_MAX], k;
	int n = 0;

	if (x->n_dims < 0)
		return type_tensor(t, d, NULL, -1);
	if (!a[1].value || a[1].value->kind != VAL_INT) {
		for (int i = 0; i < x->n_dims - 1; i++)
			dims[i] = -1;
		return x->n_dims ? type_tensor(t, d, dims, x->n_dims - 1) : rule_fn_any();
	}
	k = a[1].value->i + (a[1].value->i < 0 ? x->n_dims : 0);
	if (k < 0 || k >= x->n_dims) {
		snprintf(why, FN_WHY, "there is no axis %lld in a tensor of %d",
			 (long long)a[1].value->i, x->n_dims);
		return NULL;
	}
	for (int i = 0; i < x->n_dims; i++)
		if (i != k)
			dims[n++] = x->dims[i];
	return type_tensor(t, d, dims, n);
}

const struct type *
tensor_rule_most(struct types *t, const struct fn_arg *a, unsigned n, char why[FN_WHY])
{
	if (!rule_fn_is(a))
		return rule_fn_any();
	return n > 1 ? rule_fn_along(t, a, a->type->dtype, why) : tensor_rule_item(a->type->dtype);
}

const struct type *
tensor_rule_sum(struct types *t, const struct fn_arg *a, unsigned n, char why[FN_WHY])
{
	const struct type *item;
	enum dtype d = a->type->dtype;

	if (a->type->kind == TYPE_LIST) {
		item = a->type->item;
		return (item->kind == TYPE_INT || item->kind == TYPE_FLOAT) && !item->nullable ? item
			: rule_fn_any();
	}
	if (!rule_fn_is(a))
		return rule_fn_any();
	if (n < 2)
		return type_scalar(dtype_is_float(d) ? TYPE_FLOAT : TYPE_INT);
	return rule_fn_along(t, a, dtype_is_float(d) ? d : d <= DTYPE_U64 ? DTYPE_U64 : DTYPE_I64, why);
}

const struct type *
tensor_rule_mean(struct types *t, const struct fn_arg *a, unsigned n, char why[FN_WHY])
{
	if (n < 2)
		return type_scalar(TYPE_FLOAT);
	if (!rule_fn_is(a))
		return rule_fn_any();
	return rule_fn_along(t, a, dtype_is_float(a->type->dtype) ? a->type->dtype : DTYPE_F64, why);
}

/* The machine's kind for a plain number's type. */
static unsigned
rule_fn_kind(const struct type *t)
{
	return t->kind == TYPE_FLOAT ? VAL_FLOAT : t->kind == TYPE_BOOL ? VAL_BOOL : VAL_INT;
}

/* min and max: for two arguments, the types are those of an operator. */
static const struct type *
rule_fn_two(struct types *t, const struct type *l, const struct type *r, char why[FN_WHY])
{
	const struct type *x;
	char shapes[FN_WHY];

	if (l->kind != TYPE_TENSOR && r->kind != TYPE_TENSOR)
		return type_join(t, l, r);
	x = tensor_rule_binary(t, AST_LT, l, r, shapes);
	if (!x) {
		snprintf(why, FN_WHY, shapes[0] ? "min() and max() of %s" : "min() and max() of a tensor and "
			 "what is not a number%s", shapes);
		return NULL;
	}
	if (x->kind != TYPE_TENSOR)
		return rule_fn_any();
	enum dtype d = l->kind == TYPE_TENSOR ? l->dtype : r->dtype;
	const struct type *other = l->kind == TYPE_TENSOR ? r : l;
	d = other->kind == TYPE_TENSOR ? tensor_promote(d, other->dtype)
		: tensor_promote_plain(d, rule_fn_kind(other));
	return type_tensor(t, d, x->dims, x->n_dims);
}

const struct type *
tensor_rule_min(struct types *t, const struct fn_arg *a, unsigned n, char why[FN_WHY])
{
	const struct type *r;

	if (!n)
		return rule_fn_any();
	r = a->type;
	if (n == 1)
		return rule_fn_is(a) ? tensor_rule_item(r->dtype)
			: r->kind == TYPE_LIST && r->item->kind != TYPE_NEVER ? r->item : rule_fn_any();
	for (unsigned i = 1; r && i < n; i++)
		r = rule_fn_two(t, r, a[i].type, why);
	return r;
}

const struct type *
tensor_rule_where(struct types *t, const struct fn_arg *a, unsigned n, char why[FN_WHY])
{
	const struct type *shape = NULL;

	for (unsigned i = 0; i < n; i++) {
		const struct type *one = a[i].type;

		if (one->nullable || one->kind == TYPE_ANY || one->kind == TYPE_NEVER)
			return rule_fn_any();
		if (one->kind != TYPE_TENSOR)
			continue;
		if (shape && one->n_dims >= 0 && shape->n_dims >= 0
		    && !type_fits(type_tensor(t, shape->dtype, one->dims, one->n_dims), shape)) {
			snprintf(why, FN_WHY, "where() of tensors of different shapes");
			return NULL;
		}
		if (!shape || shape->n_dims < 0)
			shape = one;
	}
	if (a->type->kind == TYPE_TENSOR && a->type->dtype != DTYPE_BOOL) {
		snprintf(why, FN_WHY, "where() takes a tensor of bools first, as x > 0 makes one");
		return NULL;
	}
	const struct type *x = a[1].type, *y = a[2].type;
	enum dtype d;
	if (x->kind == TYPE_TENSOR)
		d = y->kind == TYPE_TENSOR ? tensor_promote(x->dtype, y->dtype)
			: tensor_promote_plain(x->dtype, rule_fn_kind(y));
	else
		d = y->kind == TYPE_TENSOR ? tensor_promote_plain(y->dtype, rule_fn_kind(x))
			: tensor_where_plain(rule_fn_kind(x), rule_fn_kind(y));
	return type_tensor(t, d, shape->dims, shape->n_dims);
}

/* sqrt, exp, log: the result is a float. */
const struct type *
tensor_rule_float(struct types *t, const struct fn_arg *a, unsigned n, char why[FN_WHY])
{
	(void)n;
	(void)why;
	if (rule_fn_is(a))
		return type_tensor(t, dtype_is_float(a->type->dtype) ? a->type->dtype : DTYPE_F64,
				   a->type->dims, a->type->n_dims);
	return tensor_rule_may(a->type) ? rule_fn_any() : type_scalar(TYPE_FLOAT);
}

/* floor, ceil, round: for a number an int, or with digits a float. */
const struct type *
tensor_rule_int(struct types *t, const struct fn_arg *a, unsigned n, char why[FN_WHY])
{
	(void)t;
	(void)why;
	if (rule_fn_is(a))
		return a->type;
	return tensor_rule_may(a->type) ? rule_fn_any() : type_scalar(n > 1 ? TYPE_FLOAT : TYPE_INT);
}
