/* SPDX-License-Identifier: MIT */
#include "op/kit/key_table.h"

#include <string.h>

#include "base/hash.h"
#include "base/mem_wide.h"
#include "base/same.h"

uint32_t
key_table_code(const uint8_t *p, size_t n)
{
	return (uint32_t)(hash_bytes(p, n) >> 32);
}

/* The slot that holds the key, or the free slot where it would go. */
static size_t
key_table_slot(const struct key_table *k, const uint8_t *p, size_t n, uint32_t code)
{
	size_t mask = k->n_slots - 1, at = code & mask;
	uint32_t len;

	for (; k->slots[at].number; at = (at + 1) & mask) {
		if (k->slots[at].code != code)
			continue;
		const uint8_t *key = key_table_at(k, k->slots[at].number - 1, &len);
		if (len == n && same_bytes(key, p, n))
			break;
	}
	return at;
}

uint32_t
key_table_find_code(const struct key_table *k, const uint8_t *p, size_t n, uint32_t code)
{
	return k->n ? k->slots[key_table_slot(k, p, n, code)].number - 1 : KEY_TABLE_NONE;
}

uint32_t
key_table_find(const struct key_table *k, const uint8_t *p, size_t n)
{
	return key_table_find_code(k, p, n, key_table_code(p, n));
}

enum { KEY_TABLE_LEAST = 1024 };

/* Whether a table of that many keys and slots needs more slots for one more key. */
static bool
key_table_narrow(size_t n, size_t slots)
{
	return n * 3 >= slots * 2;
}

size_t
key_table_slots_size(size_t n)
{
	size_t slots = n ? KEY_TABLE_LEAST : 0;

	while (n && key_table_narrow(n - 1, slots))
		slots *= 2;
	return slots * sizeof(struct key_table_slot);
}

static void
key_table_widen(struct key_table *k)
{
	size_t n = k->n_slots ? k->n_slots * 2 : KEY_TABLE_LEAST, cap = 0;

	mem_free_wide(k->slots, k->n_slots, sizeof *k->slots);
	k->slots = mem_grow_wide(NULL, &cap, n, sizeof *k->slots);
	memset(k->slots, 0, n * sizeof *k->slots);
	k->n_slots = n;
	for (uint32_t i = 0; i < k->n; i++) {
		size_t at = k->items[i].code & (n - 1);

		while (k->slots[at].number)
			at = (at + 1) & (n - 1);
		k->slots[at] = (struct key_table_slot){ k->items[i].code, i + 1 };
	}
}

uint32_t
key_table_add_code(struct key_table *k, const uint8_t *p, size_t n, uint32_t code, bool *fresh)
{
	if (key_table_narrow(k->n, k->n_slots))
		key_table_widen(k);
	size_t at = key_table_slot(k, p, n, code);

	*fresh = !k->slots[at].number;
	if (!*fresh)
		return k->slots[at].number - 1;
	k->items = mem_grow_wide(k->items, &k->cap_items, (size_t)k->n + 1, sizeof *k->items);
	struct key_table_item *item = &k->items[k->n];
	item->len = (uint32_t)n;
	item->code = code;
	if (n <= KEY_TABLE_INLINE) {
		memcpy(item->inside, p, n);
	} else {
		k->bytes = mem_grow_wide(k->bytes, &k->cap, k->len + n, 1);
		memcpy(k->bytes + k->len, p, n);
		item->at = k->len;
		k->len += n;
	}
	k->slots[at] = (struct key_table_slot){ code, ++k->n };
	return k->n - 1;
}

uint32_t
key_table_add(struct key_table *k, const uint8_t *p, size_t n, bool *fresh)
{
	return key_table_add_code(k, p, n, key_table_code(p, n), fresh);
}

size_t
key_table_size(const struct key_table *k)
{
	if (k->n > KEY_TABLE_MAX)
		return SIZE_MAX / 2;
	return k->len + k->n * sizeof *k->items + k->n_slots * sizeof *k->slots;
}

void
key_table_reset(struct key_table *k)
{
	k->len = 0;
	k->n = 0;
	if (k->slots)
		memset(k->slots, 0, k->n_slots * sizeof *k->slots);
}

void
key_table_clear(struct key_table *k)
{
	mem_free_wide(k->bytes, k->cap, 1);
	mem_free_wide(k->items, k->cap_items, sizeof *k->items);
	mem_free_wide(k->slots, k->n_slots, sizeof *k->slots);
	memset(k, 0, sizeof *k);
}
