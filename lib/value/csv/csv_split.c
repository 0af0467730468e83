/* SPDX-License-Identifier: MIT */
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "base/mem.h"
#include "value/csv/csv_inner.h"

/* A mask with one bit for each of the 64 bytes at p that is a delimiter or a newline. */
static inline uint64_t
csv_mask(const uint8_t *p, uint8_t delim)
{
	uint64_t mask = 0;

#ifdef __SSE2__
	__m128i d = _mm_set1_epi8((char)delim), nl = _mm_set1_epi8('\n');

	for (int i = 0; i < 4; i++) {
		__m128i v = _mm_loadu_si128((const __m128i *)(const void *)(p + 16 * i));
		__m128i hit = _mm_or_si128(_mm_cmpeq_epi8(v, d), _mm_cmpeq_epi8(v, nl));

		mask |= (uint64_t)(uint32_t)_mm_movemask_epi8(hit) << 16 * i;
	}
#else
	for (int i = 0; i < 64; i++)
		mask |= (uint64_t)(p[i] == delim || p[i] == '\n') << i;
#endif
	return mask;
}

/* Moves the scan to p. */
static inline void
csv_scan_to(struct csv_scan *s, const uint8_t *p, uint8_t delim)
{
	s->base = p;
	s->mask = csv_mask(p, delim);
}

static bool
csv_room(struct csv_row *row)
{
	if (row->n >= CSV_COLUMNS_MAX)
		return false;
	row->ends = mem_grow(row->ends, &row->cap, row->n + 1, sizeof *row->ends);
	return true;
}

/* Finds the closing quote from s on. */
static enum csv_step
csv_close(int quote, const uint8_t *s, const uint8_t *end, bool eof, const uint8_t **at)
{
	for (;;) {
		const uint8_t *z = memchr(s, quote, (size_t)(end - s));

		if (!z) {
			*at = end;
			return eof ? CSV_OPEN : CSV_PART;
		}
		*at = z;
		if (z + 1 == end && !eof)
			return CSV_PART;
		if (z + 1 == end || z[1] != quote)
			return CSV_ROW;
		s = z + 2;
	}
}

/* Reads a field that begins with a quote; *q becomes the byte that ends it. s: where to
 * continue looking for the closing quote. */
static enum csv_step
csv_quoted(const struct csv_conf *conf, struct csv_row *row, const uint8_t *p, const uint8_t *s,
	   const uint8_t *end, bool eof, const uint8_t **q)
{
	const uint8_t *z;
	enum csv_step step = csv_close(conf->quote, s, end, eof, &z);

	row->quoted = true;
	row->inside = true;
	row->at = (size_t)(z - p);
	if (step != CSV_ROW)
		return step;
	*q = z + 1;
	if (*q == end || **q == conf->delim || **q == '\n') {
		row->inside = false;
		return CSV_ROW;
	}
	if (**q == '\r' && (*q + 1 < end ? (*q)[1] == '\n' : eof)) {
		row->inside = false;
		return CSV_ROW;
	}
	if (**q == '\r' && *q + 1 == end)
		return CSV_PART; /* continues at the closing quote */
	return CSV_BEHIND;
}

/* Ends the row's last field at q, which is a newline, a return before one, or the end of the
 * input. */
static enum csv_step
csv_row_end(struct csv_row *row, const uint8_t *p, const uint8_t *q, const uint8_t *end)
{
	uint32_t begin = row->n ? row->ends[row->n - 1] + 1 : 0;
	const uint8_t *stop = q;

	if (q > p + begin && q[-1] == '\r' && (q == end || *q == '\n'))
		stop--;
	else if (q < end && *q == '\r')
		q++;
	row->ends[row->n++] = (uint32_t)(stop - p);
	row->len = (size_t)(q - p) + (q < end);
	return CSV_ROW;
}

enum csv_step
csv_split(const struct csv_conf *conf, struct csv_row *row, struct csv_scan *scan,
	  const uint8_t *p, const uint8_t *end, bool eof)
{
	const uint8_t *at = p + row->at, *q;
	uint8_t delim = conf->delim;
	int quote = conf->quote;

	if (row->inside)
		goto inside;
	if (!scan->base)
		csv_scan_to(scan, at, delim);
	for (bool first = at == p;; first = false) {
		/* at: where a field begins, or where the scan continues */
		if (at < end && *at == quote && (first || at[-1] == delim)) {
			enum csv_step step;

			at++;
		inside:
			step = csv_quoted(conf, row, p, at, end, eof, &q);
			if (step != CSV_ROW)
				return step;
			csv_scan_to(scan, q, delim);
		} else {
			while (!scan->mask) {
				scan->base += 64;
				if (scan->base >= end)
					break;
				scan->mask = csv_mask(scan->base, delim);
			}
			q = scan->mask ? scan->base + __builtin_ctzll(scan->mask) : end;
			if (q >= end) {
				if (!eof) {
					row->at = (size_t)(end - p);
					return CSV_PART;
				}
				q = end;
			}
		}
		if (row->n >= row->cap && !csv_room(row))
			return CSV_MANY;
		if (q == end || *q != delim) {
			if (q < end && *q == '\n')
				scan->mask &= scan->mask - 1;
			else
				scan->base = NULL;
			return csv_row_end(row, p, q, end);
		}
		scan->mask &= scan->mask - 1;
		row->ends[row->n++] = (uint32_t)(q - p);
		at = q + 1;
	}
}
