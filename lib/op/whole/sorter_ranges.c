/* SPDX-License-Identifier: MIT
 *
 * What is sorted in memory is dealt out into ranges first:
 *
 *	entries:  | all prefixes < s0 | s0 <= all < s1 | s1 <= all ...      s: from a sample of the prefixes
 *
 * Each range fits a processor's cache, and is sorted when it is needed, or ahead on a thread of the pool while those
 * before it are given out. Dealing keeps the order of arrival, and equal prefixes are in one range.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "base/mem_wide.h"
#include "op/whole/sorter_inner.h"

enum {
	RANGES_ENTRIES = 32 * 1024,  /* in a range; these and their copies stay in the second-level cache */
	RANGES_SAMPLE = 16           /* prefixes looked at for each range */
};

static int
ranges_compare(const void *a, const void *b)
{
	uint64_t x, y;

	memcpy(&x, a, sizeof x);
	memcpy(&y, b, sizeof y);
	return (x > y) - (x < y);
}

/* Fills split with n - 1 prefixes that part the entries about evenly, then with the greatest there is. */
static void
ranges_split(const struct sorter_pile *s, size_t n, uint64_t split[SORTER_RANGES])
{
	size_t some = n * RANGES_SAMPLE;
	uint64_t *sample = mem_array(some, sizeof *sample);

	for (size_t i = 0; i < some; i++)
		sample[i] = s->entries[(size_t)((double)s->n / (double)some * (double)i)].prefix;
	qsort(sample, some, sizeof *sample, ranges_compare);
	for (size_t i = 0; i < SORTER_RANGES; i++)
		split[i] = i + 1 < n ? sample[(i + 1) * RANGES_SAMPLE] : UINT64_MAX;
	mem_free(sample);
}

/* Moves the entries into n ranges. */
static void
ranges_deal(struct sorter_pile *s, size_t n)
{
	uint64_t split[SORTER_RANGES];
	size_t place[SORTER_RANGES] = { 0 }, sum = 0, width = 1, cap;
	uint8_t *to = mem_alloc(s->n);
	struct sorter_entry *v = s->entries;

	ranges_split(s, n, split);
	while (width < n)
		width *= 2;
	for (size_t i = 0; i < s->n; i++) {
		size_t at = 0;

		for (size_t step = width / 2; step; step /= 2)
			at += split[at + step - 1] <= v[i].prefix ? step : 0;
		to[i] = (uint8_t)(at < n ? at : n - 1);
		place[to[i]]++;
	}
	for (size_t k = 0; k < n; k++) {
		size_t some = place[k];

		s->ranges.starts[k] = place[k] = sum;
		sum += some;
	}
	for (size_t i = 0; i < s->n; i++)
		s->spare[place[to[i]]++] = v[i];
	mem_free(to);
	s->entries = s->spare;
	s->spare = v;
	cap = s->cap_entries;
	s->cap_entries = s->cap_spare;
	s->cap_spare = cap;
}

static void
ranges_sort(void *arg, size_t k)
{
	const struct sorter_pile *s = arg;
	size_t from = s->ranges.starts[k], n = s->ranges.starts[k + 1] - from;

	if (n > 1)
		sorter_radix(s, s->entries + from, s->spare + from, n);
}

void
sorter_ranges_begin(struct sorter_ranges *r, size_t n, size_t all, void (*sort)(void *arg, size_t range), void *arg)
{
	r->starts[n] = all;
	r->range = r->sorted = 0;
	ahead_begin(&r->ahead, n, sort, arg);
}

void
sorter_range_next(struct sorter_ranges *r)
{
	ahead_need(&r->ahead, r->range++);
	r->sorted = r->starts[r->range];
}

void
sorter_ranges_end(struct sorter_ranges *r)
{
	ahead_end(&r->ahead);
}

void
sorter_sort(struct sorter_pile *s)
{
	struct sorter_record r;
	size_t n = s->n / RANGES_ENTRIES;

	n = n < 1 ? 1 : n > SORTER_RANGES ? SORTER_RANGES : n;
	for (size_t i = 0; i < s->n; i++) {
		sorter_read(s->arena + s->entries[i].at, &r);
		s->entries[i].prefix = sorter_prefix(&s->order, &r);
	}
	s->spare = mem_grow_wide(s->spare, &s->cap_spare, s->n, sizeof *s->spare);
	s->ranges.starts[0] = 0;
	if (n > 1)
		ranges_deal(s, n);
	sorter_ranges_begin(&s->ranges, n, s->n, ranges_sort, s);
}
