/* SPDX-License-Identifier: MIT
 *
 * Keys that were seen, numbered from 0 in the order they came: for operators
 * that keep something for each key (group_by, join, lookup). Keys are the bytes
 * of encoded values (made by normal_key, or equal ones are several) and lie end to end, so that a million of them cost no
 * million allocations. Nothing is removed but everything at once.
 *
 *	slots:  code, number + 1 -> items: length, key -> bytes: |long key|long key|...
 *
 * A key of up to eight bytes lies in its item. What a large table costs is the
 * memory it waits for: who has several keys at hand asks for their slots first
 * (keys_want), then for their items (keys_want_item), and then looks them up.
 */
#ifndef KIT_KEYS_H
#define KIT_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { KEYS_MAX = 0x7fffffff };
#define KEYS_NONE UINT32_MAX

enum { KEYS_INLINE = 8 };

struct keys_item {
	union {
		uint8_t inside[KEYS_INLINE]; /* len is at most KEYS_INLINE */
		size_t at;                   /* in bytes */
	};
	uint32_t len, code;
};

struct keys_slot {
	uint32_t code, number; /* number + 1; 0: free */
};

struct keys {
	uint8_t *bytes;
	size_t len, cap;
	struct keys_item *items;
	uint32_t n;
	size_t cap_items;
	struct keys_slot *slots;
	size_t n_slots; /* a power of two, or 0 */
};

uint32_t keys_code(const uint8_t *p, size_t n);

/* KEYS_NONE: not there. */
uint32_t keys_find(const struct keys *k, const uint8_t *p, size_t n);
/* The key's number; *fresh tells whether it was added. */
uint32_t keys_add(struct keys *k, const uint8_t *p, size_t n, bool *fresh);
uint32_t keys_add_code(struct keys *k, const uint8_t *p, size_t n, uint32_t code, bool *fresh);
static inline void
keys_want(const struct keys *k, uint32_t code)
{
	if (k->n_slots)
		__builtin_prefetch(&k->slots[code & (k->n_slots - 1)]);
}
/* The number of the item asked for, KEYS_NONE: there is none. */
static inline uint32_t
keys_want_item(const struct keys *k, uint32_t code)
{
	const struct keys_slot *slot = &k->slots[code & (k->n_slots - 1)];

	if (!slot->number || slot->code != code)
		return KEYS_NONE;
	__builtin_prefetch(&k->items[slot->number - 1]);
	return slot->number - 1;
}
/* Lends the key, until one is added. */
static inline const uint8_t *
keys_at(const struct keys *k, uint32_t i, uint32_t *len)
{
	*len = k->items[i].len;
	return *len <= KEYS_INLINE ? k->items[i].inside : k->bytes + k->items[i].at;
}
/* Memory it takes, for limits. */
size_t keys_size(const struct keys *k);
void keys_reset(struct keys *k); /* forgets the keys, keeps the memory */
void keys_clear(struct keys *k);

#endif
