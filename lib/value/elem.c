/* SPDX-License-Identifier: MIT */
#include "value/elem.h"

#include <string.h>

#include "base/mem.h"

enum { RUN_ARENA_MAX = 1024 * 1024 }; /* growth of arenas stops here */

void
run_init(struct run *r)
{
	memset(r, 0, sizeof *r);
}

static void
run_drop_held(struct run *r)
{
	for (uint32_t i = 0; i < r->n_held; i++)
		block_unref(&r->held[i]);
	r->n_held = 0;
}

void
run_clear(struct run *r)
{
	run_drop_held(r);
	block_unref(&r->arena);
	mem_free(r->e);
	mem_free(r->held);
	memset(r, 0, sizeof *r);
}

void
run_reset(struct run *r)
{
	r->n = 0;
	r->file = NULL;
	r->line = 0;
	r->parts = NULL;
	r->n_parts = 0;
	r->sifted = false;
	r->before = 0;
	if (r->n_held)
		run_drop_held(r);
	if (!r->arena || !r->arena->len)
		return;
	/* A shared arena is left to the runs that share it; the next room makes a new one. */
	if (atomic_load_explicit(&r->arena->refs, memory_order_acquire) == 1)
		block_recycle(&r->arena, 0);
	else
		block_unref(&r->arena);
}

void
run_hold(struct run *r, struct block *b)
{
	if (r->n_held == r->cap_held) {
		size_t cap = r->cap_held;

		r->held = mem_grow(r->held, &cap, cap + 1, sizeof *r->held);
		r->cap_held = (uint32_t)cap;
	}
	r->held[r->n_held++] = b;
}

uint8_t *
run_room_slow(struct run *r, size_t n)
{
	struct block *b = r->arena;
	size_t cap = BLOCK_USUAL;

	if (b && b->len == 0) {
		block_recycle(&r->arena, n);
		return r->arena->data;
	}
	if (b) {
		/* Doubles, so that a run that needs much soon has one block of the right size,
		 * which resets keep. */
		cap = b->cap * 2 < RUN_ARENA_MAX ? b->cap * 2 : RUN_ARENA_MAX;
		r->before += b->len;
		run_hold(r, b);
	}
	r->arena = block_new(n > cap ? n : cap);
	return r->arena->data;
}

void
run_more(struct run *r)
{
	size_t cap = r->cap;

	r->e = mem_grow(r->e, &cap, cap ? cap + 1 : RUN_USUAL, sizeof *r->e);
	r->cap = (uint32_t)cap;
}

void
run_keep(struct run *r, struct elem e)
{
	if (e.block && e.block == r->arena) {
		run_push(r, e);
	} else if (!e.block || e.len <= KEEP_COPY_MAX) {
		uint8_t *p = run_room(r, e.len);

		memcpy(p, e.p, e.len);
		run_done(r, p + e.len, e.pos);
	} else {
		if (!r->n_held || r->held[r->n_held - 1] != e.block)
			run_hold(r, block_ref(e.block));
		r->before += e.len;
		run_push(r, e);
	}
}

void
run_move(struct run *to, struct run *from)
{
	struct run tmp;

	run_reset(to);
	tmp = *to;
	*to = *from;
	*from = tmp;
}

bool
run_place(const struct run *r, const struct elem *e, const char **file, uint64_t *line)
{
	uint64_t base = r->line;
	uint32_t pos = e->pos, low = 0, high = r->n_parts;

	*file = r->file;
	*line = 0;
	if (r->parts) {
		while (low < high) {
			uint32_t mid = low + (high - low) / 2;

			if (r->parts[mid].pos <= pos)
				low = mid + 1;
			else
				high = mid;
		}
		if (low == 0)
			return false;
		*file = r->parts[low - 1].file;
		base = r->parts[low - 1].line;
		pos -= r->parts[low - 1].pos;
	}
	if (base)
		*line = base + pos;
	return *file || *line;
}

size_t
run_bytes(const struct run *r)
{
	size_t sum = 0;

	for (uint32_t i = 0; i < r->n; i++)
		sum += r->e[i].len;
	return sum;
}

size_t
run_bytes_near(const struct run *r)
{
	/* Odd: where two kinds of elements take turns, both are looked at. */
	uint32_t step = r->n / RUN_SAMPLE | 1, looked = 0;
	size_t sum = 0;

	for (uint32_t i = step / 2; i < r->n; i += step, looked++)
		sum += r->e[i].len;
	return looked == r->n ? sum : (size_t)((double)sum / looked * r->n);
}

void
kept_set(struct kept *k, struct elem e)
{
	struct block *old = k->block;

	k->block = NULL;
	if (e.block && e.len > KEEP_COPY_MAX) {
		k->block = block_ref(e.block);
	} else {
		if (e.len > k->cap) {
			size_t cap = k->cap;

			k->data = mem_grow(k->data, &cap, e.len, 1);
			k->cap = (uint32_t)cap;
		}
		if (e.len)
			memmove(k->data, e.p, e.len);
		e.p = k->data;
		e.block = NULL;
	}
	k->e = e;
	block_unref(&old); /* last, since e may have been in it */
}

void
kept_clear(struct kept *k)
{
	mem_free(k->data);
	block_unref(&k->block);
	memset(k, 0, sizeof *k);
}
