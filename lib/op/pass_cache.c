/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/mem.h"
#include "op/chain.h"

void
cache_clear(struct cache *c)
{
	for (uint32_t i = 0; i < c->n; i++)
		run_clear(&c->runs[i]);
	mem_free(c->runs);
	run_clear(&c->many);
	memset(c, 0, sizeof *c);
}

void
cache_add(struct cache *c, const struct run *r)
{
	size_t bytes, cap = c->cap;

	if (c->off)
		return;
	bytes = run_bytes(r);
	/* A run with parts lends tables that do not outlive the operator that made it. */
	if (c->bytes + bytes > CACHE_BYTES || c->n == CACHE_RUNS || r->parts) {
		cache_clear(c);
		c->off = true;
		return;
	}
	c->bytes += bytes;
	c->runs = mem_grow(c->runs, &cap, c->n + 1, sizeof *c->runs);
	c->cap = (uint32_t)cap;
	run_init(&c->runs[c->n]);
	struct run *to = &c->runs[c->n++];
	for (uint32_t i = 0; i < r->n; i++)
		run_keep(to, r->e[i]);
	to->file = r->file;
	to->line = r->line;
}

void
cache_end(struct cache *c)
{
	if (c->off)
		return;
	c->whole = true;
	c->next = 0;
	if (c->n != 1 || c->runs[0].n * 2 > RUN_USUAL || c->bytes * 2 > RUN_BYTES)
		return;
	/* A short pass is laid out several times in a row, so that giving it costs no more
	 * calls than a pass of usual runs. All copies share the same slices. */
	struct run *one = &c->runs[0];
	uint32_t by_bytes = (uint32_t)(RUN_BYTES / (c->bytes + 1)) + 1;

	c->copies = RUN_USUAL / one->n;
	if (c->copies > by_bytes)
		c->copies = by_bytes;
	for (uint32_t k = 0; k < c->copies; k++)
		for (uint32_t i = 0; i < one->n; i++)
			run_push(&c->many, one->e[i]);
	c->many.file = one->file;
	c->many.line = one->line;
}

struct run *
cache_replay(struct cache *c, uint64_t passes, uint64_t *ended)
{
	*ended = 0;
	if (c->copies > 1) {
		uint64_t copies = passes < c->copies ? passes : c->copies;

		*ended = copies;
		c->many.n = (uint32_t)copies * c->runs[0].n;
		return &c->many;
	}
	struct run *r = &c->runs[c->next++];
	if (c->next == c->n) {
		c->next = 0;
		*ended = 1;
	}
	return r;
}
