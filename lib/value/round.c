/* SPDX-License-Identifier: MIT */
#include "value/round.h"

#include <string.h>

#include "base/str.h"

bool
round_ok(const struct round_part *p)
{
	return p->of && p->of <= ROUND_PLACES_MAX && p->n && p->first < p->of && p->n <= p->of - p->first;
}

bool
round_meet(const struct round_part *a, const struct round_part *b)
{
	return a->of != b->of || (a->first < b->first + b->n && b->first < a->first + a->n);
}

enum status
round_parse(const char *text, struct round_part *out, struct err *e)
{
	const char *slash = text ? strchr(text, '/') : NULL, *dash = text ? strchr(text, '-') : NULL;
	int64_t of, first, last;

	*out = ROUND_ALL;
	if (!text || !*text)
		return ST_OK;
	if (!slash || (dash && dash > slash) || !str_int(slash + 1, strlen(slash + 1), &of) ||
	    !str_int(text, (size_t)((dash ? dash : slash) - text), &first) ||
	    !str_int(dash ? dash + 1 : text, (size_t)(slash - (dash ? dash + 1 : text)), &last) ||
	    first < 0 || last < first) {
		err_set(e, ST_USAGE, "'%s' is not a place in a round", text);
		err_help(e, "write consumer I of M as I/M, from 0 on: 0/2; several places as A-B/M: 0-3/8");
		return ST_USAGE;
	}
	if (of < 1 || of > ROUND_PLACES_MAX) {
		err_set(e, ST_USAGE, "consumer '%s': rounds have from 1 to %d places", text, ROUND_PLACES_MAX);
		return ST_USAGE;
	}
	if (last >= of) {
		err_set(e, ST_USAGE, "consumer '%s': there is no place %lld, a round has %lld", text, (long long)last, (long long)of);
		err_help(e, "places are numbered from 0 to %lld", (long long)of - 1);
		return ST_USAGE;
	}
	*out = (struct round_part){ (uint32_t)of, (uint32_t)first, (uint32_t)(last - first + 1) };
	return ST_OK;
}

uint64_t
round_below(const struct round_part *p, uint64_t offset)
{
	uint64_t place;

	if (p->of == p->n)
		return offset;
	place = offset % p->of;
	place = place > p->first ? place - p->first : 0;
	return offset / p->of * p->n + (place < p->n ? place : p->n);
}

uint64_t
round_at(const struct round_part *p, uint64_t k)
{
	uint64_t at;

	if (p->of == p->n)
		return k;
	if (__builtin_mul_overflow(k / p->n, p->of, &at) || __builtin_add_overflow(at, p->first + k % p->n, &at))
		return UINT64_MAX;
	return at;
}

/* How many of n elements that are spread over `of` places are in places below `place`. */
static uint64_t
round_taken(uint64_t n, uint32_t of, uint64_t place)
{
	return (place * n + of - 1) / of;
}

uint64_t
round_spread(uint32_t of, uint64_t all, uint64_t k)
{
	uint64_t n = all % of, begin = all - n, lo = 0, hi = of;

	if (!n || k < begin || k - begin >= of)
		return k;
	if (k < all)
		return begin + (k - begin) * of / n;
	while (hi - lo > 1) { /* the place before which there are k - all free ones, and which is free */
		uint64_t mid = (lo + hi) / 2;

		if (mid - round_taken(n, of, mid) <= k - all)
			lo = mid;
		else
			hi = mid;
	}
	return begin + lo;
}

uint64_t
round_spread_below(const struct round_part *p, uint64_t all, uint64_t k)
{
	uint64_t n = all % p->of, begin = all - n, at = k - begin, ends[2] = { p->first, p->first + p->n }, below[2];

	if (!n || k <= begin || at >= p->of)
		return round_below(p, k);
	for (int i = 0; i < 2; i++) {
		uint64_t taken = round_taken(n, p->of, ends[i]), free = ends[i] - taken, more = at > n ? at - n : 0;

		below[i] = (at < taken ? at : taken) + (more < free ? more : free);
	}
	return round_below(p, begin) + below[1] - below[0];
}
