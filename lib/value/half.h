/* SPDX-License-Identifier: MIT
 *
 * Floats of 16 bits, as their bits: f16 is IEEE 754's binary16, bf16 the upper half
 * of a binary32.
 *
 *	f16    sign  5 bits of exponent   10 of fraction   largest 65504
 *	bf16   sign  8 bits of exponent    7 of fraction   largest 3.39e38
 *
 * Both fit a float exactly. Narrowing rounds to the nearest, a tie to the even one; what
 * is too large becomes infinite; a nan stays one, quiet, with the upper bits of its
 * payload. Nothing here branches, so that the compiler makes vector code of loops.
 */
#ifndef VALUE_HALF_H
#define VALUE_HALF_H

#include <stdint.h>
#include <string.h>

static inline uint32_t
half_bits(float f)
{
	uint32_t u;

	memcpy(&u, &f, sizeof u);
	return u;
}

static inline float
half_float(uint32_t u)
{
	float f;

	memcpy(&f, &u, sizeof f);
	return f;
}

static inline float
f16_to_f32(uint16_t h)
{
	uint32_t u = (h & 0x7fffu) << 13, exponent = u & 0x0f800000u;
	/* A subnormal: given an exponent of its own, the fraction is 2^-14 too large. */
	uint32_t low = half_bits(half_float(u + (113u << 23)) - half_float(113u << 23));
	uint32_t most = u + (exponent == 0x0f800000u ? 224u << 23 : 112u << 23);

	return half_float((exponent ? most : low) | (uint32_t)(h & 0x8000u) << 16);
}

static inline uint16_t
f16_of_f32(float f)
{
	uint32_t u = half_bits(f), sign = u >> 16 & 0x8000u;

	u &= 0x7fffffffu;
	/* Below 2^-14 the sum has its last bit where a subnormal half has it, and so rounds. */
	uint32_t low = half_bits(half_float(u) + 0.5f) - half_bits(0.5f);
	uint32_t middle = (u - (112u << 23) + 0xfffu + (u >> 13 & 1)) >> 13;
	uint32_t high = u > 0x7f800000u ? 0x7e00u | (u >> 13 & 0x3ffu) : 0x7c00u;

	return (uint16_t)(sign | (u < 113u << 23 ? low : u < 143u << 23 ? middle : high));
}

static inline float
bf16_to_f32(uint16_t h)
{
	return half_float((uint32_t)h << 16);
}

static inline uint16_t
bf16_of_f32(float f)
{
	uint32_t u = half_bits(f), nan = u >> 16 | 0x40u;

	return (uint16_t)((u & 0x7fffffffu) > 0x7f800000u ? nan : (u + 0x7fffu + (u >> 16 & 1)) >> 16);
}

/* The float towards 0 from d, its last bit set when that is not d itself (rounding to
 * odd): narrowed further it gives what d itself would, where two roundings could not. */
static inline float
half_odd(double d)
{
	float f = (float)d;
	uint32_t u = half_bits(f);
	double back = (double)f;

	u -= (back < 0 ? -back : back) > (d < 0 ? -d : d);
	return half_float(back != d ? u | 1 : u);
}

#endif
