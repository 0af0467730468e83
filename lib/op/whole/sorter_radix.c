/* SPDX-License-Identifier: MIT
 *
 * Sorting entries in memory: by their prefixes, byte by byte, and texts whose
 * prefixes are equal by the eight bytes behind them, and so on:
 *
 *	prefix   "2026-11-"  ->  "2026-11-"  "01T00:00"
 *	         "2026-11-"      "2026-11-"  "01T00:01"
 *
 * So each record is read once for each eight bytes that decide about it, and not
 * once for each comparison, which would mostly wait for memory. All steps keep the
 * order of equals.
 */
#include "op/whole/sorter_inner.h"

enum {
	RADIX_FEW = 16,      /* so many entries are sorted by insertion, or by comparing */
	RADIX_LEAST = 1024,  /* from so many on counting bytes is faster than merging */
	RADIX_LEVELS = 32,   /* texts that are equal for longer than this many prefixes are compared */
	RADIX_AHEAD = 16     /* how many entries ahead records are asked for */
};

static void
radix_insertion(struct sorter_entry *v, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		struct sorter_entry x = v[i];
		size_t k = i;

		for (; k && x.prefix < v[k - 1].prefix; k--)
			v[k] = v[k - 1];
		v[k] = x;
	}
}

static void
radix_merge(const struct sorter_entry *from, size_t mid, size_t n, struct sorter_entry *to)
{
	size_t i = 0, k = mid, at = 0;

	while (i < mid && k < n)
		to[at++] = from[k].prefix < from[i].prefix ? from[k++] : from[i++];
	memcpy(to + at, from + i, (mid - i) * sizeof *to);
	memcpy(to + at + (mid - i), from + k, (n - k) * sizeof *to);
}

/* Sorts by merging; the result is in v. */
static void
radix_merges(struct sorter_entry *v, struct sorter_entry *spare, size_t n)
{
	struct sorter_entry *from = v, *to = spare;

	for (size_t i = 0; i < n; i += RADIX_FEW)
		radix_insertion(v + i, n - i < RADIX_FEW ? n - i : RADIX_FEW);
	for (size_t width = RADIX_FEW; width < n; width *= 2) {
		struct sorter_entry *t = from;

		for (size_t i = 0; i < n; i += 2 * width) {
			size_t all = n - i < 2 * width ? n - i : 2 * width;

			radix_merge(from + i, all < width ? all : width, all, to + i);
		}
		from = to;
		to = t;
	}
	if (from != v)
		memcpy(v, from, n * sizeof *v);
}

/* Moves the entries to where they belong by one byte of the prefix. */
static void
radix_move(const struct sorter_entry *from, struct sorter_entry *to, size_t n, unsigned shift)
{
	size_t place[256] = { 0 }, sum = 0;

	for (size_t i = 0; i < n; i++)
		place[from[i].prefix >> shift & 255]++;
	for (unsigned b = 0; b < 256; b++) {
		size_t some = place[b];

		place[b] = sum;
		sum += some;
	}
	for (size_t i = 0; i < n; i++)
		to[place[from[i].prefix >> shift & 255]++] = from[i];
}

/* Sorts by prefix; spare has as much room, and what is in it is lost. */
static void
radix_sort(struct sorter_entry *v, struct sorter_entry *spare, size_t n)
{
	struct sorter_entry *from = v, *to = spare;
	uint64_t differ = 0;

	if (n < RADIX_LEAST) {
		radix_merges(v, spare, n);
		return;
	}
	for (size_t i = 1; i < n; i++)
		differ |= v[i].prefix ^ v[0].prefix;
	for (unsigned shift = 0; shift < 64; shift += 8) {
		struct sorter_entry *t = from;

		if (!(differ >> shift & 255))
			continue;
		radix_move(from, to, n, shift);
		from = to;
		to = t;
	}
	if (from != v)
		memcpy(v, from, n * sizeof *v);
}

static void radix_texts(const struct sorter_pile *s, struct sorter_entry *v, struct sorter_entry *spare, size_t n,
			unsigned level);

/* Sorts texts that are alike up to the end of the prefix of that level: those that end there by their
 * length, the others, which are greater, by the next eight bytes. */
static void
radix_run(const struct sorter_pile *s, struct sorter_entry *v, struct sorter_entry *spare, size_t n, unsigned level)
{
	size_t passed = s->order.skip + (size_t)level * 8, ends = 0, goes_on = 0;
	uint64_t flip = s->order.reverse ? UINT64_MAX : 0;
	/* the smaller ones gather at the start of v, the others in spare */
	struct sorter_entry *less = v, *more = spare;
	size_t *n_less = s->order.reverse ? &goes_on : &ends, *n_more = s->order.reverse ? &ends : &goes_on;

	if (n <= RADIX_FEW || level + 1 >= RADIX_LEVELS) {
		sorter_compare_sort(s, v, spare, n);
		return;
	}
	for (size_t i = 0; i < n; i++) {
		struct sorter_entry x = v[i];
		struct sorter_record r;
		uint32_t len;

		if (i + RADIX_AHEAD < n)
			__builtin_prefetch(s->arena + v[i + RADIX_AHEAD].at + passed);
		sorter_read(s->arena + x.at, &r);
		const uint8_t *p = sorter_text(r.key, &len);
		size_t left = len - passed;
		bool over = left <= 8;

		x.prefix = (over ? left : sorter_eight(p + passed + 8, left - 8)) ^ flip;
		if (over == !s->order.reverse)
			less[(*n_less)++] = x;
		else
			more[(*n_more)++] = x;
	}
	memcpy(v + *n_less, spare, *n_more * sizeof *v);
	size_t at = s->order.reverse ? 0 : ends, end_at = s->order.reverse ? goes_on : 0;
	radix_sort(v + end_at, spare + end_at, ends);
	radix_texts(s, v + at, spare + at, goes_on, level + 1);
}

/* Sorts texts by their prefixes of that level, and by what follows. */
static void
radix_texts(const struct sorter_pile *s, struct sorter_entry *v, struct sorter_entry *spare, size_t n, unsigned level)
{
	radix_sort(v, spare, n);
	for (size_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && v[end].prefix == v[i].prefix; end++)
			;
		if (end + RADIX_AHEAD + 1 < n && v[end + RADIX_AHEAD].prefix == v[end + RADIX_AHEAD + 1].prefix) {
			__builtin_prefetch(s->arena + v[end + RADIX_AHEAD].at);
			__builtin_prefetch(s->arena + v[end + RADIX_AHEAD + 1].at);
		}
		if (end - i > 1)
			radix_run(s, v + i, spare + i, end - i, level);
	}
}

void
sorter_radix(const struct sorter_pile *s, struct sorter_entry *v, struct sorter_entry *spare, size_t n)
{
	if (s->order.texts) {
		radix_texts(s, v, spare, n, 0);
		return;
	}
	radix_sort(v, spare, n);
	for (size_t i = 0, end; !s->order.ints && i < n; i = end) {
		for (end = i + 1; end < n && v[end].prefix == v[i].prefix; end++)
			;
		if (end - i > 1)
			sorter_compare_sort(s, v + i, spare + i, end - i);
	}
}
