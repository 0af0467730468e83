/* SPDX-License-Identifier: MIT
 *
 * The keys of the next elements, gathered before the first of them is looked up
 * in a key table: what a large table costs is the memory it waits for, and
 * waiting for many places at once takes little longer than for one.
 */
#ifndef KIT_KEYS_AHEAD_H
#define KIT_KEYS_AHEAD_H

#include "base/buf.h"
#include "op/kit/key_table.h"
#include "value/elem.h"

enum { KEYS_AHEAD = 64 };

struct keys_ahead_key {
	const uint8_t *p; /* lent by the element; NULL: the key lies in `bytes` */
	size_t at, len;   /* its place there, its length */
	uint32_t code, i; /* its code; which element of the run it belongs to */
	uint32_t number;  /* after keys_ahead_fetch, or from key_direct: the number that it has if it is in the table */
};

/* Zero is empty. */
struct keys_ahead {
	struct keys_ahead_key v[KEYS_AHEAD];
	uint32_t n;
	uint32_t next; /* where keys_ahead_of goes on */
	struct buf bytes, normal;
};

static inline void
keys_ahead_begin(struct keys_ahead *a)
{
	a->n = a->next = 0;
	a->bytes.len = 0;
}
/* Adds the key of element x, the i-th of its run, in normal form; copies it unless it is a part of
 * x. There is room for KEYS_AHEAD keys. */
void keys_ahead_add(struct keys_ahead *a, const struct key_table *k, const struct elem *x, uint32_t i,
		    const uint8_t *p, size_t len);
/* Asks for what a lookup of these keys reads. */
void keys_ahead_fetch(struct keys_ahead *a, const struct key_table *k);
/* The key of element i of the run, or NULL; to be asked for one element after the other. */
static inline const struct keys_ahead_key *
keys_ahead_of(struct keys_ahead *a, uint32_t i)
{
	while (a->next < a->n && a->v[a->next].i < i)
		a->next++;
	return a->next < a->n && a->v[a->next].i == i ? &a->v[a->next] : NULL;
}
static inline const uint8_t *
keys_ahead_at(const struct keys_ahead *a, uint32_t k)
{
	return a->v[k].p ? a->v[k].p : a->bytes.data + a->v[k].at;
}
void keys_ahead_clear(struct keys_ahead *a);

#endif
