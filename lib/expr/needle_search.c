/* SPDX-License-Identifier: MIT */
#include "expr/needle.h"

#include <string.h>
#if defined(__SSE2__) && defined(__x86_64__)
#define NEEDLE_WIDE 1
#include <immintrin.h>
#else
#define NEEDLE_WIDE 0
#endif

/* How far ahead of a long search memory is asked for: processors do so themselves up to the end of a page only. 1 GB of
 * a file in memory is searched half as fast again. */
enum { NEEDLE_AHEAD = 4096 };

#if NEEDLE_WIDE
/* Both look at many places at once: where two bytes of the needle are at their places in it, the rest is
 * compared. They give the match, or NULL and the place where they stopped. */
static __attribute__((target("avx2"))) const uint8_t *
needle_by_32(const uint8_t *s, size_t n, size_t i, size_t j, const uint8_t **from, const uint8_t *end)
{
	__m256i a = _mm256_set1_epi8((char)s[i]), b = _mm256_set1_epi8((char)s[j]);
	const uint8_t *p = *from;

	for (; (size_t)(end - p) >= 32 + n - 1; p += 32) {
		__m256i x = _mm256_loadu_si256((const __m256i *)(const void *)(p + i));
		__m256i y = _mm256_loadu_si256((const __m256i *)(const void *)(p + j));
		unsigned mask = (unsigned)_mm256_movemask_epi8(
			_mm256_and_si256(_mm256_cmpeq_epi8(a, x), _mm256_cmpeq_epi8(b, y)));

		for (; mask; mask &= mask - 1) {
			const uint8_t *at = p + __builtin_ctz(mask);

			if (!memcmp(at, s, n))
				return at;
		}
	}
	*from = p;
	return NULL;
}

static const uint8_t *
needle_by_16(const uint8_t *s, size_t n, size_t i, size_t j, const uint8_t **from, const uint8_t *end)
{
	__m128i a = _mm_set1_epi8((char)s[i]), b = _mm_set1_epi8((char)s[j]);
	const uint8_t *p = *from;

	for (; (size_t)(end - p) >= 16 + n - 1; p += 16) {
		__m128i x = _mm_loadu_si128((const __m128i *)(const void *)(p + i));
		__m128i y = _mm_loadu_si128((const __m128i *)(const void *)(p + j));
		unsigned mask = (unsigned)_mm_movemask_epi8(
			_mm_and_si128(_mm_cmpeq_epi8(a, x), _mm_cmpeq_epi8(b, y)));

		for (; mask; mask &= mask - 1) {
			const uint8_t *at = p + __builtin_ctz(mask);

			if (!memcmp(at, s, n))
				return at;
		}
	}
	*from = p;
	return NULL;
}
#endif

static const uint8_t *
needle_search_by(const uint8_t *s, size_t n, size_t i, size_t j, const uint8_t *p, const uint8_t *end)
{
#if NEEDLE_WIDE
	const uint8_t *at = __builtin_cpu_supports("avx2") ? needle_by_32(s, n, i, j, &p, end) : NULL;

	if (!at)
		at = needle_by_16(s, n, i, j, &p, end);
	if (at)
		return at;
#else
	(void)i;
	(void)j;
#endif
	return p == end ? NULL : memmem(p, (size_t)(end - p), s, n);
}

const uint8_t *
needle_next(const struct needle *k, const uint8_t *p, const uint8_t *end)
{
	return needle_search_by(k->s, k->n, k->rare[0], k->rare[1], p, end);
}

const uint8_t *
needle_search(const uint8_t *s, size_t n, const uint8_t *p, const uint8_t *end)
{
	return n ? needle_search_by(s, n, 0, n - 1, p, end) : p;
}

#if NEEDLE_WIDE
/* Both count as far as they can, many bytes at once, and move *from there. Each of the sums that lie beside each
 * other holds up to 255. */
static __attribute__((target("avx2"))) size_t
needle_count_32(const uint8_t **from, const uint8_t *end, uint8_t c)
{
	const __m256i want = _mm256_set1_epi8((char)c), zero = _mm256_setzero_si256();
	const uint8_t *p = *from;
	size_t ahead = end - p > 2 * NEEDLE_AHEAD ? NEEDLE_AHEAD : 0;
	__m256i total = zero;

	while (end - p >= 64) {
		size_t k = (size_t)(end - p) / 64;
		__m256i a = zero, b = zero;

		for (k = k < 255 ? k : 255; k; k--, p += 64) {
			const __m256i *x = (const __m256i *)(const void *)p;

			__builtin_prefetch(p + ahead);
			a = _mm256_sub_epi8(a, _mm256_cmpeq_epi8(want, _mm256_loadu_si256(x)));
			b = _mm256_sub_epi8(b, _mm256_cmpeq_epi8(want, _mm256_loadu_si256(x + 1)));
		}
		total = _mm256_add_epi64(total, _mm256_add_epi64(_mm256_sad_epu8(a, zero), _mm256_sad_epu8(b, zero)));
	}
	*from = p;
	return (size_t)(_mm256_extract_epi64(total, 0) + _mm256_extract_epi64(total, 1) +
			_mm256_extract_epi64(total, 2) + _mm256_extract_epi64(total, 3));
}

static size_t
needle_count_16(const uint8_t **from, const uint8_t *end, uint8_t c)
{
	const __m128i want = _mm_set1_epi8((char)c), zero = _mm_setzero_si128();
	const uint8_t *p = *from;
	size_t n = 0;

	while (end - p >= 16) {
		size_t k = (size_t)(end - p) / 16;
		__m128i sum = zero;

		for (k = k < 255 ? k : 255; k; k--, p += 16) {
			__m128i x = _mm_loadu_si128((const __m128i *)(const void *)p);

			sum = _mm_sub_epi8(sum, _mm_cmpeq_epi8(want, x));
		}
		sum = _mm_sad_epu8(sum, zero);
		n += (size_t)_mm_cvtsi128_si32(sum) + (size_t)_mm_cvtsi128_si32(_mm_srli_si128(sum, 8));
	}
	*from = p;
	return n;
}
#endif

size_t
needle_count(const uint8_t *p, const uint8_t *end, uint8_t c)
{
	size_t n = 0;

#if NEEDLE_WIDE
	if (__builtin_cpu_supports("avx2"))
		n += needle_count_32(&p, end, c);
	n += needle_count_16(&p, end, c);
#endif
	for (; p < end; p++)
		n += *p == c;
	return n;
}

uint64_t
needle_places(const uint8_t *p, size_t n, uint8_t c)
{
	uint64_t mask = 0;
	size_t k = 0;

#if NEEDLE_WIDE
	__m128i want = _mm_set1_epi8((char)c);

	for (; n - k >= 16; k += 16) {
		__m128i x = _mm_loadu_si128((const __m128i *)(const void *)(p + k));

		mask |= (uint64_t)(unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(want, x)) << k;
	}
#endif
	for (; k < n; k++)
		mask |= (uint64_t)(p[k] == c) << k;
	return mask;
}

#if NEEDLE_WIDE
#define NEEDLES_WIDE __attribute__((target("avx2,popcnt,bmi")))

/* The place, from p on, of the lowest bit of the mask where one of the first n needles is, or NULL. */
static inline const uint8_t *
needles_at(const struct needles *k, size_t n, const uint8_t *p, uint64_t mask)
{
	for (; mask; mask &= mask - 1) {
		const uint8_t *at = p + __builtin_ctzll(mask);

		for (size_t i = 0; i < n; i++)
			if (!memcmp(at, k->v[i].s, k->v[i].n))
				return at;
	}
	return NULL;
}

NEEDLES_WIDE static inline __attribute__((always_inline)) uint64_t
needles_mask(__m256i low, __m256i high)
{
	return (unsigned)_mm256_movemask_epi8(low) | (uint64_t)(unsigned)_mm256_movemask_epi8(high) << 32;
}

/* Searches 64 places at once for all needles as needle_by_32 does, and counts the line ends that it passes. With a
 * constant for n, no loop over needles is left. */
NEEDLES_WIDE static inline __attribute__((always_inline)) const uint8_t *
needles_by_64(const struct needles *k, size_t n, const uint8_t **from, const uint8_t *end, uint8_t delim,
	      uint64_t *lines)
{
	__m256i a[NEEDLES_MAX], b[NEEDLES_MAX], d = _mm256_set1_epi8((char)delim);
	const uint8_t *p = *from;
	uint64_t count = 0;
	size_t longest = 0;

	for (size_t i = 0; i < n; i++) {
		a[i] = _mm256_set1_epi8((char)k->v[i].s[k->v[i].rare[0]]);
		b[i] = _mm256_set1_epi8((char)k->v[i].s[k->v[i].rare[1]]);
		longest = k->v[i].n > longest ? k->v[i].n : longest;
	}
	for (; (size_t)(end - p) >= 64 + longest - 1; p += 64) {
		const __m256i *here = (const __m256i *)(const void *)p;
		__m256i low = _mm256_setzero_si256(), high = low;

		__builtin_prefetch(p + NEEDLE_AHEAD);
		for (size_t i = 0; i < n; i++) {
			const __m256i *x = (const __m256i *)(const void *)(p + k->v[i].rare[0]);
			const __m256i *y = (const __m256i *)(const void *)(p + k->v[i].rare[1]);

			low = _mm256_or_si256(low, _mm256_and_si256(_mm256_cmpeq_epi8(a[i], _mm256_loadu_si256(x)),
								    _mm256_cmpeq_epi8(b[i], _mm256_loadu_si256(y))));
			high = _mm256_or_si256(high,
				_mm256_and_si256(_mm256_cmpeq_epi8(a[i], _mm256_loadu_si256(x + 1)),
						 _mm256_cmpeq_epi8(b[i], _mm256_loadu_si256(y + 1))));
		}
		uint64_t ends = needles_mask(_mm256_cmpeq_epi8(d, _mm256_loadu_si256(here)),
					     _mm256_cmpeq_epi8(d, _mm256_loadu_si256(here + 1)));
		__m256i any = _mm256_or_si256(low, high);
		if (!_mm256_testz_si256(any, any)) {
			const uint8_t *at = needles_at(k, n, p, needles_mask(low, high));

			if (at) {
				ends &= ((uint64_t)1 << (at - p)) - 1;
				*lines += count + (unsigned)__builtin_popcountll(ends);
				return at;
			}
		}
		count += (unsigned)__builtin_popcountll(ends);
	}
	*lines += count;
	*from = p;
	return NULL;
}

#define NEEDLES_BY_64(NAME, N) \
	NEEDLES_WIDE static const uint8_t * \
	NAME(const struct needles *k, const uint8_t **from, const uint8_t *end, uint8_t delim, uint64_t *lines) \
	{ \
		return needles_by_64(k, N, from, end, delim, lines); \
	}
NEEDLES_BY_64(needles_one, 1)
NEEDLES_BY_64(needles_two, 2)
NEEDLES_BY_64(needles_three, 3)
NEEDLES_BY_64(needles_more, k->n)
#endif

/* Searches for one needle after the other, in stretches that stay in the first-level cache. */
static const uint8_t *
needles_in_turn(const struct needles *k, const uint8_t *p, const uint8_t *end, uint8_t delim, uint64_t *lines)
{
	enum { AT_ONCE = 32 * 1024 };

	while (p < end) {
		const uint8_t *stop = end - p > AT_ONCE ? p + AT_ONCE : end, *hit = stop;

		for (size_t i = 0; i < k->n; i++) {
			/* a needle may begin before `stop` and end behind it */
			size_t over = (size_t)(end - hit) < k->v[i].n - 1 ? (size_t)(end - hit) : k->v[i].n - 1;
			const uint8_t *at = needle_next(&k->v[i], p, hit + over);

			hit = at && at < hit ? at : hit;
		}
		*lines += needle_count(p, hit, delim);
		if (hit < stop)
			return hit;
		p = stop;
	}
	return NULL;
}

const uint8_t *
needles_next(const struct needles *k, const uint8_t *p, const uint8_t *end, uint8_t delim, uint64_t *lines)
{
#if NEEDLE_WIDE
	if (__builtin_cpu_supports("avx2")) {
		const uint8_t *at = k->n == 1 ? needles_one(k, &p, end, delim, lines)
			: k->n == 2 ? needles_two(k, &p, end, delim, lines)
			: k->n == 3 ? needles_three(k, &p, end, delim, lines)
			: needles_more(k, &p, end, delim, lines);

		if (at)
			return at;
	}
#endif
	return needles_in_turn(k, p, end, delim, lines);
}
