/* SPDX-License-Identifier: MIT
 *
 * Rows are mixed byte by byte, whatever the channels: the bytes beside each other have the same
 * weights. Columns are mixed by the same loop, after sixteen rows (or thirty-two, where registers
 * are that wide) were turned so that the bytes of one column lie beside each other; this way no
 * channels have to be sorted out either.
 */
#include "image/resize_mix.h"

#include <stdbool.h>
#include <string.h>

#if defined(__SSE2__) && defined(__x86_64__)
#define RESIZE_WIDE 1
#define RESIZE_AVX2 __attribute__((target("avx2")))
#include <immintrin.h>
#else
#define RESIZE_WIDE 0
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

#if RESIZE_WIDE
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
	return _mm_cvtsi32_si128(two);
}

/* Sixteen sums, two rows at a time. */
static inline void
resize_mix_lanes(const struct resize_mix *m, const uint8_t *from, size_t stride, uint8_t *to)
{
	__m128i zero = _mm_setzero_si128(), half = _mm_set1_epi32(1 << (RESIZE_BITS - 1));
	__m128i h0 = zero, h1 = zero, h2 = zero, h3 = zero, l0 = half, l1 = half, l2 = half, l3 = half;

	for (size_t k = 0; k < m->n; k += 2, from += 2 * stride) {
		__m128i high = _mm_shuffle_epi32(resize_two(m->high + k), 0);
		__m128i low = _mm_shuffle_epi32(resize_two(m->low + k), 0);
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

/* Thirty-two sums: the same on both halves of registers that are twice as wide. */
static inline RESIZE_AVX2 void
resize_add_wide(__m256i pairs, __m256i high, __m256i low, __m256i *s_high, __m256i *s_low)
{
	*s_high = _mm256_add_epi32(*s_high, _mm256_madd_epi16(pairs, high));
	*s_low = _mm256_add_epi32(*s_low, _mm256_madd_epi16(pairs, low));
}

static inline RESIZE_AVX2 __m256i
resize_sum_wide(__m256i s_high, __m256i s_low)
{
	return _mm256_srai_epi32(_mm256_add_epi32(_mm256_slli_epi32(s_high, 8), s_low), RESIZE_BITS);
}

static inline RESIZE_AVX2 void
resize_mix_wide(const struct resize_mix *m, const uint8_t *from, size_t stride, uint8_t *to)
{
	__m256i zero = _mm256_setzero_si256(), half = _mm256_set1_epi32(1 << (RESIZE_BITS - 1));
	__m256i h0 = zero, h1 = zero, h2 = zero, h3 = zero, l0 = half, l1 = half, l2 = half, l3 = half;

	for (size_t k = 0; k < m->n; k += 2, from += 2 * stride) {
		__m256i high = _mm256_broadcastd_epi32(resize_two(m->high + k));
		__m256i low = _mm256_broadcastd_epi32(resize_two(m->low + k));
		__m256i a = _mm256_loadu_si256((const void *)from);
		__m256i b = k + 1 < m->n ? _mm256_loadu_si256((const void *)(from + stride)) : zero;
		__m256i front = _mm256_unpacklo_epi8(a, b), back = _mm256_unpackhi_epi8(a, b);

		resize_add_wide(_mm256_unpacklo_epi8(front, zero), high, low, &h0, &l0);
		resize_add_wide(_mm256_unpackhi_epi8(front, zero), high, low, &h1, &l1);
		resize_add_wide(_mm256_unpacklo_epi8(back, zero), high, low, &h2, &l2);
		resize_add_wide(_mm256_unpackhi_epi8(back, zero), high, low, &h3, &l3);
	}
	h0 = _mm256_packs_epi32(resize_sum_wide(h0, l0), resize_sum_wide(h1, l1));
	h2 = _mm256_packs_epi32(resize_sum_wide(h2, l2), resize_sum_wide(h3, l3));
	_mm256_storeu_si256((void *)to, _mm256_packus_epi16(h0, h2));
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

typedef void resize_lanes_fn(const struct resize_mix *m, const uint8_t *from, size_t stride,
			     uint8_t *to);

/* Turns `rows` rows of n bytes, at most `lanes`, to n rows of `lanes`; squares of sixteen fast. */
static inline void
resize_lay(const uint8_t *from, size_t rows, size_t n, size_t lanes, uint8_t *to)
{
	size_t even = n - n % LANES, r = 0;

	for (; r + LANES <= rows; r += LANES) {
		for (size_t i = 0; i < even; i += LANES)
			resize_turn(from + r * n + i, n, to + i * lanes + r, lanes);
		for (size_t i = even; i < n; i++)
			for (size_t k = r; k < r + LANES; k++)
				to[i * lanes + k] = from[k * n + i];
	}
	for (; r < lanes; r++)
		for (size_t i = 0; i < n; i++)
			to[i * lanes + r] = r < rows ? from[r * n + i] : 0;
}

static inline void
resize_raise(const uint8_t *from, size_t rows, size_t n, size_t lanes, uint8_t *to)
{
	size_t even = n - n % LANES, r = 0;

	for (; r + LANES <= rows; r += LANES) {
		for (size_t i = 0; i < even; i += LANES)
			resize_turn(from + i * lanes + r, lanes, to + r * n + i, n);
		for (size_t k = r; k < r + LANES; k++)
			for (size_t i = even; i < n; i++)
				to[k * n + i] = from[i * lanes + k];
	}
	for (; r < rows; r++)
		for (size_t i = 0; i < n; i++)
			to[r * n + i] = from[i * lanes + r];
}

/* One axis of the work: `lanes` bytes at a time by `mix`, which is known where this is called. */
static inline __attribute__((always_inline)) void
resize_mix_by(resize_lanes_fn *mix, size_t lanes, const struct resize_mix *m, const uint8_t *from,
	      size_t stride, uint8_t *to, size_t n)
{
	size_t i = 0;

	for (; i + lanes <= n; i += lanes)
		mix(m, from + i, stride, to + i);
	resize_mix_few(m, from + i, stride, to + i, n - i);
}

static inline __attribute__((always_inline)) void
resize_columns_by(resize_lanes_fn *mix, size_t lanes, const struct resize_mix *m, size_t n,
		  const struct resize_rows *r)
{
	size_t channels = r->channels;
	uint8_t *made = r->turned + lanes * r->w * channels;

	for (size_t y = 0; y < r->h; y += lanes) {
		size_t rows = r->h - y < lanes ? r->h - y : lanes;
		uint8_t *at = made;

		resize_lay(r->from + y * r->w * channels, rows, r->w * channels, lanes, r->turned);
		for (size_t i = 0; i < n; i++)
			for (size_t c = 0; c < channels; c++, at += lanes)
				mix(&m[i], r->turned + (m[i].first * channels + c) * lanes, channels * lanes, at);
		resize_raise(made, rows, n * channels, lanes, r->to + y * n * channels);
	}
}

#if RESIZE_WIDE
static RESIZE_AVX2 void
resize_rows_wide(const struct resize_mix *m, const uint8_t *from, size_t stride, uint8_t *to, size_t n)
{
	resize_mix_by(resize_mix_wide, 2 * LANES, m, from, stride, to, n);
}

static RESIZE_AVX2 void
resize_columns_wide(const struct resize_mix *m, size_t n, const struct resize_rows *r)
{
	resize_columns_by(resize_mix_wide, 2 * LANES, m, n, r);
}

static bool
resize_is_wide(void)
{
	return __builtin_cpu_supports("avx2");
}
#else
#define resize_is_wide() false
#define resize_rows_wide resize_mix
#define resize_columns_wide resize_columns
#endif

void
resize_mix(const struct resize_mix *m, const uint8_t *from, size_t stride, uint8_t *to, size_t n)
{
	if (resize_is_wide())
		resize_rows_wide(m, from, stride, to, n);
	else
		resize_mix_by(resize_mix_lanes, LANES, m, from, stride, to, n);
}

void
resize_columns(const struct resize_mix *m, size_t n, const struct resize_rows *r)
{
	if (resize_is_wide())
		resize_columns_wide(m, n, r);
	else
		resize_columns_by(resize_mix_lanes, LANES, m, n, r);
}
