/* SPDX-License-Identifier: MIT */
#include "expr/scratch.h"

#include <string.h>

#include "base/mem.h"

enum { SCRATCH_FIRST = 4096 };

void
scratch_init(struct scratch *s, size_t most)
{
	memset(s, 0, sizeof *s);
	s->most = most;
}

static void
scratch_enter(struct scratch *s, size_t piece)
{
	s->now = piece;
	s->at = s->pieces[piece].data;
	s->end = s->at + s->pieces[piece].cap;
}

uint8_t *
scratch_room_slow(struct scratch *s, size_t n)
{
	size_t next = s->n ? s->now + 1 : 0;

	if (n > SCRATCH_VALUE_MAX)
		return NULL;
	for (; next < s->n; next++)
		if (s->pieces[next].cap > n) {
			scratch_enter(s, next);
			return s->at;
		}
	size_t cap = s->n ? s->pieces[s->n - 1].cap * 2 : SCRATCH_FIRST;
	if (cap > SCRATCH_KEEP)
		cap = SCRATCH_KEEP;
	if (cap <= n)
		cap = n + 1;
	if (s->total + cap > s->most)
		return NULL;
	s->pieces = mem_grow(s->pieces, &s->cap, s->n + 1, sizeof *s->pieces);
	s->pieces[s->n++] = (struct scratch_piece){ mem_alloc(cap), cap };
	s->total += cap;
	scratch_enter(s, s->n - 1);
	return s->at;
}

void
scratch_release_slow(struct scratch *s, struct scratch_mark m)
{
	if (!s->n)
		return;
	scratch_enter(s, m.now);
	if (m.at)
		s->at = m.at;
}

void
scratch_trim(struct scratch *s)
{
	size_t best = s->n;

	for (size_t i = 0; i < s->n; i++)
		if (s->pieces[i].cap <= SCRATCH_KEEP
		    && (best == s->n || s->pieces[i].cap > s->pieces[best].cap))
			best = i;
	for (size_t i = 0; i < s->n; i++)
		if (i != best)
			mem_free(s->pieces[i].data);
	s->at = s->end = NULL;
	s->total = s->now = 0;
	if (best == s->n) {
		s->n = 0;
		return;
	}
	s->pieces[0] = s->pieces[best];
	s->total = s->pieces[0].cap;
	s->n = 1;
	scratch_enter(s, 0);
}

void
scratch_clear(struct scratch *s)
{
	for (size_t i = 0; i < s->n; i++)
		mem_free(s->pieces[i].data);
	mem_free(s->pieces);
	memset(s, 0, sizeof *s);
}
