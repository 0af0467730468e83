/* SPDX-License-Identifier: MIT
 *
 * Rows are mixed byte by byte, whatever the channels: the bytes beside each other have the same
 * weights. Columns are mixed by the same loop, after sixteen rows were turned so that the bytes
 * of one column lie beside each other; this way no channels have to be sorted out either.
 */
#include "image/resize_mix.h"

#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum { LANES = 16 };

static uint8_t
resize_round(int64_t sum)
{
	sum = (sum + (1 << (RESIZE_BITS - 1))) >> RESIZE_BITS;
	return (uint8_t)(sum < 0 ? 0 : sum > 255 ? 255 : sum);
}

static void
resize_mix_few(const struct resize_mix *m, const uint8_t *from, size_t stride, uint8_t *to, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		int64_t sum = 0;

		for (size_t k = 0; k < m->n; k++)
			sum += (256 * m->high[k] + m->low[k]) * (int64_t)from[k * stride + i];
		to[i] = resize_round(sum);
	}
}

#ifdef __SSE2__
/* Four sums of two rows: the products of the bytes that stand in turns are added in pairs. */
static inline void
resize_add(__m128i pairs, __m128i high, __m128i low, __m128i *s_high, __m128i *s_low)
{
	*s_high = _mm_add_epi32(*s_high, _mm_madd_epi16(pairs, high));
	*s_low = _mm_add_epi32(*s_low, _mm_madd_epi16(pairs, low));
}

static inline __m128i
resize_sum(__m128i s_high, __m128i s_low)
{
	return _mm_srai_epi32(_mm_add_epi32(_mm_slli_epi32(s_high, 8), s_low), RESIZE_BITS);
}

static inline __m128i
resize_two(const int16_t *weights)
{
	int32_t two;

	memcpy(&two, weights, sizeof two);
	return _mm_set1_epi32(two);
}

/* Sixteen sums, two rows at a time. */
static inline void
resize_mix_lanes(const struct resize_mix *m, const uint8_t *from, size_t stride, uint8_t *to)
{
	__m128i zero = _mm_setzero_si128(), half = _mm_set1_epi32(1 << (RESIZE_BITS - 1));
	__m128i h0 = zero, h1 = zero, h2 = zero, h3 = zero, l0 = half, l1 = half, l2 = half, l3 = half;

	for (size_t k = 0; k < m->n; k += 2, from += 2 * stride) {
		__m128i high = resize_two(m->high + k), low = resize_two(m->low + k);
		__m128i a = _mm_loadu_si128((const void *)from);
		__m128i b = k + 1 < m->n ? _mm_loadu_si128((const void *)(from + stride)) : zero;
		__m128i front = _mm_unpacklo_epi8(a, b), back = _mm_unpackhi_epi8(a, b);

		resize_add(_mm_unpacklo_epi8(front, zero), high, low, &h0, &l0);
		resize_add(_mm_unpackhi_epi8(front, zero), high, low, &h1, &l1);
		resize_add(_mm_unpacklo_epi8(back, zero), high, low, &h2, &l2);
		resize_add(_mm_unpackhi_epi8(back, zero), high, low, &h3, &l3);
	}
	h0 = _mm_packs_epi32(resize_sum(h0, l0), resize_sum(h1, l1));
	h2 = _mm_packs_epi32(resize_sum(h2, l2), resize_sum(h3, l3));
	_mm_storeu_si128((void *)to, _mm_packus_epi16(h0, h2));
}

/* One round of putting the upper and the lower half in turns. */
static inline __attribute__((always_inline)) void
resize_deal(const __m128i *from, __m128i *to)
{
#pragma GCC unroll 8
	for (int i = 0; i < LANES / 2; i++) {
		to[2 * i] = _mm_unpacklo_epi8(from[i], from[i + LANES / 2]);
		to[2 * i + 1] = _mm_unpackhi_epi8(from[i], from[i + LANES / 2]);
	}
}

/* Turns a square of bytes, in four rounds. */
static inline void
resize_turn(const uint8_t *from, size_t from_stride, uint8_t *to, size_t to_stride)
{
	__m128i a[LANES], b[LANES];

#pragma GCC unroll 16
	for (int i = 0; i < LANES; i++)
		a[i] = _mm_loadu_si128((const void *)(from + (size_t)i * from_stride));
	resize_deal(a, b);
	resize_deal(b, a);
	resize_deal(a, b);
	resize_deal(b, a);
#pragma GCC unroll 16
	for (int i = 0; i < LANES; i++)
		_mm_storeu_si128((void *)(to + (size_t)i * to_stride), a[i]);
}
#else
static inline void
resize_mix_lanes(const struct resize_mix *m, const uint8_t *from, size_t stride, uint8_t *to)
{
	int64_t sum[LANES] = { 0 };

	for (size_t k = 0; k < m->n; k++)
		for (int i = 0; i < LANES; i++)
			sum[i] += (256 * m->high[k] + m->low[k]) * (int64_t)from[k * stride + (size_t)i];
	for (int i = 0; i < LANES; i++)
		to[i] = resize_round(sum[i]);
}

static inline void
resize_turn(const uint8_t *from, size_t from_stride, uint8_t *to, size_t to_stride)
{
	for (size_t i = 0; i < LANES; i++)
		for (size_t k = 0; k < LANES; k++)
			to[k * to_stride + i] = from[i * from_stride + k];
}
#endif

void
resize_mix(const struct resize_mix *m, const uint8_t *from, size_t stride, uint8_t *to, size_t n)
{
	size_t i = 0;

	for (; i + LANES <= n; i += LANES)
		resize_mix_lanes(m, from + i, stride, to + i);
	resize_mix_few(m, from + i, stride, to + i, n - i);
}

/* Turns `rows` rows of n bytes, at most sixteen, to n rows of sixteen. */
static void
resize_lay(const uint8_t *from, size_t rows, size_t n, uint8_t *to)
{
	size_t i = 0;

	for (; rows == LANES && i + LANES <= n; i += LANES)
		resize_turn(from + i, n, to + i * LANES, LANES);
	for (; i < n; i++)
		for (size_t r = 0; r < LANES; r++)
			to[i * LANES + r] = r < rows ? from[r * n + i] : 0;
}

static void
resize_raise(const uint8_t *from, size_t rows, size_t n, uint8_t *to)
{
	size_t i = 0;

	for (; rows == LANES && i + LANES <= n; i += LANES)
		resize_turn(from + i * LANES, LANES, to + i, n);
	for (size_t r = 0; r < rows; r++)
		for (size_t k = i; k < n; k++)
			to[r * n + k] = from[k * LANES + r];
}

void
resize_columns(const struct resize_mix *m, size_t n, const uint8_t *from, size_t h, size_t w,
	       size_t channels, uint8_t *to, uint8_t *turned)
{
	uint8_t *made = turned + LANES * w * channels;

	for (size_t y = 0; y < h; y += LANES) {
		size_t rows = h - y < LANES ? h - y : LANES;
		uint8_t *at = made;

		resize_lay(from + y * w * channels, rows, w * channels, turned);
		for (size_t i = 0; i < n; i++)
			for (size_t c = 0; c < channels; c++, at += LANES)
				resize_mix_lanes(&m[i], turned + (m[i].first * channels + c) * LANES,
						 channels * LANES, at);
		resize_raise(made, rows, n * channels, to + y * n * channels);
	}
}
