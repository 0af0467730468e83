/* SPDX-License-Identifier: MIT */
#include <float.h>
#include <math.h>

#include "expr/tensor/kernel.h"
#include "expr_help.h"
#include "value/dtype.h"

enum { TEST_N = 77 }; /* some vectors and a rest */

/* Every dtype to every other, one by one and together, on odd addresses. */
static void
conversions_agree_whatever_the_length(void **state)
{
	static uint8_t from[TEST_N * 8 + 1], all[TEST_N * 8 + 1], one[8];

	(void)state;
	for (unsigned i = 0; i < sizeof from; i++)
		from[i] = (uint8_t)(i * 151 + i / 7);
	for (enum dtype a = 0; a < DTYPE_COUNT; a++)
		for (enum dtype b = 0; b < DTYPE_COUNT; b++) {
			size_t x = dtype_size(a), y = dtype_size(b);

			kernel_cast(b, all + 1, a, from + 1, TEST_N);
			for (size_t i = 0; i < TEST_N; i++) {
				kernel_cast(b, one, a, from + 1 + i * x, 1);
				if (memcmp(one, all + 1 + i * y, y) != 0)
					fail_msg("%s to %s, number %zu", dtype_name(a), dtype_name(b), i);
			}
		}
}

static void
floats_outside_become_the_nearest_int(void **state)
{
	static const double from[] = { NAN, INFINITY, -INFINITY, 1e300, -1e300, 127.9, -128.9, 255.9, -0.9 };
	int8_t i8[COUNT(from)];
	uint8_t u8[COUNT(from)];
	int64_t i64[COUNT(from)];
	uint64_t u64[COUNT(from)];

	(void)state;
	kernel_cast(DTYPE_I8, i8, DTYPE_F64, from, COUNT(from));
	kernel_cast(DTYPE_U8, u8, DTYPE_F64, from, COUNT(from));
	kernel_cast(DTYPE_I64, i64, DTYPE_F64, from, COUNT(from));
	kernel_cast(DTYPE_U64, u64, DTYPE_F64, from, COUNT(from));
	assert_memory_equal(i8, ((int8_t[]){ 0, 127, -128, 127, -128, 127, -128, 127, 0 }), sizeof i8);
	assert_memory_equal(u8, ((uint8_t[]){ 0, 255, 0, 255, 0, 127, 0, 255, 0 }), sizeof u8);
	assert_true(i64[0] == 0 && i64[1] == INT64_MAX && i64[2] == INT64_MIN && i64[3] == INT64_MAX);
	assert_true(u64[0] == 0 && u64[1] == UINT64_MAX && u64[2] == 0 && u64[5] == 127);
}

static void
ints_wrap_and_the_least_divided_by_minus_one_does_not_trap(void **state)
{
	int32_t a[] = { INT32_MIN, INT32_MIN, 7, -7, INT32_MAX }, b[] = { -1, 1, -2, 2, -1 }, d[COUNT(a)];

	(void)state;
	kernel_binary(KERNEL_FLOOR, DTYPE_I32, d, a, b, COUNT(a));
	assert_memory_equal(d, ((int32_t[]){ INT32_MIN, INT32_MIN, -4, -4, -INT32_MAX }), sizeof d);
	kernel_binary(KERNEL_MOD, DTYPE_I32, d, a, b, COUNT(a));
	assert_memory_equal(d, ((int32_t[]){ 0, 0, -1, 1, 0 }), sizeof d);
	kernel_binary(KERNEL_MUL, DTYPE_I32, d, a, a, COUNT(a));
	assert_memory_equal(d, ((int32_t[]){ 0, 0, 49, 49, 1 }), sizeof d);
	kernel_unary(KERNEL_NEG, DTYPE_I32, d, a, COUNT(a));
	assert_int_equal(d[0], INT32_MIN);
	kernel_unary(KERNEL_ABS, DTYPE_I32, d, a, COUNT(a));
	assert_int_equal(d[0], INT32_MIN);
}

static double
half_of(enum dtype t, double v)
{
	uint8_t p[2];

	dtype_put_float(t, v, p);
	return dtype_float(t, p);
}

/* Sums, differences and products of two are doubles exactly, quotients nearly. */
static void
halves_are_reckoned_as_if_exactly_and_rounded_once(void **state)
{
	enum { N = 3000 };
	static const enum kernel_op ops[] = { KERNEL_ADD, KERNEL_SUB, KERNEL_MUL, KERNEL_DIV, KERNEL_MIN };
	static uint16_t a[N], b[N], d[N];
	static uint8_t less[N];

	(void)state;
	for (enum dtype t = DTYPE_F16; t <= DTYPE_BF16; t++)
		for (unsigned turn = 0; turn < 100; turn++) {
			for (unsigned i = 0; i < N; i++) {
				a[i] = (uint16_t)(i * 40503u + turn * 977);
				b[i] = (uint16_t)(a[i] + (i * turn * 31) % 5003);
			}
			kernel_binary(KERNEL_LT, t, less, a, b, N);
			for (size_t k = 0; k < COUNT(ops); k++) {
				kernel_binary(ops[k], t, d, a, b, N);
				for (unsigned i = 0; i < N; i++) {
					double x = dtype_float(t, (uint8_t *)&a[i]), y = dtype_float(t, (uint8_t *)&b[i]);
					double exact[] = { x + y, x - y, x * y, x / y, isnan(x) || x < y ? x : y };
					double got = dtype_float(t, (uint8_t *)&d[i]), want = half_of(t, exact[k]);

					if ((got != want && !(isnan(got) && isnan(want))) || less[i] != (x < y))
						fail_msg("%s, operation %zu of %a and %a is %a", dtype_name(t), k, x, y, got);
				}
			}
		}
}

static void
halves_from_ints_and_back(void **state)
{
	/* The middle of two bf16, and what is next to it and lost by a double. */
	static const int64_t from[] = { 0, -1, 2049, 65519, 65520, -70000, INT64_C(0x4040000000000000),
					INT64_C(0x4040000000000001), -INT64_C(0x4040000000000001),
					INT64_C(0x403fffffffffffff), INT64_MIN, INT64_MAX };
	static const double bf16[] = { 0, -1, 2048, 65536, 65536, -70144, 0x1p62, 0x1.02p62, -0x1.02p62, 0x1p62,
				       -0x1p63, 0x1p63 };
	static const double f16[] = { 0, -1, 2048, 65504, INFINITY, -INFINITY, INFINITY, INFINITY, -INFINITY,
				      INFINITY, -INFINITY, INFINITY };
	static const float wide[] = { 3.99f, -300, 1e5f, NAN, 0.4f };
	uint16_t h[COUNT(from)];
	uint8_t u8[COUNT(wide)], test[COUNT(wide)];
	uint64_t most = UINT64_MAX, tie = UINT64_C(0x8080000000000001);

	(void)state;
	kernel_cast(DTYPE_BF16, h, DTYPE_I64, from, COUNT(from));
	for (size_t i = 0; i < COUNT(from); i++)
		assert_true(dtype_float(DTYPE_BF16, (uint8_t *)&h[i]) == bf16[i]);
	kernel_cast(DTYPE_F16, h, DTYPE_I64, from, COUNT(from));
	for (size_t i = 0; i < COUNT(from); i++)
		assert_true(dtype_float(DTYPE_F16, (uint8_t *)&h[i]) == f16[i]);
	kernel_cast(DTYPE_BF16, h, DTYPE_U64, &most, 1);
	assert_true(dtype_float(DTYPE_BF16, (uint8_t *)h) == 0x1p64);
	kernel_cast(DTYPE_BF16, h, DTYPE_U64, &tie, 1);
	assert_true(dtype_float(DTYPE_BF16, (uint8_t *)h) == 0x1.02p63);
	kernel_cast(DTYPE_F16, h, DTYPE_F32, wide, COUNT(wide));
	kernel_cast(DTYPE_U8, u8, DTYPE_F16, h, COUNT(wide));
	assert_memory_equal(u8, ((uint8_t[]){ 3, 0, 255, 0, 0 }), sizeof u8);
	kernel_cast(DTYPE_BOOL, test, DTYPE_F16, h, COUNT(wide));
	assert_memory_equal(test, ((uint8_t[]){ 1, 1, 1, 1, 1 }), sizeof test);
	kernel_cast(DTYPE_BF16, h, DTYPE_F16, (uint16_t[]){ 0x3c01, 1, 0x7bff }, 3);
	assert_memory_equal(h, ((uint16_t[]){ 0x3f80, 0x3380, 0x4780 }), 6);
}

static void
least_and_greatest_pass_nan_on(void **state)
{
	double a[] = { 1, NAN, 3, -0.0 }, b[] = { NAN, 2, 2, 0.0 }, d[COUNT(a)];

	(void)state;
	kernel_binary(KERNEL_MIN, DTYPE_F64, d, a, b, COUNT(a));
	assert_true(isnan(d[0]) && isnan(d[1]) && d[2] == 2);
	kernel_binary(KERNEL_MAX, DTYPE_F64, d, a, b, COUNT(a));
	assert_true(isnan(d[0]) && isnan(d[1]) && d[2] == 3);
}

static void
sums_lose_little(void **state)
{
	enum { N = 100000 };
	double *p = mem_array(N, sizeof *p);

	(void)state;
	for (size_t i = 0; i < N; i++)
		p[i] = 0.1;
	assert_true(fabs(kernel_sum(p, N) - 10000.0) < 1e-9);
	assert_true(kernel_sum(p, 0) == 0);
	assert_true(kernel_sum(p, 3) == 0.1 + 0.1 + 0.1);
	mem_free(p);
}
