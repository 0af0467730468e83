/* SPDX-License-Identifier: MIT */
#include "expr/tensor/tensor_rule.h"

#include <stdio.h>
#include <string.h>

#include "expr/ast.h"
#include "expr/tensor/tensor_val.h"
#include "value/dtype.h"

bool
tensor_rule_may(const struct type *t)
{
	return t->kind == TYPE_TENSOR || t->kind == TYPE_ANY || t->kind == TYPE_NEVER;
}

const struct type *
tensor_rule_item(enum dtype t)
{
	return type_scalar(t == DTYPE_BOOL ? TYPE_BOOL : dtype_is_float(t) ? TYPE_FLOAT : TYPE_INT);
}

/* The machine's kind for a plain value of the type; -1: not known, or not a number. */
static int
tensor_rule_plain(const struct type *t)
{
	if (t->nullable)
		return -1;
	switch (t->kind) {
	case TYPE_BOOL: return VAL_BOOL;
	case TYPE_INT: return VAL_INT;
	case TYPE_FLOAT: return VAL_FLOAT;
	default: return -1;
	}
}

static bool
tensor_rule_known(const struct type *t)
{
	return t->kind == TYPE_TENSOR && !t->nullable;
}

/* The type of two tensors, number by number. */
static const struct type *
tensor_rule_pair(struct types *t, enum dtype d, const struct type *l, const struct type *r,
		 char why[FN_WHY])
{
	int64_t dims[TYPE_DIMS_MAX];
	struct buf x = { 0 };
	int n;

	if (l->n_dims < 0 || r->n_dims < 0)
		return type_tensor(t, d, NULL, -1);
	if (tensor_broadcast(l->dims, l->n_dims, r->dims, r->n_dims, dims, &n))
		return type_tensor(t, d, dims, n);
	type_print(l, &x);
	buf_str(&x, " and ");
	type_print(r, &x);
	snprintf(why, FN_WHY, "%s", (char *)x.data);
	buf_clear(&x);
	return NULL;
}

static bool
tensor_rule_compares(unsigned op)
{
	return op == AST_EQ || op == AST_NE || op == AST_LT || op == AST_LE || op == AST_GT
		|| op == AST_GE;
}

static enum dtype
tensor_rule_result(unsigned op, enum dtype d)
{
	return tensor_rule_compares(op) ? DTYPE_BOOL : op == AST_DIV && !dtype_is_float(d) ? DTYPE_F64 : d;
}

const struct type *
tensor_rule_binary(struct types *t, unsigned op, const struct type *l, const struct type *r,
		   char why[FN_WHY])
{
	const struct type *one = l->kind == TYPE_TENSOR ? l : r, *other = one == l ? r : l;
	int plain = tensor_rule_plain(other);
	bool same = op == AST_EQ || op == AST_NE;

	why[0] = '\0';
	if (other->kind == TYPE_TENSOR || plain >= 0) {
		enum dtype d = plain >= 0 ? tensor_promote_plain(one->dtype, (unsigned)plain)
			: tensor_promote(l->dtype, r->dtype);
		bool nil = one->nullable || other->nullable;

		if (d == DTYPE_BOOL && !tensor_rule_compares(op) && op != AST_DIV)
			return NULL;
		d = tensor_rule_result(op, d);
		if (nil)
			return type_scalar(TYPE_ANY);
		return plain < 0 ? tensor_rule_pair(t, d, l, r, why)
			: type_tensor(t, d, one->dims, one->n_dims);
	}
	if (other->kind == TYPE_ANY || other->kind == TYPE_NEVER || other->nullable)
		return type_scalar(TYPE_ANY);
	return same ? type_scalar(TYPE_BOOL) : NULL;
}

const struct type *
tensor_rule_cat(struct types *t, const struct type *l, const struct type *r, char why[FN_WHY])
{
	int64_t dims[TYPE_DIMS_MAX];
	struct buf x = { 0 };
	bool fits;

	why[0] = '\0';
	if (!tensor_rule_may(l) || !tensor_rule_may(r))
		return NULL;
	if (!tensor_rule_known(l) || !tensor_rule_known(r))
		return type_scalar(TYPE_ANY);
	enum dtype d = tensor_promote(l->dtype, r->dtype);
	if (l->n_dims < 0 || r->n_dims < 0)
		return type_tensor(t, d, NULL, -1);
	fits = l->n_dims == r->n_dims && l->n_dims;
	for (int i = 0; fits && i < l->n_dims; i++) {
		int64_t a = l->dims[i], b = r->dims[i];

		if (i == 0)
			dims[i] = a < 0 || b < 0 ? -1 : a + b;
		else
			dims[i] = a < 0 ? b : a;
		fits = i == 0 || a == b || a < 0 || b < 0;
	}
	if (fits)
		return type_tensor(t, d, dims, l->n_dims);
	type_print(l, &x);
	buf_str(&x, " and ");
	type_print(r, &x);
	snprintf(why, FN_WHY, "%s", (char *)x.data);
	buf_clear(&x);
	return NULL;
}

const struct type *
tensor_rule_index(struct types *t, const struct type *a, bool slice, char why[FN_WHY])
{
	int64_t dims[TYPE_DIMS_MAX] = { -1 };

	why[0] = '\0';
	if (a->nullable)
		return type_scalar(TYPE_ANY);
	if (a->n_dims < 0)
		return slice ? a : type_scalar(TYPE_ANY);
	if (a->n_dims == 0) {
		snprintf(why, FN_WHY, "a tensor without axes is one number and has no items");
		return NULL;
	}
	if (!slice)
		return a->n_dims == 1 ? tensor_rule_item(a->dtype)
			: type_tensor(t, a->dtype, a->dims + 1, a->n_dims - 1);
	for (int i = 1; i < a->n_dims; i++)
		dims[i] = a->dims[i];
	return type_tensor(t, a->dtype, dims, a->n_dims);
}

const struct type *
tensor_rule_stacked(struct types *t, const struct type *x, int64_t n)
{
	int64_t dims[TYPE_DIMS_MAX] = { n };

	if (!tensor_rule_known(x))
		return type_scalar(TYPE_ANY);
	if (x->n_dims < 0)
		return x;
	if (x->n_dims == TYPE_DIMS_MAX)
		return type_scalar(TYPE_ANY);
	for (int i = 0; i < x->n_dims; i++)
		dims[i + 1] = x->dims[i];
	return type_tensor(t, x->dtype, dims, x->n_dims + 1);
}

bool
tensor_reshape_dims(int64_t count, int64_t *dims, int n_dims)
{
	int64_t product = 1;
	int open = -1;

	for (int i = 0; i < n_dims; i++) {
		if (dims[i] == -1 && open >= 0)
			return false;
		if (dims[i] == -1)
			open = i;
		else if (__builtin_mul_overflow(product, dims[i], &product))
			return false;
	}
	if (count < 0)
		return true;
	if (open < 0)
		return product == count;
	if (product == 0 || count % product)
		return false;
	dims[open] = count / product;
	return true;
}

enum dtype
tensor_where_plain(unsigned a, unsigned b)
{
	enum dtype x = a == VAL_FLOAT ? DTYPE_F64 : a == VAL_BOOL ? DTYPE_BOOL : DTYPE_I64;

	return tensor_promote_plain(x, b);
}
