/* SPDX-License-Identifier: MIT */
#include "op/file/line_seek.h"

#include <string.h>
#if defined(__SSE2__) && defined(__x86_64__)
#define SEEK_WIDE 1
#include <immintrin.h>
#else
#define SEEK_WIDE 0
#endif

#include "expr/needle.h"
#include "value/mp.h"

enum {
	SEEK_BYTES = 32 * 1024, /* searched at a time, for each needle: stays in the first-level cache */
	SEEK_RARE = 3,  /* seeking pays if there are so many lines for each that holds a needle */
	SEEK_REST = 15  /* else as many runs are made line by line before the next attempt */
};

struct line_seek {
	const struct needles *needles;
	const uint8_t *next[NEEDLES_MAX]; /* next place of each needle in the piece at hand; NULL: none */
	uint8_t delim;
	uint64_t lines;                   /* lines before the place at hand, in this run */
	size_t given;                     /* bytes of the elements */
};

#if SEEK_WIDE
/* Both count as far as they can, many bytes at once, and move *from there. Each of the sums that lie beside each
 * other holds up to 255. */
static __attribute__((target("avx2"))) size_t
seek_count_32(const uint8_t **from, const uint8_t *end, uint8_t c)
{
	const __m256i want = _mm256_set1_epi8((char)c), zero = _mm256_setzero_si256();
	const uint8_t *p = *from;
	__m256i total = zero;

	while (end - p >= 64) {
		size_t k = (size_t)(end - p) / 64;
		__m256i a = zero, b = zero;

		for (k = k < 255 ? k : 255; k; k--, p += 64) {
			const __m256i *x = (const __m256i *)(const void *)p;

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
seek_count_16(const uint8_t **from, const uint8_t *end, uint8_t c)
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

/* How many bytes of [p, end) are c. */
static size_t
seek_count(const uint8_t *p, const uint8_t *end, uint8_t c)
{
	size_t n = 0;

#if SEEK_WIDE
	if (__builtin_cpu_supports("avx2"))
		n += seek_count_32(&p, end, c);
	n += seek_count_16(&p, end, c);
#endif
	for (; p < end; p++)
		n += *p == c;
	return n;
}

/* The number of lines in [p, end), of which the last may be without its end. */
static uint64_t
seek_lines(const struct line_seek *k, const uint8_t *p, const uint8_t *end)
{
	return p == end ? 0 : seek_count(p, end, k->delim) + (end[-1] != k->delim);
}

static void
seek_give(struct line_seek *k, const uint8_t *p, const uint8_t *end, struct run *out)
{
	size_t n = (size_t)(end - p);

	run_done(out, mp_put_text(run_room(out, MP_HEAD_MAX + n), p, (uint32_t)n), (uint32_t)k->lines);
	k->lines++;
	k->given += n;
}

/* The end of a piece of whole lines that begin in [p, limit), or NULL: not even the first line is whole.
 * The first `searched` bytes hold no line end. */
static const uint8_t *
seek_piece(const struct file_source *s, const uint8_t *p, const uint8_t *limit, const uint8_t *end,
	   size_t searched)
{
	const uint8_t *stop = (size_t)(limit - p) > SEEK_BYTES ? p + SEEK_BYTES : limit, *last = NULL;

	if (searched < (size_t)(stop - p))
		last = memrchr(p + searched, s->delim, (size_t)(stop - p) - searched);
	else
		stop = p + searched;
	if (!last)
		last = memchr(stop, s->delim, (size_t)(end - stop));
	return last ? last + 1 : s->eof ? end : NULL;
}

/* Passes through a piece; gives the place where it stopped: the end, unless the run is full. */
static const uint8_t *
seek_through(struct line_seek *k, const uint8_t *p, const uint8_t *end, struct run *out)
{
	for (size_t i = 0; i < k->needles->n; i++)
		k->next[i] = needle_next(&k->needles->v[i], p, end);
	while (p < end && out->n < RUN_USUAL && k->given < RUN_BYTES) {
		const uint8_t *hit = end;

		for (size_t i = 0; i < k->needles->n; i++) {
			if (k->next[i] && k->next[i] < p)
				k->next[i] = needle_next(&k->needles->v[i], p, end);
			if (k->next[i] && k->next[i] < hit)
				hit = k->next[i];
		}
		if (hit == end) {
			k->lines += seek_lines(k, p, end);
			return end;
		}
		const uint8_t *before = memrchr(p, k->delim, (size_t)(hit - p));
		const uint8_t *line = before ? before + 1 : p;
		const uint8_t *stop = memchr(hit, k->delim, (size_t)(end - hit));

		k->lines += seek_lines(k, p, line);
		seek_give(k, line, stop ? stop : end, out);
		p = stop ? stop + 1 : end;
	}
	return p;
}

/* Gives an empty text for each line of a piece. */
static const uint8_t *
seek_number(struct line_seek *k, const uint8_t *p, const uint8_t *end, struct run *out)
{
	static const uint8_t empty[] = { 0xa0 };

	uint64_t n = seek_lines(k, p, end);

	while (out->cap - out->n < n)
		run_more(out);
	for (uint64_t i = 0; i < n; i++)
		out->e[out->n + i] = (struct elem){ empty, NULL, sizeof empty, (uint32_t)(k->lines + i) };
	out->n += (uint32_t)n;
	k->lines += n;
	return end;
}

/* Gives the last one of the lines in [start, p), all of which were passed over. */
static void
seek_give_last(struct line_seek *k, const uint8_t *start, const uint8_t *p, struct run *out)
{
	const uint8_t *stop = p[-1] == k->delim ? p - 1 : p;
	const uint8_t *before = memrchr(start, k->delim, (size_t)(stop - start));

	k->lines--;
	seek_give(k, before ? before + 1 : start, stop, out);
}

/* Whether lines may be passed over now: nobody looks at them, and none in the window is too long. */
static bool
seek_may(const struct op_inst *self, struct file_source *s)
{
	const struct op_ctx *ctx = self->ctx;
	size_t max = file_source_element_max(self);

	if ((!self->node->needles && !self->node->counted) || s->named || s->to - s->from + MP_HEAD_MAX > max)
		return false;
	if (ctx->tap && atomic_load_explicit(ctx->tap, memory_order_relaxed) == self->node->place)
		return false;
	if (!s->rest)
		return true;
	s->rest--;
	return false;
}

bool
line_seek(struct op_inst *self, struct file_source *s, struct run *out)
{
	const uint8_t *start = s->window->data + s->from, *p = start, *end = s->window->data + s->to;
	const uint8_t *limit = s->end - s->offset < (uint64_t)(end - p) ? p + (s->end - s->offset) : end;
	struct line_seek k = { .needles = self->node->needles, .delim = s->delim };

	if (!seek_may(self, s))
		return false;
	while (p < limit && out->n < RUN_USUAL && k.given < RUN_BYTES) {
		const uint8_t *piece = seek_piece(s, p, limit, end, p == start ? s->searched : 0);

		if (!piece)
			break;
		p = k.needles ? seek_through(&k, p, piece, out) : seek_number(&k, p, piece, out);
	}
	if (p == start)
		return false;
	if (!out->n)
		seek_give_last(&k, start, p, out);
	else if (k.needles && k.lines < (uint64_t)out->n * SEEK_RARE)
		s->rest = SEEK_REST;
	op_stat_add(&self->stats.elements, k.lines - out->n);
	file_source_take(s, (size_t)(p - start), k.lines);
	return true;
}
