/* SPDX-License-Identifier: MIT
 *
 * Keys that were seen, numbered from 0 in the order they came: for operators
 * that keep something for each key (group_by, join, unique). Keys are the bytes
 * of encoded values (made by normal_key, or equal ones are several) and lie end
 * to end, so that a million of them cost no million allocations. Nothing is
 * removed but everything at once.
 *
 *	slots:  code, number + 1 -> items: length, key -> bytes: |long key|long key|...
 *
 * A key of up to KEY_TABLE_INLINE bytes lies in its item. What a large table costs is the
 * memory it waits for: who has several keys at hand asks for their slots first
 * (key_table_want), then for their items (key_table_want_item) and long keys
 * (key_table_want_key), and then looks them up; keys_ahead.h does this.
 */
#ifndef KIT_KEY_TABLE_H
#define KIT_KEY_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { KEY_TABLE_MAX = 0x7fffffff };
#define KEY_TABLE_NONE UINT32_MAX

enum { KEY_TABLE_INLINE = 16 };

struct key_table_item {
	union {
		/* the key, when len is at most KEY_TABLE_INLINE */
		uint8_t inside[KEY_TABLE_INLINE];
		size_t at;                   /* place in bytes of a longer key */
	};
	uint32_t len, code;
};

struct key_table_slot {
	uint32_t code, number; /* number + 1; 0: free */
};

struct key_table {
	uint8_t *bytes;
	size_t len, cap;
	struct key_table_item *items;
	uint32_t n;
	size_t cap_items;
	struct key_table_slot *slots;
	size_t n_slots; /* a power of two, or 0 */
};

uint32_t key_table_code(const uint8_t *p, size_t n);

/* The key's number; KEY_TABLE_NONE: it is not in the table. */
uint32_t key_table_find(const struct key_table *k, const uint8_t *p, size_t n);
uint32_t key_table_find_code(const struct key_table *k, const uint8_t *p, size_t n, uint32_t code);
/* Adds the key unless it is there; gives its number; *fresh: it was added. */
uint32_t key_table_add(struct key_table *k, const uint8_t *p, size_t n, bool *fresh);
uint32_t key_table_add_code(struct key_table *k, const uint8_t *p, size_t n, uint32_t code,
			    bool *fresh);
static inline void
key_table_want(const struct key_table *k, uint32_t code)
{
	if (k->n_slots)
		__builtin_prefetch(&k->slots[code & (k->n_slots - 1)]);
}
/* Prefetches the item that the code may belong to; gives its number, KEY_TABLE_NONE: none. */
static inline uint32_t
key_table_want_item(const struct key_table *k, uint32_t code)
{
	size_t mask = k->n_slots - 1;

	for (size_t at = code & mask; k->slots[at].number; at = (at + 1) & mask)
		if (k->slots[at].code == code) {
			__builtin_prefetch(&k->items[k->slots[at].number - 1]);
			return k->slots[at].number - 1;
		}
	return KEY_TABLE_NONE;
}
/* Prefetches the key with that number, if it does not lie in its item. */
static inline void
key_table_want_key(const struct key_table *k, uint32_t number)
{
	if (k->items[number].len > KEY_TABLE_INLINE)
		__builtin_prefetch(k->bytes + k->items[number].at);
}
/* Lends the key, until another is added. */
static inline const uint8_t *
key_table_at(const struct key_table *k, uint32_t i, uint32_t *len)
{
	*len = k->items[i].len;
	return *len <= KEY_TABLE_INLINE ? k->items[i].inside : k->bytes + k->items[i].at;
}
/* Memory used, for limits; past all limits with more than KEY_TABLE_MAX keys. */
size_t key_table_size(const struct key_table *k);
/* Bytes that the slots take of a table with n keys. */
size_t key_table_slots_size(size_t n);
void key_table_reset(struct key_table *k); /* forgets the keys, keeps the memory */
void key_table_clear(struct key_table *k);

#endif
