/* SPDX-License-Identifier: MIT
 *
 * f16 and bf16: conversions, and operations by way of f32. That rounds twice, and
 * gives what one rounding would for + - * / and sqrt: f32 has more than twice the bits.
 */
#include "expr/tensor/kernel_inner.h"
#include "value/dtype.h"
#include "value/half.h"

#define HALF_LOOP(to, from, expr) { \
		to *restrict w = d; \
		const from *restrict a = s; \
		for (size_t i = 0; i < n; i++) \
			w[i] = (expr); \
	} break

KERNEL_CLONES static void
half_widen(enum dtype t, void *restrict d, const void *restrict s, size_t n)
{
	switch (t) {
	case DTYPE_F16: HALF_LOOP(kernel_f32, kernel_u16, f16_to_f32(a[i]));
	case DTYPE_BF16: HALF_LOOP(kernel_f32, kernel_u16, bf16_to_f32(a[i]));
	default: break;
	}
}

KERNEL_CLONES static void
half_narrow(enum dtype t, void *restrict d, const void *restrict s, size_t n)
{
	switch (t) {
	case DTYPE_F16: HALF_LOOP(kernel_u16, kernel_f32, f16_of_f32(a[i]));
	case DTYPE_BF16: HALF_LOOP(kernel_u16, kernel_f32, bf16_of_f32(a[i]));
	default: break;
	}
}

KERNEL_CLONES static void
half_from_f64(enum dtype t, void *restrict d, const void *restrict s, size_t n)
{
	switch (t) {
	case DTYPE_F16: HALF_LOOP(kernel_u16, kernel_f64, f16_of_f32(half_odd(a[i])));
	case DTYPE_BF16: HALF_LOOP(kernel_u16, kernel_f64, bf16_of_f32(half_odd(a[i])));
	default: break;
	}
}

/* Doubles out of ints of 64 bits; those that are none exactly are rounded to odd. */
static void
half_odd_ints(enum dtype t, double *restrict w, const void *restrict s, size_t n)
{
	const int64_t exact = (int64_t)1 << 53;
	const kernel_i64 *a = s;
	const kernel_u64 *u = s;

	for (size_t i = 0; i < n; i++) {
		double most = t == DTYPE_U64 ? (double)(u[i] >> 11 | ((u[i] & 2047) != 0))
			: (double)(a[i] >> 11 | ((a[i] & 2047) != 0));
		bool small = a[i] < exact && a[i] > (t == DTYPE_U64 ? -1 : -exact);

		w[i] = small ? (double)a[i] : most * 2048;
	}
}

/* One of the two dtypes is f16 or bf16, n at most KERNEL_BLOCK. */
static void
half_cast_block(enum dtype to, void *restrict d, enum dtype from, const void *restrict s, size_t n)
{
	float f[KERNEL_BLOCK];
	double g[KERNEL_BLOCK];

	if (dtype_is_half(from)) {
		half_widen(from, to == DTYPE_F32 ? d : f, s, n);
		if (to != DTYPE_F32)
			kernel_cast(to, d, DTYPE_F32, f, n);
	} else if (from == DTYPE_F32) {
		half_narrow(to, d, s, n);
	} else if (from == DTYPE_F64) {
		half_from_f64(to, d, s, n);
	} else {
		if (from == DTYPE_U64 || from == DTYPE_I64)
			half_odd_ints(from, g, s, n);
		else
			kernel_cast(DTYPE_F64, g, from, s, n);
		half_from_f64(to, d, g, n);
	}
}

static size_t
half_part(size_t i, size_t n)
{
	return n - i < KERNEL_BLOCK ? n - i : KERNEL_BLOCK;
}

void
kernel_half_cast(enum dtype to, void *restrict d, enum dtype from, const void *restrict s, size_t n)
{
	for (size_t i = 0; i < n; i += KERNEL_BLOCK)
		half_cast_block(to, (uint8_t *)d + i * dtype_size(to), from,
				(const uint8_t *)s + i * dtype_size(from), half_part(i, n));
}

void
kernel_half_binary(enum kernel_op op, enum dtype t, void *restrict d, const void *a, const void *b,
		   size_t n)
{
	float x[KERNEL_BLOCK], y[KERNEL_BLOCK], z[KERNEL_BLOCK];

	for (size_t i = 0; i < n; i += KERNEL_BLOCK) {
		size_t k = half_part(i, n);

		half_widen(t, x, (const uint8_t *)a + i * 2, k);
		half_widen(t, y, (const uint8_t *)b + i * 2, k);
		if (op >= KERNEL_LT) {
			kernel_binary(op, DTYPE_F32, (uint8_t *)d + i, x, y, k);
			continue;
		}
		kernel_binary(op, DTYPE_F32, z, x, y, k);
		half_narrow(t, (uint8_t *)d + i * 2, z, k);
	}
}

void
kernel_half_unary(enum kernel_unary op, enum dtype t, void *restrict d, const void *restrict a,
		  size_t n)
{
	float x[KERNEL_BLOCK], z[KERNEL_BLOCK];

	for (size_t i = 0; i < n; i += KERNEL_BLOCK) {
		size_t k = half_part(i, n);

		half_widen(t, x, (const uint8_t *)a + i * 2, k);
		kernel_unary(op, DTYPE_F32, z, x, k);
		half_narrow(t, (uint8_t *)d + i * 2, z, k);
	}
}
