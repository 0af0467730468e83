/* SPDX-License-Identifier: MIT
 *
 * Loops over the numbers of tensors: one dtype, n numbers, no shapes. Data is
 * little endian and need not be aligned. They are compiled for several kinds
 * of processor, and the one that runs picks its own when the program starts.
 *
 * Ints wrap around, as in numpy; floats follow IEEE 754. From float to int is
 * towards zero, what lies outside becomes the nearest there is, nan becomes 0.
 * f16 and bf16 are widened to f32, and the result is rounded back to them.
 */
#ifndef TENSOR_KERNEL_H
#define TENSOR_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "value/type.h"

enum { KERNEL_BLOCK = 1024 /* numbers that callers convert at a time, to stay in the cache */ };

enum kernel_op {
	KERNEL_ADD, KERNEL_SUB, KERNEL_MUL, KERNEL_DIV, KERNEL_FLOOR, KERNEL_MOD, KERNEL_POW,
	KERNEL_MIN, KERNEL_MAX, /* nan if one of them is */
	KERNEL_LT, KERNEL_LE, KERNEL_EQ, KERNEL_NE /* these and the following give bools */
};
enum kernel_unary {
	KERNEL_NEG, KERNEL_ABS, KERNEL_DOWN, KERNEL_UP, KERNEL_ROUND, /* rounds halves to even */
	KERNEL_SQRT, KERNEL_EXP, KERNEL_LOG /* for floats only */
};

/* Python's and numpy's rules: the remainder is exact and has the sign of b, and the quotient
 * rounded down agrees with it, where floor(a / b) would not: 1.0 // 0.1 is 9. Division by zero
 * gives nan, and a / b. */
double kernel_float_mod(double a, double b);
double kernel_float_floor(double a, double b);
/* Converts n numbers; between equal dtypes it copies. */
void kernel_cast(enum dtype to, void *restrict d, enum dtype from, const void *restrict s, size_t n);
/* d = a op b, all of dtype t. For bools only MIN, MAX and comparisons; DIV for floats only;
 * divisors that are ints must not be 0, and exponents not negative (kernel_any_zero,
 * kernel_any_negative). */
void kernel_binary(enum kernel_op op, enum dtype t, void *restrict d, const void *a, const void *b,
		   size_t n);
/* d = op a. Not for bools. */
void kernel_unary(enum kernel_unary op, enum dtype t, void *restrict d, const void *restrict a,
		  size_t n);
/* d[i] = table[s[i]], numbers of `size` bytes. */
void kernel_lookup(size_t size, void *restrict d, const void *restrict table,
		   const uint8_t *restrict s, size_t n);
/* d = test ? a : b, numbers of `size` bytes. */
void kernel_where(size_t size, void *restrict d, const uint8_t *test, const void *a, const void *b,
		  size_t n);
bool kernel_any_zero(enum dtype t, const void *p, size_t n);     /* for ints */
bool kernel_any_negative(enum dtype t, const void *p, size_t n); /* for ints */
/* The sum of doubles by halves of halves, as in numpy, which keeps errors small. */
double kernel_sum(const double *p, size_t n);
/* The sum of ints that fit 32 bits, widened to 64: n at most KERNEL_BLOCK. */
int64_t kernel_sum_int(const int64_t *p, size_t n);

#endif
