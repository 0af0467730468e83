/* SPDX-License-Identifier: MIT */
#include "host/work/produce_skip.h"

#include <stdlib.h>

#include "base/mem.h"
#include "core/intervals.h"
#include "wire/msg.h"

static int
produce_skip_compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

void
produce_skip_init(struct produce_skip *s, const struct msg_assign *a)
{
	struct intervals *skip = mem_array(a->views.n ? a->views.n : 1, sizeof *skip);
	size_t most = 1;

	for (size_t i = 0; i < a->views.n; i++) {
		intervals_add_ranges(&skip[i], &a->views.v[i].skip);
		most += 2 * a->views.v[i].skip.n;
	}
	*s = (struct produce_skip){ .at = mem_array(most, sizeof *s->at), .none = mem_array(most, sizeof *s->none), .n = 1 };
	for (size_t i = 0; i < a->views.n; i++)
		for (size_t k = 0; k < a->views.v[i].skip.n; k++) {
			s->at[s->n++] = a->views.v[i].skip.v[k].start;
			s->at[s->n++] = a->views.v[i].skip.v[k].end;
		}
	qsort(s->at, s->n, sizeof *s->at, produce_skip_compare);
	for (size_t i = 0; i < s->n; i++) {
		s->none[i] = a->views.n > 0;
		for (size_t v = 0; v < a->views.n && s->none[i]; v++)
			s->none[i] = intervals_has(&skip[v], s->at[i]);
	}
	for (size_t i = 0; i < a->views.n; i++)
		intervals_clear(&skip[i]);
	mem_free(skip);
}

void
produce_skip_clear(struct produce_skip *s)
{
	mem_free(s->at);
	mem_free(s->none);
	*s = (struct produce_skip){ 0 };
}

uint64_t
produce_skip_run(struct produce_skip *s, uint64_t offset, uint64_t left, bool *skip)
{
	while (s->next + 1 < s->n && s->at[s->next + 1] <= offset)
		s->next++;
	*skip = s->none[s->next];
	if (s->next + 1 < s->n && s->at[s->next + 1] - offset < left)
		return s->at[s->next + 1] - offset;
	return left;
}

bool
produce_skip_border(const struct produce_skip *s, uint64_t offset)
{
	return s->next && s->at[s->next] == offset;
}
