/* SPDX-License-Identifier: MIT */
#include "core/intervals.h"

#include <string.h>

#include "base/mem.h"

void
intervals_clear(struct intervals *s)
{
	mem_free(s->v);
	*s = (struct intervals){ 0 };
}

/* Index of the first range whose end is at or after `at`. Most questions are
 * about the last ranges, so the end is looked at first. */
static size_t
intervals_find(const struct intervals *s, uint64_t at)
{
	size_t lo = 0, hi = s->n;

	if (!hi || s->v[hi - 1].end < at)
		return hi;
	if (hi == 1 || s->v[hi - 2].end < at)
		return hi - 1;
	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (s->v[mid].end < at)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* Replaces ranges [from, to) by n of `with`. */
static void
intervals_splice(struct intervals *s, size_t from, size_t to, const struct range *with, size_t n)
{
	if (s->n + n > s->cap)
		s->v = mem_grow(s->v, &s->cap, s->n + n, sizeof *s->v);
	if (to != s->n && n != to - from)
		memmove(s->v + from + n, s->v + to, (s->n - to) * sizeof *s->v);
	s->n = s->n - (to - from) + n;
	for (size_t i = 0; i < n; i++)
		s->v[from + i] = with[i];
}

void
intervals_add(struct intervals *s, uint64_t start, uint64_t end)
{
	struct range r = { start, end };

	if (start >= end)
		return;
	size_t i = intervals_find(s, start), k = i;
	while (k < s->n && s->v[k].start <= end)
		k++;
	if (i < k) { /* touches i to k - 1: one range out of them */
		if (s->v[i].start < r.start)
			r.start = s->v[i].start;
		if (s->v[k - 1].end > r.end)
			r.end = s->v[k - 1].end;
	}
	intervals_splice(s, i, k, &r, 1);
}

void
intervals_add_ranges(struct intervals *s, const struct ranges *r)
{
	for (size_t i = 0; i < r->n; i++)
		intervals_add(s, r->v[i].start, r->v[i].end);
}

void
intervals_add_all(struct intervals *s, const struct intervals *from)
{
	if (!s->n) {
		intervals_copy(s, from);
		return;
	}
	for (size_t i = 0; i < from->n; i++)
		intervals_add(s, from->v[i].start, from->v[i].end);
}

void
intervals_sub(struct intervals *s, uint64_t start, uint64_t end)
{
	struct range keep[2];
	size_t n = 0;

	if (start >= end)
		return;
	size_t i = intervals_find(s, start), k;
	if (i < s->n && s->v[i].end == start)
		i++;
	for (k = i; k < s->n && s->v[k].start < end;)
		k++;
	if (i == k)
		return;
	if (s->v[i].start < start)
		keep[n++] = (struct range){ s->v[i].start, start };
	if (s->v[k - 1].end > end)
		keep[n++] = (struct range){ end, s->v[k - 1].end };
	intervals_splice(s, i, k, keep, n);
}

void
intervals_sub_all(struct intervals *s, const struct intervals *what)
{
	for (size_t i = 0; i < what->n && s->n; i++)
		intervals_sub(s, what->v[i].start, what->v[i].end);
}

void
intervals_copy(struct intervals *to, const struct intervals *from)
{
	to->n = 0;
	intervals_splice(to, 0, 0, from->v, from->n);
}

/* The range that holds `at`, or the first one after it. */
static size_t
intervals_at(const struct intervals *s, uint64_t at)
{
	size_t i = intervals_find(s, at);

	return i < s->n && s->v[i].end == at ? i + 1 : i;
}

bool
intervals_has(const struct intervals *s, uint64_t at)
{
	size_t i = intervals_at(s, at);

	return i < s->n && s->v[i].start <= at;
}

bool
intervals_covers(const struct intervals *s, uint64_t start, uint64_t end)
{
	size_t i;

	if (start >= end)
		return true;
	i = intervals_at(s, start);
	return i < s->n && s->v[i].start <= start && s->v[i].end >= end;
}

uint64_t
intervals_overlap(const struct intervals *s, uint64_t start, uint64_t end)
{
	uint64_t sum = 0;

	for (size_t i = intervals_at(s, start); i < s->n && s->v[i].start < end; i++) {
		uint64_t a = s->v[i].start > start ? s->v[i].start : start;
		uint64_t b = s->v[i].end < end ? s->v[i].end : end;

		if (a < b)
			sum += b - a;
	}
	return sum;
}

uint64_t
intervals_gap(const struct intervals *s, uint64_t at)
{
	size_t i = intervals_at(s, at);

	return i < s->n && s->v[i].start <= at ? s->v[i].end : at;
}

uint64_t
intervals_next(const struct intervals *s, uint64_t at)
{
	size_t i = intervals_at(s, at);

	if (i == s->n)
		return UINT64_MAX;
	return s->v[i].start > at ? s->v[i].start : at;
}

uint64_t
intervals_count(const struct intervals *s)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < s->n; i++)
		sum += s->v[i].end - s->v[i].start;
	return sum;
}

struct ranges
intervals_give(const struct intervals *s)
{
	struct ranges r = { NULL, s->n };

	if (s->n) {
		r.v = mem_array(s->n, sizeof *r.v);
		memcpy(r.v, s->v, s->n * sizeof *r.v);
	}
	return r;
}
