/* SPDX-License-Identifier: MIT
 * f16 and bf16 against their definition: the nearest of all values there are, a tie to
 * the even one; and against the compiler's own half where it has one. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "value/dtype.h"
#include "value/half.h"

/* A kind of float of 16 bits, by its numbers. */
struct kind {
	enum dtype dtype;
	int fraction, bias;
	uint16_t infinity;
	double v[1 << 15]; /* the values from 0 up; what would come next in place of infinity */
};

static struct kind kinds[] = {
	{ .dtype = DTYPE_F16, .fraction = 10, .bias = 15, .infinity = 0x7c00 },
	{ .dtype = DTYPE_BF16, .fraction = 7, .bias = 127, .infinity = 0x7f80 },
};

static double
half_value(const struct kind *k, uint16_t h)
{
	int exponent = h >> k->fraction, fraction = h & ((1 << k->fraction) - 1);

	return exponent ? ldexp((1 << k->fraction) + fraction, exponent - k->bias - k->fraction)
		: ldexp(fraction, 1 - k->bias - k->fraction);
}

static int
half_setup(void **state)
{
	(void)state;
	for (int i = 0; i < 2; i++)
		for (unsigned h = 0; h <= kinds[i].infinity; h++)
			kinds[i].v[h] = half_value(&kinds[i], (uint16_t)h);
	return 0;
}

#define GROUP_SETUP half_setup

/* Finds d without its sign among all values, which is slow. */
static uint16_t
half_nearest(const struct kind *k, double d)
{
	unsigned lo = 0, hi = k->infinity;

	if (d >= k->v[hi])
		return k->infinity;
	while (hi - lo > 1) {
		unsigned mid = (lo + hi) / 2;

		if (d < k->v[mid])
			hi = mid;
		else
			lo = mid;
	}
	double half = (k->v[lo] + k->v[hi]) / 2; /* exactly */
	return (uint16_t)(d < half || (d == half && lo % 2 == 0) ? lo : hi);
}

static uint16_t
half_put(enum dtype d, double v)
{
	uint8_t p[2];

	dtype_put_float(d, v, p);
	return (uint16_t)(p[0] | p[1] << 8);
}

static double
half_get(enum dtype d, uint16_t h)
{
	return dtype_float(d, (uint8_t[]){ (uint8_t)h, (uint8_t)(h >> 8) });
}

static uint16_t
half_narrow(enum dtype d, float f)
{
	return d == DTYPE_F16 ? f16_of_f32(f) : bf16_of_f32(f);
}

static void
each_of_the_65536_is_what_its_bits_say_and_comes_back(void **state)
{
	(void)state;
	for (int i = 0; i < 2; i++)
		for (unsigned h = 0; h < 1 << 16; h++) {
			const struct kind *k = &kinds[i];
			unsigned size = h & 0x7fff;
			double got = half_get(k->dtype, (uint16_t)h);
			double want = size == k->infinity ? INFINITY : half_value(k, (uint16_t)size);
			bool good = size > k->infinity ? isnan(got)
				: got == (h >> 15 ? -want : want) && !signbit(got) == !(h >> 15);
			/* A nan that signals is quiet afterwards. */
			unsigned back = size > k->infinity ? h | 1u << (k->fraction - 1) : h;

			if (!good || half_put(k->dtype, got) != back || half_narrow(k->dtype, (float)got) != back)
				fail_msg("%s %04x is %g, and back %04x", dtype_name(k->dtype), h, got,
					 half_put(k->dtype, got));
		}
}

/* Every sign, exponent and fraction that is kept, each with what decides the rounding. */
static void
floats_become_the_nearest(void **state)
{
	static const uint32_t low[] = { 0, 1, 0x7ff, 0xfff, 0x1000, 0x1001, 0x1fff, 0x7fff, 0x8000, 0x8001, 0xffff };

	(void)state;
	for (int i = 0; i < 2; i++) {
		const struct kind *k = &kinds[i];
		unsigned cut = (unsigned)(23 - k->fraction);

		for (uint32_t high = 0; high < 1u << (32 - cut); high++)
			for (size_t n = 0; n < sizeof low / sizeof *low; n++) {
				float f = half_float(high << cut | (low[n] & ((1u << cut) - 1)));
				uint16_t got = half_narrow(k->dtype, f);
				unsigned size = got & 0x7fff;

				if (isnan(f) ? size <= k->infinity
				    : size != half_nearest(k, (double)fabsf(f)) || !signbit(f) != !(got >> 15))
					fail_msg("%a is %s %04x", (double)f, dtype_name(k->dtype), got);
			}
	}
}

/* Just above and just below the middle of two neighbours, nearer than a float is. */
static void
doubles_are_rounded_once(void **state)
{
	(void)state;
	for (int i = 0; i < 2; i++)
		for (unsigned h = 0; h < kinds[i].infinity; h++) {
			const struct kind *k = &kinds[i];
			double half = (k->v[h] + k->v[h + 1]) / 2;
			double near[] = { half, nextafter(half, 0), nextafter(half, 1e300),
					  nextafter(k->v[h], 0), nextafter(k->v[h], 1e300) };

			for (size_t n = 0; n < sizeof near / sizeof *near; n++) {
				uint16_t want = half_nearest(k, near[n]);

				if (half_put(k->dtype, near[n]) != want
				    || half_put(k->dtype, -near[n]) != (0x8000 | want))
					fail_msg("%a is %s %04x", near[n], dtype_name(k->dtype),
						 half_put(k->dtype, near[n]));
			}
		}
	for (int i = 0; i < 2; i++) {
		assert_int_equal(half_put(kinds[i].dtype, 1e300), kinds[i].infinity);
		assert_int_equal(half_put(kinds[i].dtype, -INFINITY), 0x8000 | kinds[i].infinity);
		assert_int_equal(half_put(kinds[i].dtype, -1e-300), 0x8000);
		assert_true((half_put(kinds[i].dtype, NAN) & 0x7fff) > kinds[i].infinity);
	}
}

/* Nothing where it has none: what halves are was looked at above. */
static void
the_compiler_has_the_same_half(void **state)
{
	(void)state;
#ifdef __FLT16_MANT_DIG__
	for (uint32_t i = 0; i < 1u << 24; i++) {
		float f = half_float(i * 256 + (i & 0x80 ? 0xff : 1));
		_Float16 h = (_Float16)f;
		uint16_t bits, got = f16_of_f32(f);

		memcpy(&bits, &h, sizeof bits);
		if (isnan(f) ? (got & 0x7fff) <= 0x7c00 : got != bits)
			fail_msg("%a is %04x, for the compiler %04x", (double)f, got, bits);
	}
	for (unsigned i = 0; i < 1 << 16; i++) {
		uint16_t bits = (uint16_t)i;
		_Float16 h;

		memcpy(&h, &bits, sizeof h);
		float f = (float)h, got = f16_to_f32(bits);
		if (isnan(f) ? !isnan(got) : memcmp(&f, &got, sizeof f) != 0)
			fail_msg("%04x is %a, for the compiler %a", i, (double)got, (double)f);
	}
#endif
}
