/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "expr/tensor/kernel_inner.h"
#include "value/dtype.h"

#define KERNEL_LOOP(DT, type, expr) \
	case DTYPE_##DT: { \
		type *restrict w = d; \
		const type *a = x, *b = y; \
		for (size_t i = 0; i < n; i++) \
			w[i] = (type)(expr); \
		break; \
	}
/* A function for an operation: one loop for each dtype. */
#define KERNEL_PAIR(name, rows) \
	KERNEL_CLONES static void \
	name(enum dtype t, void *restrict d, const void *x, const void *y, size_t n) \
	{ \
		switch (t) { \
		rows \
		default: break; \
		} \
	}

#define KERNEL_ADD_ROW(DT, type, wide) KERNEL_LOOP(DT, type, (wide)a[i] + (wide)b[i])
#define KERNEL_SUB_ROW(DT, type, wide) KERNEL_LOOP(DT, type, (wide)a[i] - (wide)b[i])
#define KERNEL_MUL_ROW(DT, type, wide) KERNEL_LOOP(DT, type, (wide)a[i] * (wide)b[i])
#define KERNEL_DIV_ROW(DT, type, wide) KERNEL_LOOP(DT, type, a[i] / b[i])
KERNEL_PAIR(kernel_add, KERNEL_INTS(KERNEL_ADD_ROW) KERNEL_FLOATS(KERNEL_ADD_ROW))
KERNEL_PAIR(kernel_sub, KERNEL_INTS(KERNEL_SUB_ROW) KERNEL_FLOATS(KERNEL_SUB_ROW))
KERNEL_PAIR(kernel_mul, KERNEL_INTS(KERNEL_MUL_ROW) KERNEL_FLOATS(KERNEL_MUL_ROW))
KERNEL_PAIR(kernel_div, KERNEL_FLOATS(KERNEL_DIV_ROW))

/* The least int divided by -1 wraps, too, where the processor would trap. */
#define KERNEL_FLOOR_INT(DT, type, wide) \
	KERNEL_LOOP(DT, type, b[i] == (type)-1 ? (type)(0 - (wide)a[i]) \
		    : a[i] / b[i] - (a[i] % b[i] != 0 && (a[i] ^ b[i]) < 0))
#define KERNEL_MOD_INT(DT, type, wide) \
	KERNEL_LOOP(DT, type, b[i] == (type)-1 ? 0 \
		    : a[i] % b[i] + (a[i] % b[i] != 0 && (a[i] ^ b[i]) < 0 ? b[i] : 0))
#define KERNEL_FLOOR_UINT(DT, type, wide) KERNEL_LOOP(DT, type, a[i] / b[i])
#define KERNEL_MOD_UINT(DT, type, wide) KERNEL_LOOP(DT, type, a[i] % b[i])

double
kernel_float_mod(double a, double b)
{
	double m = fmod(a, b);

	if (b == 0)
		return m;
	if (m == 0)
		return copysign(0, b);
	return (b < 0) != (m < 0) ? m + b : m;
}

double
kernel_float_floor(double a, double b)
{
	double m = fmod(a, b), q, whole;

	if (b == 0)
		return a / b;
	q = (a - m) / b;
	if (m != 0 && (b < 0) != (m < 0))
		q -= 1;
	if (q == 0)
		return copysign(0, a / b);
	whole = floor(q);
	return q - whole > 0.5 ? whole + 1 : whole;
}

#define KERNEL_FLOOR_ROW(DT, type, wide) KERNEL_LOOP(DT, type, kernel_float_floor(a[i], b[i]))
#define KERNEL_MOD_ROW(DT, type, wide) KERNEL_LOOP(DT, type, kernel_float_mod(a[i], b[i]))
KERNEL_PAIR(kernel_floor, KERNEL_UNSIGNED(KERNEL_FLOOR_UINT) KERNEL_SIGNED(KERNEL_FLOOR_INT)
	    KERNEL_FLOATS(KERNEL_FLOOR_ROW))
KERNEL_PAIR(kernel_mod, KERNEL_UNSIGNED(KERNEL_MOD_UINT) KERNEL_SIGNED(KERNEL_MOD_INT)
	    KERNEL_FLOATS(KERNEL_MOD_ROW))

static uint64_t
kernel_int_power(uint64_t base, uint64_t n)
{
	uint64_t r = 1;

	for (; n; n >>= 1, base *= base)
		if (n & 1)
			r *= base;
	return r;
}

#define KERNEL_POW_INT(DT, type, wide) \
	KERNEL_LOOP(DT, type, kernel_int_power((uint64_t)a[i], (uint64_t)b[i]))
KERNEL_PAIR(kernel_pow, KERNEL_INTS(KERNEL_POW_INT)
	    KERNEL_LOOP(F32, kernel_f32, b[i] == 2 ? a[i] * a[i] : powf(a[i], b[i]))
	    KERNEL_LOOP(F64, kernel_f64, b[i] == 2 ? a[i] * a[i] : pow(a[i], b[i])))

#define KERNEL_MIN_ROW(DT, type, wide) KERNEL_LOOP(DT, type, a[i] < b[i] ? a[i] : b[i])
#define KERNEL_MAX_ROW(DT, type, wide) KERNEL_LOOP(DT, type, a[i] > b[i] ? a[i] : b[i])
#define KERNEL_MIN_FLOAT(DT, type, wide) \
	KERNEL_LOOP(DT, type, a[i] < b[i] || a[i] != a[i] ? a[i] : b[i])
#define KERNEL_MAX_FLOAT(DT, type, wide) \
	KERNEL_LOOP(DT, type, a[i] > b[i] || a[i] != a[i] ? a[i] : b[i])
KERNEL_PAIR(kernel_min, KERNEL_MIN_ROW(BOOL, kernel_u8, unsigned) KERNEL_INTS(KERNEL_MIN_ROW)
	    KERNEL_FLOATS(KERNEL_MIN_FLOAT))
KERNEL_PAIR(kernel_max, KERNEL_MAX_ROW(BOOL, kernel_u8, unsigned) KERNEL_INTS(KERNEL_MAX_ROW)
	    KERNEL_FLOATS(KERNEL_MAX_FLOAT))

#define KERNEL_TEST(DT, type, sign) \
	case DTYPE_##DT: { \
		kernel_u8 *restrict w = d; \
		const type *a = x, *b = y; \
		for (size_t i = 0; i < n; i++) \
			w[i] = a[i] sign b[i]; \
		break; \
	}
#define KERNEL_LT_ROW(DT, type, wide) KERNEL_TEST(DT, type, <)
#define KERNEL_LE_ROW(DT, type, wide) KERNEL_TEST(DT, type, <=)
#define KERNEL_EQ_ROW(DT, type, wide) KERNEL_TEST(DT, type, ==)
#define KERNEL_NE_ROW(DT, type, wide) KERNEL_TEST(DT, type, !=)
#define KERNEL_ALL(X) X(BOOL, kernel_u8, unsigned) KERNEL_INTS(X) KERNEL_FLOATS(X)
KERNEL_PAIR(kernel_lt, KERNEL_ALL(KERNEL_LT_ROW))
KERNEL_PAIR(kernel_le, KERNEL_ALL(KERNEL_LE_ROW))
KERNEL_PAIR(kernel_eq, KERNEL_ALL(KERNEL_EQ_ROW))
KERNEL_PAIR(kernel_ne, KERNEL_ALL(KERNEL_NE_ROW))

void
kernel_binary(enum kernel_op op, enum dtype t, void *restrict d, const void *a, const void *b,
	      size_t n)
{
	if (dtype_is_half(t)) {
		kernel_half_binary(op, t, d, a, b, n);
		return;
	}
	switch (op) {
	case KERNEL_ADD: kernel_add(t, d, a, b, n); break;
	case KERNEL_SUB: kernel_sub(t, d, a, b, n); break;
	case KERNEL_MUL: kernel_mul(t, d, a, b, n); break;
	case KERNEL_DIV: kernel_div(t, d, a, b, n); break;
	case KERNEL_FLOOR: kernel_floor(t, d, a, b, n); break;
	case KERNEL_MOD: kernel_mod(t, d, a, b, n); break;
	case KERNEL_POW: kernel_pow(t, d, a, b, n); break;
	case KERNEL_MIN: kernel_min(t, d, a, b, n); break;
	case KERNEL_MAX: kernel_max(t, d, a, b, n); break;
	case KERNEL_LT: kernel_lt(t, d, a, b, n); break;
	case KERNEL_LE: kernel_le(t, d, a, b, n); break;
	case KERNEL_EQ: kernel_eq(t, d, a, b, n); break;
	case KERNEL_NE: kernel_ne(t, d, a, b, n); break;
	}
}

#define KERNEL_MAP(DT, type, expr) \
	case DTYPE_##DT: { \
		type *restrict w = d; \
		const type *restrict a = x; \
		for (size_t i = 0; i < n; i++) \
			w[i] = (type)(expr); \
		break; \
	}
#define KERNEL_ONE(name, rows) \
	KERNEL_CLONES static void \
	name(enum dtype t, void *restrict d, const void *restrict x, size_t n) \
	{ \
		switch (t) { \
		rows \
		default: break; \
		} \
	}
#define KERNEL_NEG_INT(DT, type, wide) KERNEL_MAP(DT, type, 0 - (wide)a[i])
#define KERNEL_NEG_ROW(DT, type, wide) KERNEL_MAP(DT, type, -a[i])
#define KERNEL_ABS_INT(DT, type, wide) KERNEL_MAP(DT, type, a[i] < 0 ? 0 - (wide)a[i] : (wide)a[i])
#define KERNEL_FLOAT_ROWS(f32, f64) \
	KERNEL_MAP(F32, kernel_f32, f32(a[i])) KERNEL_MAP(F64, kernel_f64, f64(a[i]))
KERNEL_ONE(kernel_neg, KERNEL_INTS(KERNEL_NEG_INT) KERNEL_FLOATS(KERNEL_NEG_ROW))
KERNEL_ONE(kernel_abs, KERNEL_SIGNED(KERNEL_ABS_INT) KERNEL_FLOAT_ROWS(fabsf, fabs))
KERNEL_ONE(kernel_down, KERNEL_FLOAT_ROWS(floorf, floor))
KERNEL_ONE(kernel_up, KERNEL_FLOAT_ROWS(ceilf, ceil))
KERNEL_ONE(kernel_round, KERNEL_FLOAT_ROWS(rintf, rint))
KERNEL_ONE(kernel_sqrt, KERNEL_FLOAT_ROWS(sqrtf, sqrt))
KERNEL_ONE(kernel_exp, KERNEL_FLOAT_ROWS(expf, exp))
KERNEL_ONE(kernel_log, KERNEL_FLOAT_ROWS(logf, log))

void
kernel_unary(enum kernel_unary op, enum dtype t, void *restrict d, const void *restrict a,
	     size_t n)
{
	bool whole = !dtype_is_float(t);

	if (dtype_is_half(t)) {
		kernel_half_unary(op, t, d, a, n);
		return;
	}
	if (whole && (op >= KERNEL_DOWN || (op == KERNEL_ABS && t <= DTYPE_U64))) {
		memcpy(d, a, n * dtype_size(t));
		return;
	}
	switch (op) {
	case KERNEL_NEG: kernel_neg(t, d, a, n); break;
	case KERNEL_ABS: kernel_abs(t, d, a, n); break;
	case KERNEL_DOWN: kernel_down(t, d, a, n); break;
	case KERNEL_UP: kernel_up(t, d, a, n); break;
	case KERNEL_ROUND: kernel_round(t, d, a, n); break;
	case KERNEL_SQRT: kernel_sqrt(t, d, a, n); break;
	case KERNEL_EXP: kernel_exp(t, d, a, n); break;
	case KERNEL_LOG: kernel_log(t, d, a, n); break;
	}
}

/* Not cloned: with the wider instructions the compiler would gather, which is
 * slower than loading one by one. */
void
kernel_lookup(size_t size, void *restrict d, const void *restrict table,
	      const uint8_t *restrict s, size_t n)
{
#define KERNEL_LOOKUP(type) { \
		type *restrict w = d; \
		const type *restrict t = table; \
		for (size_t i = 0; i < n; i++) \
			w[i] = t[s[i]]; \
	} break
	switch (size) {
	case 1: KERNEL_LOOKUP(kernel_u8);
	case 2: KERNEL_LOOKUP(kernel_u16);
	case 4: KERNEL_LOOKUP(kernel_u32);
	default: KERNEL_LOOKUP(kernel_u64);
	}
}

KERNEL_CLONES void
kernel_where(size_t size, void *restrict d, const uint8_t *test, const void *x, const void *y,
	     size_t n)
{
#define KERNEL_WHERE(type) { \
		type *restrict w = d; \
		const type *a = x, *b = y; \
		for (size_t i = 0; i < n; i++) \
			w[i] = test[i] ? a[i] : b[i]; \
	} break
	switch (size) {
	case 1: KERNEL_WHERE(kernel_u8);
	case 2: KERNEL_WHERE(kernel_u16);
	case 4: KERNEL_WHERE(kernel_u32);
	default: KERNEL_WHERE(kernel_u64);
	}
}

#define KERNEL_ANY(DT, type, test) \
	case DTYPE_##DT: { \
		const type *a = p; \
		for (size_t i = 0; i < n; i++) \
			found |= test; \
		break; \
	}
#define KERNEL_ZERO_ROW(DT, type, wide) KERNEL_ANY(DT, type, a[i] == 0)
#define KERNEL_NEGATIVE_ROW(DT, type, wide) KERNEL_ANY(DT, type, a[i] < 0)

KERNEL_CLONES bool
kernel_any_zero(enum dtype t, const void *p, size_t n)
{
	unsigned found = 0;

	switch (t) {
	KERNEL_INTS(KERNEL_ZERO_ROW)
	default: break;
	}
	return found;
}

KERNEL_CLONES bool
kernel_any_negative(enum dtype t, const void *p, size_t n)
{
	unsigned found = 0;

	switch (t) {
	KERNEL_SIGNED(KERNEL_NEGATIVE_ROW)
	default: break;
	}
	return found;
}

enum { KERNEL_SUM_PART = 128 };

KERNEL_CLONES static double
kernel_sum_part(const double *p, size_t n)
{
	double r[8], sum = 0;
	size_t i;

	if (n < 8) {
		/* -0.0 instead of 0: the sum of -0.0 is -0.0 */
		sum = -0.0;
		for (i = 0; i < n; i++)
			sum += p[i];
		return sum;
	}
	for (i = 0; i < 8; i++)
		r[i] = p[i];
	for (i = 8; i < n - n % 8; i += 8)
		for (size_t k = 0; k < 8; k++)
			r[k] += p[i + k];
	sum = ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]));
	for (; i < n; i++)
		sum += p[i];
	return sum;
}

double
kernel_sum(const double *p, size_t n)
{
	if (n <= KERNEL_SUM_PART)
		return kernel_sum_part(p, n);
	size_t half = n / 2 - n / 2 % 8;
	return kernel_sum(p, half) + kernel_sum(p + half, n - half);
}

KERNEL_CLONES int64_t
kernel_sum_int(const int64_t *p, size_t n)
{
	int64_t sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += p[i];
	return sum;
}
