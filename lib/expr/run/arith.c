/* SPDX-License-Identifier: MIT
 *
 * Arithmetic and comparison. The machine does the common cases itself; here
 * are all of them. Ints are exact from -2^63 to 2^64 - 1; a result outside
 * is an error and never another number.
 */
#include "expr/run/arith.h"

#include <math.h>
#include <string.h>

#include "expr/ast.h"
#include "expr/tensor/kernel.h"
#include "expr/tensor/tensor_val.h"
#include "value/num.h"

static const uint8_t arith_signs[CODE_COUNT] = {
	[CODE_ADD] = AST_ADD, [CODE_SUB] = AST_SUB, [CODE_MUL] = AST_MUL, [CODE_DIV] = AST_DIV,
	[CODE_FLOOR] = AST_FLOOR, [CODE_MOD] = AST_MOD, [CODE_POW] = AST_POW,
	[CODE_LT] = AST_LT, [CODE_LE] = AST_LE, [CODE_GT] = AST_GT, [CODE_GE] = AST_GE,
	[CODE_EQ] = AST_EQ, [CODE_NE] = AST_NE
};

static const char *
arith_number(const struct val *v, char *text)
{
	char *end = text;

	if (v->kind == VAL_FLOAT)
		end += num_print_float(v->f, text);
	else
		end = v->kind == VAL_BIG ? num_print_uint(v->u, text) : num_print_int(v->i, text);
	*end = '\0';
	return text;
}

static enum status
arith_overflow(struct expr_vm *vm, unsigned op, const struct val *a, const struct val *b)
{
	char x[NUM_FLOAT_MAX + 1], y[NUM_FLOAT_MAX + 1];

	return vm_fault(vm, "integer overflow: %s %s %s does not fit 64 bits",
			arith_number(a, x), ast_ops[arith_signs[op]].sign, arith_number(b, y));
}

static enum status
arith_kinds(struct expr_vm *vm, const char *sign, const struct val *a, const struct val *b)
{
	return vm_fault(vm, "`%s` of %s and %s", sign, val_kind_name(a->kind),
			val_kind_name(b->kind));
}

/* Sets an int, which is signed unless an operand already is one above the signed range: a
 * result does not change from one to the other unnoticed. */
static bool
arith_set(struct val *d, __int128 w, bool large)
{
	if (w < INT64_MIN || w > (large ? (__int128)UINT64_MAX : INT64_MAX))
		return false;
	d->kind = w > INT64_MAX ? VAL_BIG : VAL_INT;
	d->u = (uint64_t)w;
	return true;
}

/* Multiplies repeatedly: after 64 steps any base but -1, 0, 1 has overflowed. */
static bool
arith_power(__int128 base, __int128 n, __int128 *out)
{
	*out = 1;
	if (base >= -1 && base <= 1) {
		*out = n == 0 || base == 1 ? 1 : base == 0 ? 0 : n % 2 ? -1 : 1;
		return true;
	}
	for (; n > 0; n--) {
		if (__builtin_mul_overflow(*out, base, out))
			return false;
		if (*out > UINT64_MAX || *out < -(__int128)UINT64_MAX)
			return false;
	}
	return true;
}

/* The float nearest to a quotient of ints. Ints above 2^53 are not exact as floats, and
 * rounding them first would round twice: this quotient has at least two bits more than a
 * float, the last of which tells whether there is a remainder. */
static double
arith_quotient(__int128 x, __int128 y)
{
	const __int128 exact = (__int128)1 << 53;
	uint64_t a = (uint64_t)(x < 0 ? -x : x), b = (uint64_t)(y < 0 ? -y : y), q;
	int shift;
	double f;

	if (x == 0 || (x <= exact && x >= -exact && y <= exact && y >= -exact))
		return (double)x / (double)y;
	shift = 55 + __builtin_clzll(a) - __builtin_clzll(b);
	shift = shift < 0 ? 0 : shift;
	unsigned __int128 wide = (unsigned __int128)a << shift;
	q = (uint64_t)(wide / b) | (wide % b != 0);
	f = ldexp((double)q, -shift);
	return (x < 0) != (y < 0) ? -f : f;
}

static enum status
arith_ints(struct expr_vm *vm, unsigned op, struct val *d, const struct val *a,
	   const struct val *b)
{
	__int128 x = val_to_wide(a), y = val_to_wide(b), w = 0;
	bool fits = true;

	switch (op) {
	case CODE_DIV:
		if (y == 0)
			return vm_fault(vm, "division by zero");
		*d = val_float(arith_quotient(x, y));
		return ST_OK;
	case CODE_ADD: w = x + y; break;
	case CODE_SUB: w = x - y; break;
	case CODE_MUL: fits = !__builtin_mul_overflow(x, y, &w); break;
	case CODE_FLOOR:
	case CODE_MOD:
		if (y == 0)
			return vm_fault(vm, "division by zero");
		w = x % y;
		if (w && (w < 0) != (y < 0))
			w += y;
		if (op == CODE_FLOOR)
			w = (x - w) / y;
		break;
	case CODE_POW:
		if (y < 0)
			return vm_fault(vm, "a negative power of an int is not an int "
					"(with a float it works: 2.0 ** -1)");
		fits = arith_power(x, y, &w);
		break;
	}
	if (!fits || !arith_set(d, w, a->kind == VAL_BIG || b->kind == VAL_BIG))
		return arith_overflow(vm, op, a, b);
	return ST_OK;
}

static enum status
arith_floats(struct expr_vm *vm, unsigned op, struct val *d, double x, double y)
{
	double f = 0;

	switch (op) {
	case CODE_ADD: f = x + y; break;
	case CODE_SUB: f = x - y; break;
	case CODE_MUL: f = x * y; break;
	case CODE_DIV:
	case CODE_FLOOR:
	case CODE_MOD:
		if (y == 0)
			return vm_fault(vm, "division by zero");
		if (op == CODE_DIV) {
			f = x / y;
		} else if (op == CODE_FLOOR) {
			f = kernel_float_floor(x, y);
		} else {
			f = kernel_float_mod(x, y);
		}
		break;
	case CODE_POW:
		f = pow(x, y);
		if (isnan(f) && !isnan(x) && !isnan(y))
			return vm_fault(vm, "a fractional power of a negative number is not a number");
		if (isinf(f) && x == 0 && isfinite(y))
			return vm_fault(vm, "division by zero");
		break;
	}
	*d = val_float(f);
	return ST_OK;
}

enum status
arith_binary(struct expr_vm *vm, unsigned op, struct val *d, const struct val *a,
	     const struct val *b)
{
	if (tensor_is(a) || tensor_is(b))
		return tensor_binary(vm, op, d, a, b);
	if (!val_is_number(a) || !val_is_number(b))
		return arith_kinds(vm, ast_ops[arith_signs[op]].sign, a, b);
	if (a->kind == VAL_FLOAT || b->kind == VAL_FLOAT)
		return arith_floats(vm, op, d, val_to_float(a), val_to_float(b));
	return arith_ints(vm, op, d, a, b);
}

enum status
arith_negate(struct expr_vm *vm, struct val *d, const struct val *a)
{
	char text[NUM_FLOAT_MAX + 1];

	if (tensor_is(a))
		return tensor_unary(vm, KERNEL_NEG, "`-`", d, a);
	if (!val_is_number(a))
		return vm_fault(vm, "`-` of %s", val_kind_name(a->kind));
	if (a->kind == VAL_FLOAT) {
		*d = val_float(-a->f);
		return ST_OK;
	}
	if (!arith_set(d, -val_to_wide(a), false))
		return vm_fault(vm, "integer overflow: -(%s) does not fit 64 bits",
				arith_number(a, text));
	return ST_OK;
}

enum status
arith_compare(struct expr_vm *vm, unsigned op, struct val *d, const struct val *a,
	      const struct val *b)
{
	int c;

	if (tensor_is(a) || tensor_is(b))
		return tensor_binary(vm, op, d, a, b);
	if (op == CODE_EQ || op == CODE_NE) {
		*d = val_bool(val_equal(a, b) == (op == CODE_EQ));
		return ST_OK;
	}
	if (val_is_number(a) && val_is_number(b))
		c = val_compare_numbers(a, b);
	else if (a->kind != b->kind || a->kind == VAL_NIL || a->kind == VAL_RECORD)
		return arith_kinds(vm, ast_ops[arith_signs[op]].sign, a, b);
	else if (a->kind == VAL_BOOL)
		c = (int)a->b - (int)b->b;
	else
		c = val_compare_bytes(a, b);
	if (c == 2)
		*d = val_bool(false);
	else
		*d = val_bool(op == CODE_LT ? c < 0 : op == CODE_LE ? c <= 0
			      : op == CODE_GT ? c > 0 : c >= 0);
	return ST_OK;
}
