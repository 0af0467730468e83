/* SPDX-License-Identifier: MIT
 *
 * Sets of offsets as sorted, disjoint, non-touching ranges [start, end).
 * Made for offsets that come nearly in order: adding at the end costs nothing,
 * elsewhere a binary search and a move. Zero is the empty set.
 */
#ifndef CORE_INTERVALS_H
#define CORE_INTERVALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/msg.h"

struct intervals {
	struct range *v;
	size_t n, cap;
};

void intervals_clear(struct intervals *s);
void intervals_add(struct intervals *s, uint64_t start, uint64_t end);
void intervals_add_ranges(struct intervals *s, const struct ranges *r);
void intervals_add_all(struct intervals *s, const struct intervals *from);
void intervals_sub(struct intervals *s, uint64_t start, uint64_t end);
void intervals_sub_all(struct intervals *s, const struct intervals *what);
void intervals_copy(struct intervals *to, const struct intervals *from);
bool intervals_has(const struct intervals *s, uint64_t at);
/* Whether all of [start, end) is in the set (an empty range is). */
bool intervals_covers(const struct intervals *s, uint64_t start, uint64_t end);
/* How many of [start, end) are in the set. */
uint64_t intervals_overlap(const struct intervals *s, uint64_t start, uint64_t end);
/* The first offset at or after `at` that is not in the set. */
uint64_t intervals_gap(const struct intervals *s, uint64_t at);
/* The first offset at or after `at` that is in the set; UINT64_MAX: none. */
uint64_t intervals_next(const struct intervals *s, uint64_t at);
uint64_t intervals_count(const struct intervals *s);
/* Gives a copy for a message; intervals_lend only points. */
struct ranges intervals_give(const struct intervals *s);
static inline struct ranges
intervals_lend(const struct intervals *s) { return (struct ranges){ s->v, s->n }; }

#endif
