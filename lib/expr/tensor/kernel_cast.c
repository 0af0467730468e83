/* SPDX-License-Identifier: MIT
 *
 * Conversion: one function per target, a loop per source in it.
 */
#include <string.h>

#include "expr/tensor/kernel_inner.h"
#include "value/dtype.h"

/* Clamps first: a float outside an int's range has no defined conversion. */
#define CAST_CLAMP(type, f, least, most, above) \
	((f) >= (above) ? (most) : (f) > (least) ? (type)(f) : (f) <= (least) ? (type)(least) : 0)

#define CAST_LOOP(DT, src, body) \
	case DTYPE_##DT: { \
		const src *restrict s = from; \
		for (size_t i = 0; i < n; i++) \
			body; \
		break; \
	}
#define CAST_FROM_INT(DT, src, wide) CAST_LOOP(DT, src, w[i] = (CAST_TO)s[i])
#define CAST_FROM_FLOAT(DT, src, wide) \
	CAST_LOOP(DT, src, w[i] = CAST_CLAMP(CAST_TO, s[i], CAST_LEAST, CAST_MOST, CAST_ABOVE))
#define CAST_PLAIN_FLOAT(DT, src, wide) CAST_LOOP(DT, src, w[i] = (CAST_TO)s[i])

#define CAST_INTS \
	CAST_LOOP(BOOL, kernel_u8, w[i] = s[i] != 0) \
	KERNEL_INTS(CAST_FROM_INT)

#define CAST_LEAST 0
#define CAST_ABOVE_OF(bits) (1.0f * (1ull << ((bits) - 1)) * 2)

#define CAST_FUNCTION(name, type, floats) \
	KERNEL_CLONES static void \
	name(type *restrict w, enum dtype t, const void *restrict from, size_t n) \
	{ \
		switch (t) { \
		CAST_INTS \
		KERNEL_FLOATS(floats) \
		default: break; \
		} \
	}

#define CAST_TO kernel_u8
#define CAST_MOST UINT8_MAX
#define CAST_ABOVE CAST_ABOVE_OF(8)
CAST_FUNCTION(cast_u8, kernel_u8, CAST_FROM_FLOAT)
#undef CAST_TO
#undef CAST_MOST
#undef CAST_ABOVE
#define CAST_TO kernel_u16
#define CAST_MOST UINT16_MAX
#define CAST_ABOVE CAST_ABOVE_OF(16)
CAST_FUNCTION(cast_u16, kernel_u16, CAST_FROM_FLOAT)
#undef CAST_TO
#undef CAST_MOST
#undef CAST_ABOVE
#define CAST_TO kernel_u32
#define CAST_MOST UINT32_MAX
#define CAST_ABOVE CAST_ABOVE_OF(32)
CAST_FUNCTION(cast_u32, kernel_u32, CAST_FROM_FLOAT)
#undef CAST_TO
#undef CAST_MOST
#undef CAST_ABOVE
#define CAST_TO kernel_u64
#define CAST_MOST UINT64_MAX
#define CAST_ABOVE CAST_ABOVE_OF(64)
CAST_FUNCTION(cast_u64, kernel_u64, CAST_FROM_FLOAT)
#undef CAST_TO
#undef CAST_MOST
#undef CAST_ABOVE
#undef CAST_LEAST

#define CAST_TO kernel_i8
#define CAST_LEAST INT8_MIN
#define CAST_MOST INT8_MAX
#define CAST_ABOVE CAST_ABOVE_OF(7)
CAST_FUNCTION(cast_i8, kernel_i8, CAST_FROM_FLOAT)
#undef CAST_TO
#undef CAST_LEAST
#undef CAST_MOST
#undef CAST_ABOVE
#define CAST_TO kernel_i16
#define CAST_LEAST INT16_MIN
#define CAST_MOST INT16_MAX
#define CAST_ABOVE CAST_ABOVE_OF(15)
CAST_FUNCTION(cast_i16, kernel_i16, CAST_FROM_FLOAT)
#undef CAST_TO
#undef CAST_LEAST
#undef CAST_MOST
#undef CAST_ABOVE
#define CAST_TO kernel_i32
#define CAST_LEAST INT32_MIN
#define CAST_MOST INT32_MAX
#define CAST_ABOVE CAST_ABOVE_OF(31)
CAST_FUNCTION(cast_i32, kernel_i32, CAST_FROM_FLOAT)
#undef CAST_TO
#undef CAST_LEAST
#undef CAST_MOST
#undef CAST_ABOVE
#define CAST_TO kernel_i64
#define CAST_LEAST INT64_MIN
#define CAST_MOST INT64_MAX
#define CAST_ABOVE CAST_ABOVE_OF(63)
CAST_FUNCTION(cast_i64, kernel_i64, CAST_FROM_FLOAT)
#undef CAST_TO

#define CAST_TO kernel_f32
CAST_FUNCTION(cast_f32, kernel_f32, CAST_PLAIN_FLOAT)
#undef CAST_TO
#define CAST_TO kernel_f64
CAST_FUNCTION(cast_f64, kernel_f64, CAST_PLAIN_FLOAT)
#undef CAST_TO

#define CAST_TEST(DT, src, wide) CAST_LOOP(DT, src, w[i] = s[i] != 0)

KERNEL_CLONES static void
cast_bool(kernel_u8 *restrict w, enum dtype t, const void *restrict from, size_t n)
{
	switch (t) {
	CAST_LOOP(BOOL, kernel_u8, w[i] = s[i] != 0)
	KERNEL_INTS(CAST_TEST)
	KERNEL_FLOATS(CAST_TEST)
	default: break;
	}
}

void
kernel_cast(enum dtype to, void *restrict d, enum dtype from, const void *restrict s, size_t n)
{
	if (to == from) {
		if (n)
			memcpy(d, s, n * dtype_size(to));
		return;
	}
	if (dtype_is_half(to) || dtype_is_half(from)) {
		kernel_half_cast(to, d, from, s, n);
		return;
	}
	switch (to) {
	case DTYPE_U8: cast_u8(d, from, s, n); break;
	case DTYPE_U16: cast_u16(d, from, s, n); break;
	case DTYPE_U32: cast_u32(d, from, s, n); break;
	case DTYPE_U64: cast_u64(d, from, s, n); break;
	case DTYPE_I8: cast_i8(d, from, s, n); break;
	case DTYPE_I16: cast_i16(d, from, s, n); break;
	case DTYPE_I32: cast_i32(d, from, s, n); break;
	case DTYPE_I64: cast_i64(d, from, s, n); break;
	case DTYPE_F32: cast_f32(d, from, s, n); break;
	case DTYPE_F64: cast_f64(d, from, s, n); break;
	default: cast_bool(d, from, s, n); break;
	}
}
