/* SPDX-License-Identifier: MIT
 *
 * Functions of numbers.
 */
#include <math.h>

#include "expr/fn.h"
#include "expr/fn/fn_tensor.h"
#include "expr/run/arith.h"
#include "expr/tensor/kernel.h"
#include "expr/tensor/tensor_rule.h"
#include "expr/tensor/tensor_val.h"
#include "expr/vm.h"

static enum status
math_abs(struct expr_vm *vm, struct val *out, const struct val *a, unsigned n)
{
	(void)n;
	if (tensor_is(a))
		return tensor_unary(vm, KERNEL_ABS, "abs()", out, a);
	*out = *a;
	if (a->kind == VAL_FLOAT)
		*out = val_float(fabs(a->f));
	else if (a->kind == VAL_INT && a->i < 0)
		return arith_negate(vm, out, a);
	return ST_OK;
}

static enum status math_most(struct expr_vm *vm, struct val *out, const struct val *a, unsigned n,
			     unsigned op);

/* Minimum or maximum number by number, with tensors among the arguments. */
static enum status
math_most_tensors(struct expr_vm *vm, struct val *out, const struct val *a, unsigned n, bool least)
{
	struct val best = a[0], next = { 0 };

	/* The last result goes where the machine wants it, the ones before do not. */
	for (unsigned i = 1; i < n; i++) {
		struct run *direct = vm->direct;
		enum status st;

		if (i + 1 < n)
			vm->direct = NULL;
		st = tensor_is(&best) || tensor_is(&a[i]) ? tensor_most(vm, least, &next, &best, &a[i])
			: math_most(vm, &next, (struct val[2]){ best, a[i] }, 2, least ? CODE_LT : CODE_GT);
		vm->direct = direct;
		if (st)
			return st;
		best = next;
	}
	*out = best;
	return ST_OK;
}

/* The least (LT) or greatest (GT) of the arguments, or of the items of one list. */
static enum status
math_most(struct expr_vm *vm, struct val *out, const struct val *a, unsigned n, unsigned op)
{
	const uint8_t *p = NULL;
	uint32_t left = n;
	struct val v = { 0 }, is;

	if (n == 1 && tensor_is(a))
		return fn_tensor_most(vm, out, a, n, op == CODE_LT);
	for (unsigned i = 0; i < n; i++)
		if (tensor_is(&a[i]))
			return math_most_tensors(vm, out, a, n, op == CODE_LT);
	if (n == 1 && a->kind == VAL_LIST)
		left = val_count(a, &p);
	if (left == 0)
		return vm_fault(vm, "%s() of an empty list", op == CODE_LT ? "min" : "max");
	for (uint32_t i = 0; i < left; i++) {
		if (p) {
			val_load(p, &v);
			p = mp_past(p);
		} else {
			v = a[i];
		}
		if (i == 0) {
			*out = v;
			if (left > 1)
				continue;
		}
		/* sets the fault, too, when there is no order */
		if (arith_compare(vm, op, &is, &v, out))
			return ST_DATA;
		if (is.b)
			*out = v;
	}
	return ST_OK;
}

static enum status
math_min(struct expr_vm *vm, struct val *out, const struct val *a, unsigned n)
{
	return math_most(vm, out, a, n, CODE_LT);
}

static enum status
math_max(struct expr_vm *vm, struct val *out, const struct val *a, unsigned n)
{
	return math_most(vm, out, a, n, CODE_GT);
}

static enum status
math_whole(struct expr_vm *vm, struct val *out, const struct val *a, double f, const char *name)
{
	if (a->kind != VAL_FLOAT) {
		*out = *a;
		return ST_OK;
	}
	if (!(f >= -0x1p63 && f < 0x1p64))
		return vm_fault(vm, "%s(): %g does not fit 64 bits", name, a->f);
	*out = f < 0 ? val_int((int64_t)f) : val_uint((uint64_t)f);
	return ST_OK;
}

static enum status
math_floor(struct expr_vm *vm, struct val *out, const struct val *a, unsigned n)
{
	(void)n;
	if (tensor_is(a))
		return tensor_unary(vm, KERNEL_DOWN, "floor()", out, a);
	return math_whole(vm, out, a, a->kind == VAL_FLOAT ? floor(a->f) : 0, "floor");
}

static enum status
math_ceil(struct expr_vm *vm, struct val *out, const struct val *a, unsigned n)
{
	(void)n;
	if (tensor_is(a))
		return tensor_unary(vm, KERNEL_UP, "ceil()", out, a);
	return math_whole(vm, out, a, a->kind == VAL_FLOAT ? ceil(a->f) : 0, "ceil");
}

/* Rounds the number that f is exactly; f * 10^digits is rounded already, and its error decides
 * which side of a half it falls on. */
static double
math_round_digits(double f, unsigned digits)
{
	double scale = 1, x, off, r;

	for (; digits; digits--)
		scale *= 10;
	x = f * scale;
	if (!(fabs(x) < 0x1p53)) /* f has no more digits than that */
		return f;
	off = fma(f, scale, -x);
	r = round(x);
	if (fabs(x - trunc(x)) == 0.5 && off != 0 && (off < 0) == (x > 0))
		r = trunc(x);
	return r / scale;
}

static enum status
math_round(struct expr_vm *vm, struct val *out, const struct val *a, unsigned n)
{
	if (tensor_is(a) && n > 1)
		return vm_fault(vm, "round() of a tensor takes no digits");
	if (tensor_is(a))
		return tensor_unary(vm, KERNEL_ROUND, "round()", out, a);
	if (n < 2)
		return math_whole(vm, out, a, a->kind == VAL_FLOAT ? round(a->f) : 0, "round");
	if (a[1].i < 0 || a[1].i > 15)
		return vm_fault(vm, "round() to %lld digits: from 0 to 15",
				(long long)a[1].i);
	*out = val_float(math_round_digits(val_to_float(a), (unsigned)a[1].i));
	return ST_OK;
}

static enum status
math_sqrt(struct expr_vm *vm, struct val *out, const struct val *a, unsigned n)
{
	double f;

	(void)n;
	if (tensor_is(a))
		return tensor_unary(vm, KERNEL_SQRT, "sqrt()", out, a);
	f = val_to_float(a);
	if (f < 0)
		return vm_fault(vm, "sqrt() of a negative number");
	*out = val_float(sqrt(f));
	return ST_OK;
}

static enum status
math_exp(struct expr_vm *vm, struct val *out, const struct val *a, unsigned n)
{
	(void)n;
	if (tensor_is(a))
		return tensor_unary(vm, KERNEL_EXP, "exp()", out, a);
	*out = val_float(exp(val_to_float(a)));
	return ST_OK;
}

static enum status
math_log(struct expr_vm *vm, struct val *out, const struct val *a, unsigned n)
{
	double f, base = n > 1 ? val_to_float(&a[1]) : 0;

	if (tensor_is(a) && n > 1)
		return vm_fault(vm, "log() of a tensor takes no base: log(x) / log(2)");
	if (tensor_is(a))
		return tensor_unary(vm, KERNEL_LOG, "log()", out, a);
	f = val_to_float(a);
	if (f <= 0)
		return vm_fault(vm, "log() of a number that is not above 0");
	if (n > 1 && (base <= 0 || base == 1))
		return vm_fault(vm, "log() to the base %g", base);
	*out = val_float(n < 2 ? log(f) : base == 2 ? log2(f) : base == 10 ? log10(f)
			 : log(f) / log(base));
	return ST_OK;
}

static enum status
math_pow(struct expr_vm *vm, struct val *out, const struct val *a, unsigned n)
{
	struct val base = val_float(val_to_float(a));

	(void)n;
	return arith_binary(vm, CODE_POW, out, &base, &a[1]);
}

const struct fn fn_math[] = {
	{ "abs", "N", NULL, fn_type_first, math_abs, .args = "number|tensor",
	  .brief = "the absolute value", .example = "abs(-3)", .output = "3" },
	{ "min", "a*", .call = math_min, .check = tensor_rule_min, .args = "list|tensor | a, b, ...",
	  .brief = "the least value; with tensors the least at each place",
	  .example = "min(3, 1, 2)", .output = "1" },
	{ "max", "a*", .call = math_max, .check = tensor_rule_min, .args = "list|tensor | a, b, ...",
	  .brief = "the greatest value; with tensors the greatest at each place",
	  .example = "max([3, 1, 2])", .output = "3" },
	{ "floor", "N", .call = math_floor, .check = tensor_rule_int, .args = "number|tensor",
	  .brief = "the number rounded down to an int", .example = "floor(-1.5)", .output = "-2" },
	{ "ceil", "N", .call = math_ceil, .check = tensor_rule_int, .args = "number|tensor",
	  .brief = "the number rounded up to an int", .example = "ceil(1.2)", .output = "2" },
	{ "round", "N?i", .call = math_round, .check = tensor_rule_int, .args = "number[, digits] | tensor",
	  .brief = "the nearest int, with halves rounded away from 0; with digits, a float "
		  "rounded to that many digits; in tensors halves are rounded to the even "
		  "number, as in numpy",
	  .example = "[round(2.5), round(3.14159, 2)]", .output = "[3,3.14]" },
	{ "sqrt", "N", .call = math_sqrt, .check = tensor_rule_float, .args = "number|tensor",
	  .brief = "the square root", .example = "sqrt(2.25)", .output = "1.5" },
	{ "exp", "N", .call = math_exp, .check = tensor_rule_float, .args = "number|tensor",
	  .brief = "the exponential function: e to the power of the number", .example = "exp(0)", .output = "1.0" },
	{ "log", "N?n", .call = math_log, .check = tensor_rule_float, .args = "number[, base] | tensor",
	  .brief = "the logarithm, natural or to a given base", .example = "log(1024, 2)",
	  .output = "10.0" },
	{ "pow", "nn", "float", .call = math_pow, .args = "number, number",
	  .brief = "the power, as a float; ** of ints gives an int", .example = "pow(2, -1)",
	  .output = "0.5" },
	{ 0 }
};
