/* SPDX-License-Identifier: MIT */
#include "core/feed/feed_sent.h"

#include <string.h>

#include "base/mem.h"

void
feed_sent_begin(struct feed_sent *s, uint64_t steps)
{
	s->read = s->sure = steps;
}

void
feed_sent_add(struct feed_sent *s, uint64_t end)
{
	if (s->first && s->first >= s->n) { /* each is moved once at most, on the average */
		memmove(s->end, s->end + s->first, s->n * sizeof *s->end);
		s->first = 0;
	}
	s->end = mem_grow(s->end, &s->cap, s->first + s->n + 1, sizeof *s->end);
	s->end[s->first + s->n++] = end;
}

bool
feed_sent_full(const struct feed_sent *s)
{
	return s->first + s->n == s->cap;
}

void
feed_sent_taken(struct feed_sent *s, uint64_t bytes)
{
	size_t lo = 0, hi = s->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (s->end[s->first + mid] <= bytes)
			lo = mid + 1;
		else
			hi = mid;
	}
	s->read += lo;
	s->first += lo;
	s->n -= lo;
	if (s->read > s->sure + 1)
		s->sure = s->read - 1;
}

void
feed_sent_ended(struct feed_sent *s, bool rest)
{
	s->sure = s->read + (rest ? s->n : 0);
}

void
feed_sent_again(struct feed_sent *s)
{
	s->read += s->n; /* nobody waits for the rest of the earlier pipe */
	s->first = s->n = 0;
}

void
feed_sent_clear(struct feed_sent *s)
{
	mem_free(s->end);
	*s = (struct feed_sent){ 0 };
}
