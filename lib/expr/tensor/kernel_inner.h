/* SPDX-License-Identifier: MIT
 *
 * What kernel*.c share: types of numbers that lie anywhere, and the attribute
 * that compiles a function once for each kind of processor. -O2 alone does not
 * turn these loops into vector code, so their files ask for -O3.
 */
#ifndef TENSOR_KERNEL_INNER_H
#define TENSOR_KERNEL_INNER_H

#include <stdint.h>

#include "expr/tensor/kernel.h"

/* Data is read as it lies in memory. */
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "tensors need a little-endian machine");

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3", "no-math-errno", "no-trapping-math")
#endif

/* The choice is made before the memory of sanitizers is set up, which they do not survive. */
#if defined(__x86_64__) && defined(__linux__) && defined(__GLIBC__) && !defined(__clang__) \
	&& !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define KERNEL_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define KERNEL_CLONES
#endif

#define KERNEL_TYPE __attribute__((aligned(1), may_alias))
typedef uint8_t kernel_u8 KERNEL_TYPE;
typedef uint16_t kernel_u16 KERNEL_TYPE;
typedef uint32_t kernel_u32 KERNEL_TYPE;
typedef uint64_t kernel_u64 KERNEL_TYPE;
typedef int8_t kernel_i8 KERNEL_TYPE;
typedef int16_t kernel_i16 KERNEL_TYPE;
typedef int32_t kernel_i32 KERNEL_TYPE;
typedef int64_t kernel_i64 KERNEL_TYPE;
typedef float kernel_f32 KERNEL_TYPE;
typedef double kernel_f64 KERNEL_TYPE;

/* X(dtype, type, the unsigned type for computing, so that it wraps) */
#define KERNEL_UNSIGNED(X) \
	X(U8, kernel_u8, uint32_t) X(U16, kernel_u16, uint32_t) \
	X(U32, kernel_u32, uint32_t) X(U64, kernel_u64, uint64_t)
#define KERNEL_SIGNED(X) \
	X(I8, kernel_i8, uint32_t) X(I16, kernel_i16, uint32_t) \
	X(I32, kernel_i32, uint32_t) X(I64, kernel_i64, uint64_t)
#define KERNEL_INTS(X) KERNEL_UNSIGNED(X) KERNEL_SIGNED(X)
#define KERNEL_FLOATS(X) X(F32, kernel_f32, float) X(F64, kernel_f64, double)

/* The functions of kernel.h, where f16 or bf16 is among the dtypes. */
void kernel_half_cast(enum dtype to, void *restrict d, enum dtype from, const void *restrict s,
		      size_t n);
void kernel_half_binary(enum kernel_op op, enum dtype t, void *restrict d, const void *a,
			const void *b, size_t n);
void kernel_half_unary(enum kernel_unary op, enum dtype t, void *restrict d, const void *restrict a,
		       size_t n);

#endif
