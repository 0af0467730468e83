/* SPDX-License-Identifier: MIT */
#include "value/run_share.h"

#include <string.h>

#include "base/mem.h"
#include "value/pack.h"

enum { SHARE_SPARSE = 8 }; /* elements that fill less than 1/8 of their blocks are copied */

/* Size of the blocks that the run lies in. */
static size_t
run_share_blocks(const struct run *r)
{
	struct block *last = NULL;
	size_t sum = 0;

	for (uint32_t i = 0; i < r->n; i++) {
		if (r->e[i].block && r->e[i].block != last) {
			last = r->e[i].block;
			sum += last->cap;
		}
	}
	return sum;
}

/* Copies all elements, end to end. */
static void
run_share_copy(struct run *to, const struct run *from, size_t bytes)
{
	uint8_t *p = run_room(to, bytes);

	pack_copy(p, from->e, from->n);
	to->arena->len += bytes;
	for (uint32_t i = 0; i < from->n; i++) {
		run_push(to, (struct elem){ p, to->arena, from->e[i].len, from->e[i].pos });
		p += from->e[i].len;
	}
}

size_t
run_share(struct run *to, struct run_part **parts, const struct run *from)
{
	size_t bytes = run_bytes(from), blocks = run_share_blocks(from);
	bool copy = bytes < blocks / SHARE_SPARSE;
	struct block *last = NULL;

	run_reset(to);
	if (copy)
		run_share_copy(to, from, bytes);
	for (uint32_t i = 0; !copy && i < from->n; i++) {
		struct elem x = from->e[i];

		if (!x.block) {
			run_keep(to, x);
			continue;
		}
		if (x.block != last)
			run_hold(to, block_ref(last = x.block));
		run_push(to, x);
	}
	to->file = from->file;
	to->line = from->line;
	if (!from->parts)
		return copy ? bytes : blocks;
	/* The parts are lent by the operator that the thread continues with. */
	*parts = mem_realloc(*parts, from->n_parts * sizeof **parts);
	memcpy(*parts, from->parts, from->n_parts * sizeof **parts);
	to->parts = *parts;
	to->n_parts = from->n_parts;
	return copy ? bytes : blocks;
}
