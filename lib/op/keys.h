/* SPDX-License-Identifier: MIT
 *
 * Keys that were seen, numbered from 0 in the order they came: for operators
 * that keep something for each key (group_by, join, lookup). Keys are the bytes
 * of encoded values and lie end to end, so that a million of them cost no
 * million allocations. Nothing is removed but everything at once.
 *
 *	bytes:  |key 0|key 1|key 2|...
 *	items:  where each lies      slots: hash -> number + 1
 */
#ifndef OP_KEYS_H
#define OP_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { KEYS_MAX = 0x7fffffff };
#define KEYS_NONE UINT32_MAX

struct keys_item {
	size_t at;
	uint32_t len, code;
};

struct keys {
	uint8_t *bytes;
	size_t len, cap;
	struct keys_item *items;
	uint32_t n;
	size_t cap_items;
	uint32_t *slots;
	size_t n_slots; /* a power of two, or 0 */
};

/* KEYS_NONE: not there. */
uint32_t keys_find(const struct keys *k, const uint8_t *p, size_t n);
/* The key's number; *fresh tells whether it was added. */
uint32_t keys_add(struct keys *k, const uint8_t *p, size_t n, bool *fresh);
static inline const uint8_t *
keys_at(const struct keys *k, uint32_t i, uint32_t *len)
{
	*len = k->items[i].len;
	return k->bytes + k->items[i].at;
}
/* Memory it takes, for limits. */
size_t keys_size(const struct keys *k);
void keys_reset(struct keys *k); /* forgets the keys, keeps the memory */
void keys_clear(struct keys *k);

/* Equal numbers are one key, however they are written: 1, 1.0 and a 1 in eight
 * bytes. Lends p as it is, or the same number in `scratch`. */
enum { KEYS_SCRATCH = 9 };
const uint8_t *keys_normal(const uint8_t *p, size_t *n, uint8_t *scratch);

#endif
