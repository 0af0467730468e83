/* SPDX-License-Identifier: MIT */
#include "value/dtype.h"

#include <endian.h>
#include <string.h>

#include "value/half.h"
#include "value/mp.h"

static const struct { const char *name; size_t size; } dtypes[DTYPE_COUNT] = {
	[DTYPE_U8] = { "u8", 1 }, [DTYPE_U16] = { "u16", 2 }, [DTYPE_U32] = { "u32", 4 },
	[DTYPE_U64] = { "u64", 8 }, [DTYPE_I8] = { "i8", 1 }, [DTYPE_I16] = { "i16", 2 },
	[DTYPE_I32] = { "i32", 4 }, [DTYPE_I64] = { "i64", 8 }, [DTYPE_F32] = { "f32", 4 },
	[DTYPE_F64] = { "f64", 8 }, [DTYPE_BOOL] = { "bool", 1 }, [DTYPE_F16] = { "f16", 2 },
	[DTYPE_BF16] = { "bf16", 2 }
};

const char *
dtype_name(enum dtype d)
{
	return d < DTYPE_COUNT ? dtypes[d].name : "?";
}

size_t
dtype_size(enum dtype d)
{
	return d < DTYPE_COUNT ? dtypes[d].size : 0;
}

bool
dtype_is_float(enum dtype d)
{
	return d == DTYPE_F32 || d == DTYPE_F64 || dtype_is_half(d);
}

bool
dtype_is_half(enum dtype d)
{
	return d == DTYPE_F16 || d == DTYPE_BF16;
}

static uint64_t
dtype_bits(enum dtype d, const uint8_t *p)
{
	uint64_t v = 0;

	memcpy(&v, p, dtype_size(d));
#if __BYTE_ORDER == __BIG_ENDIAN
	v = __builtin_bswap64(v);
#endif
	return v;
}

int64_t
dtype_int(enum dtype d, const uint8_t *p)
{
	uint64_t v = dtype_bits(d, p);

	switch (d) {
	case DTYPE_I8: return (int8_t)v;
	case DTYPE_I16: return (int16_t)v;
	case DTYPE_I32: return (int32_t)v;
	case DTYPE_BOOL: return v != 0;
	default: return (int64_t)v;
	}
}

double
dtype_float(enum dtype d, const uint8_t *p)
{
	uint64_t v = dtype_bits(d, p);
	double f64;

	switch (d) {
	case DTYPE_F16: return (double)f16_to_f32((uint16_t)v);
	case DTYPE_BF16: return (double)bf16_to_f32((uint16_t)v);
	case DTYPE_F32: return (double)half_float((uint32_t)v);
	case DTYPE_F64:
		memcpy(&f64, &v, 8);
		return f64;
	case DTYPE_U64: return (double)v;
	default: return (double)dtype_int(d, p);
	}
}

void
dtype_put_float(enum dtype d, double v, uint8_t *p)
{
	uint64_t u;

	switch (d) {
	case DTYPE_F16: u = f16_of_f32(half_odd(v)); break;
	case DTYPE_BF16: u = bf16_of_f32(half_odd(v)); break;
	case DTYPE_F32: u = half_bits((float)v); break;
	default: memcpy(&u, &v, 8);
	}
	u = htole64(u);
	memcpy(p, &u, dtype_size(d));
}

uint8_t *
dtype_put(enum dtype d, const uint8_t *p, uint8_t *w)
{
	switch (d) {
	case DTYPE_F16:
	case DTYPE_BF16:
	case DTYPE_F32:
	case DTYPE_F64:
		return mp_put_float(w, dtype_float(d, p));
	case DTYPE_BOOL:
		return mp_put_bool(w, *p != 0);
	case DTYPE_U64:
		return mp_put_uint(w, dtype_bits(d, p));
	default:
		return mp_put_int(w, dtype_int(d, p));
	}
}
