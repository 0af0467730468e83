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

static inline RESIZE_AVX2 __m256i
resize_sum_wide(__m256i s_high, __m256i s_low)
{
	return _mm256_srai_epi32(_mm256_add_epi32(_mm256_slli_epi32(s_high, 8), s_low), RESIZE_BITS);
}

/* Sixteen sums: of the lower or the upper half of thirty-two bytes, since there are not registers enough for
 * both at once. Rows come in pairs; an odd row at the end is paired with the one `last` bytes behind it, whose
 * weight is 0. */
static inline RESIZE_AVX2 __attribute__((always_inline)) __m256i
resize_half_wide(const struct resize_mix *m, size_t pairs, bool upper, const uint8_t *from, size_t stride,
		 size_t last)
{
	__m256i zero = _mm256_setzero_si256();
	__m256i h0 = zero, h1 = zero, l0 = _mm256_set1_epi32(1 << (RESIZE_BITS - 1)), l1 = l0;

#pragma GCC unroll 4
	for (size_t k = 0; k < pairs; k++, from += 2 * stride) {
		__m256i high = _mm256_broadcastd_epi32(resize_two(m->high + 2 * k));
		__m256i low = _mm256_broadcastd_epi32(resize_two(m->low + 2 * k));
		__m256i a = _mm256_loadu_si256((const void *)from);
		__m256i b = _mm256_loadu_si256((const void *)(from + (k + 1 < pairs ? stride : last)));
		__m256i both = upper ? _mm256_unpackhi_epi8(a, b) : _mm256_unpacklo_epi8(a, b);
		__m256i front = _mm256_unpacklo_epi8(both, zero), back = _mm256_unpackhi_epi8(both, zero);

		h0 = _mm256_add_epi32(h0, _mm256_madd_epi16(front, high));
		l0 = _mm256_add_epi32(l0, _mm256_madd_epi16(front, low));
		h1 = _mm256_add_epi32(h1, _mm256_madd_epi16(back, high));
		l1 = _mm256_add_epi32(l1, _mm256_madd_epi16(back, low));
	}
	return _mm256_packs_epi32(resize_sum_wide(h0, l0), resize_sum_wide(h1, l1));
}

/* `pairs` is known where this is called, as far as it is small: the loops over rows have no branches then. */
static inline RESIZE_AVX2 __attribute__((always_inline)) size_t
resize_mix_wide(const struct resize_mix *m, size_t pairs, const uint8_t *from, size_t stride, uint8_t *to, size_t n)
{
	size_t i = 0, last = m->n % 2 ? 0 : stride;

	for (; i + 2 * LANES <= n; i += 2 * LANES) {
		__m256i lower = resize_half_wide(m, pairs, false, from + i, stride, last);
		__m256i upper = resize_half_wide(m, pairs, true, from + i, stride, last);

		_mm256_storeu_si256((void *)(to + i), _mm256_packus_epi16(lower, upper));
	}
	return i;
}

static RESIZE_AVX2 void
resize_rows_wide(const struct resize_mix *m, const uint8_t *from, size_t stride, uint8_t *to, size_t n)
{
	size_t pairs = (m->n + 1) / 2, done;

	switch (pairs) {
	case 1:
		done = resize_mix_wide(m, 1, from, stride, to, n);
		break;
	case 2:
		done = resize_mix_wide(m, 2, from, stride, to, n);
		break;
	case 3:
		done = resize_mix_wide(m, 3, from, stride, to, n);
		break;
	default:
		done = resize_mix_wide(m, pairs, from, stride, to, n);
	}
	if (done < n)
		resize_mix_few(m, from + done, stride, to + done, n - done);
}

/* One round of putting the upper and the lower half in turns, for two squares at once. */
static inline RESIZE_AVX2 __attribute__((always_inline)) void
resize_deal_wide(const __m256i *from, __m256i *to)
{
#pragma GCC unroll 8
	for (int i = 0; i < LANES / 2; i++) {
		to[2 * i] = _mm256_unpacklo_epi8(from[i], from[i + LANES / 2]);
		to[2 * i + 1] = _mm256_unpackhi_epi8(from[i], from[i + LANES / 2]);
	}
}

static inline RESIZE_AVX2 __attribute__((always_inline)) void
resize_turn_wide(__m256i *a)
{
	__m256i b[LANES];

	resize_deal_wide(a, b);
	resize_deal_wide(b, a);
	resize_deal_wide(a, b);
	resize_deal_wide(b, a);
}

/* Turns sixteen columns of thirty-two rows of n bytes. */
static RESIZE_AVX2 void
resize_lay_wide(const uint8_t *from, size_t n, uint8_t *to)
{
	__m256i a[LANES];

#pragma GCC unroll 16
	for (size_t r = 0; r < LANES; r++)
		a[r] = _mm256_loadu2_m128i((const void *)(from + (r + LANES) * n), (const void *)(from + r * n));
	resize_turn_wide(a);
#pragma GCC unroll 16
	for (size_t i = 0; i < LANES; i++)
		_mm256_storeu_si256((void *)(to + i * 2 * LANES), a[i]);
}

/* The other way round. */
static RESIZE_AVX2 void
resize_raise_wide(const uint8_t *from, uint8_t *to, size_t n)
{
	__m256i a[LANES];

#pragma GCC unroll 16
	for (size_t i = 0; i < LANES; i++)
		a[i] = _mm256_loadu_si256((const void *)(from + i * 2 * LANES));
	resize_turn_wide(a);
#pragma GCC unroll 16
	for (size_t r = 0; r < LANES; r++)
		_mm256_storeu2_m128i((void *)(to + (r + LANES) * n), (void *)(to + r * n), a[r]);
}

/* Thirty-two rows of at least sixteen bytes each, before and after. Only so many columns are turned at once as
 * the next few of the result need, so that they stay in the processor's nearest memory; what is left at the
 * end of a row is turned together with some of what was turned before. */
static RESIZE_AVX2 void
resize_columns_wide(const struct resize_mix *m, size_t n, const struct resize_rows *r, size_t y)
{
	size_t channels = r->channels, had = r->w * channels, has = n * channels, laid = 0, raised = 0;
	const uint8_t *from = r->from + y * had;
	uint8_t *to = r->to + y * has, *made = r->turned + 2 * LANES * had;

	for (size_t i = 0; i < n; i++) {
		for (size_t need = (m[i].first + m[i].n) * channels; laid < need; laid += LANES) {
			laid = laid + LANES <= had ? laid : had - LANES;
			resize_lay_wide(from + laid, had, r->turned + laid * 2 * LANES);
		}
		resize_rows_wide(&m[i], r->turned + m[i].first * channels * 2 * LANES, channels * 2 * LANES,
				 made + i * channels * 2 * LANES, channels * 2 * LANES);
		for (; raised + LANES <= (i + 1) * channels; raised += LANES)
			resize_raise_wide(made + raised * 2 * LANES, to + raised, has);
	}
	if (raised < has)
		resize_raise_wide(made + (has - LANES) * 2 * LANES, to + has - LANES, has);
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

/* Turns `rows` rows of n bytes, at most LANES, to n rows of LANES; whole squares fast. */
static inline void
resize_lay(const uint8_t *from, size_t rows, size_t n, uint8_t *to)
{
	size_t i = 0;

	for (; rows == LANES && i + LANES <= n; i += LANES)
		resize_turn(from + i, n, to + i * LANES, LANES);
	for (; i < n; i++)
		for (size_t k = 0; k < LANES; k++)
			to[i * LANES + k] = k < rows ? from[k * n + i] : 0;
}

static inline void
resize_raise(const uint8_t *from, size_t rows, size_t n, uint8_t *to)
{
	size_t i = 0;

	for (; rows == LANES && i + LANES <= n; i += LANES)
		resize_turn(from + i * LANES, LANES, to + i, n);
	for (; i < n; i++)
		for (size_t k = 0; k < rows; k++)
			to[k * n + i] = from[i * LANES + k];
}

static void
resize_rows_lanes(const struct resize_mix *m, const uint8_t *from, size_t stride, uint8_t *to, size_t n)
{
	size_t i = 0;

	for (; i + LANES <= n; i += LANES)
		resize_mix_lanes(m, from + i, stride, to + i);
	resize_mix_few(m, from + i, stride, to + i, n - i);
}

static void
resize_columns_lanes(const struct resize_mix *m, size_t n, const struct resize_rows *r, size_t y)
{
	size_t channels = r->channels, rows = r->h - y < LANES ? r->h - y : LANES;
	uint8_t *made = r->turned + LANES * r->w * channels, *at = made;

	resize_lay(r->from + y * r->w * channels, rows, r->w * channels, r->turned);
	for (size_t i = 0; i < n; i++)
		for (size_t c = 0; c < channels; c++, at += LANES)
			resize_mix_lanes(&m[i], r->turned + (m[i].first * channels + c) * LANES, channels * LANES, at);
	resize_raise(made, rows, n * channels, r->to + y * n * channels);
}

#if RESIZE_WIDE
static bool
resize_is_wide(void)
{
	return __builtin_cpu_supports("avx2");
}
#else
#define resize_is_wide() false
#define resize_rows_wide resize_rows_lanes
#define resize_columns_wide resize_columns_lanes
#endif

void
resize_mix(const struct resize_mix *m, const uint8_t *from, size_t stride, uint8_t *to, size_t n)
{
	if (resize_is_wide())
		resize_rows_wide(m, from, stride, to, n);
	else
		resize_rows_lanes(m, from, stride, to, n);
}

/* The last strip of an image reaches back into the one before it. */
void
resize_columns(const struct resize_mix *m, size_t n, const struct resize_rows *r)
{
	size_t least = (n < r->w ? n : r->w) * r->channels;
	bool wide = resize_is_wide() && r->h >= 2 * LANES && least >= LANES;
	size_t lanes = wide ? 2 * LANES : LANES;

	for (size_t y = 0; y < r->h; y += lanes) {
		if (y + lanes > r->h && r->h >= lanes)
			y = r->h - lanes;
		if (wide)
			resize_columns_wide(m, n, r, y);
		else
			resize_columns_lanes(m, n, r, y);
	}
}
