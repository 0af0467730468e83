/* SPDX-License-Identifier: MIT
 *
 * The part that hash tables have in common: slots that say at which index of the
 * owner's array an item lies. Open addressing, one slot after the other; a slot holds
 * index + 1, 0 is free, so zeroed memory is an empty table.
 *
 *	slots:  3 . 1 . . 2  ->  items: a b c          the owner's, with their hash codes
 *
 * The owner says how to compare and where the codes are, keeps some slots free
 * (slots_full), and need not keep the keys: it may look at them where they lie.
 * The functions that are called for each item are inlined with what they are given.
 */
#ifndef BASE_SLOTS_H
#define BASE_SLOTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/mem.h"

struct slots {
	uint32_t *v;
	size_t n; /* a power of two, or 0 */
};

/* The hash code of an item of the owner. */
typedef uint64_t slots_code(const void *owner, uint32_t index);

/* The slot of the item for which `same` is true, or the free one where it would go. */
static inline size_t
slots_find(const struct slots *s, uint64_t code, bool (*same)(const void *owner, uint32_t index, const void *key),
	   const void *owner, const void *key)
{
	size_t mask = s->n - 1, at = code & mask;

	while (s->v[at] && !same(owner, s->v[at] - 1, key))
		at = (at + 1) & mask;
	return at;
}

/* The slot that holds the index. */
static inline size_t
slots_of(const struct slots *s, uint64_t code, uint32_t index)
{
	size_t mask = s->n - 1, at = code & mask;

	while (s->v[at] != index + 1)
		at = (at + 1) & mask;
	return at;
}

/* Makes at least `least` slots, 16 or more, and puts `n` items there anew. */
static inline void
slots_widen(struct slots *s, size_t least, uint32_t n, slots_code *code, const void *owner)
{
	s->n = 16;
	while (s->n < least)
		s->n *= 2;
	mem_free(s->v);
	s->v = mem_array(s->n, sizeof *s->v);
	for (uint32_t k = 0; k < n; k++) {
		size_t at = code(owner, k) & (s->n - 1);

		while (s->v[at])
			at = (at + 1) & (s->n - 1);
		s->v[at] = k + 1;
	}
}

/* Frees a slot and leaves no mark: the items behind it that would no longer be found
 * move up. */
static inline void
slots_remove(struct slots *s, size_t gap, slots_code *code, const void *owner)
{
	size_t mask = s->n - 1;

	for (size_t at = (gap + 1) & mask; s->v[at]; at = (at + 1) & mask) {
		size_t home = code(owner, s->v[at] - 1) & mask;

		/* It may move unless the slot where it belongs lies behind the gap. */
		if (((at - home) & mask) >= ((at - gap) & mask)) {
			s->v[gap] = s->v[at];
			gap = at;
		}
	}
	s->v[gap] = 0;
}

static inline void
slots_clear(struct slots *s)
{
	mem_free(s->v);
	*s = (struct slots){ 0 };
}

#endif
