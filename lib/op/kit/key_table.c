/* SPDX-License-Identifier: MIT */
#include "op/kit/key_table.h"

#include <string.h>

#include "base/hash.h"
#include "base/mem_wide.h"

uint32_t
key_table_code(const uint8_t *p, size_t n)
{
	return (uint32_t)(hash_bytes(p, n) >> 32);
}

/* Like memcmp(..) == 0, but without a call for a short key: two words that may overlap. */
static inline bool
key_table_same(const uint8_t *a, const uint8_t *b, size_t n)
{
	uint64_t one[2], other[2];
	uint32_t first[2], last[2];

	if (n > 16)
		return !memcmp(a, b, n);
	if (n >= 8) {
		memcpy(&one[0], a, 8);
		memcpy(&one[1], a + n - 8, 8);
		memcpy(&other[0], b, 8);
		memcpy(&other[1], b + n - 8, 8);
		return !((one[0] ^ other[0]) | (one[1] ^ other[1]));
	}
	if (n < 4)
		return n == 0 || (a[0] == b[0] && a[n / 2] == b[n / 2] && a[n - 1] == b[n - 1]);
	memcpy(&first[0], a, 4);
	memcpy(&first[1], b, 4);
	memcpy(&last[0], a + n - 4, 4);
	memcpy(&last[1], b + n - 4, 4);
	return first[0] == first[1] && last[0] == last[1];
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
		if (len == n && key_table_same(key, p, n))
			break;
	}
	return at;
}

uint32_t
key_table_find(const struct key_table *k, const uint8_t *p, size_t n)
{
	if (!k->n)
		return KEY_TABLE_NONE;
	return k->slots[key_table_slot(k, p, n, key_table_code(p, n))].number - 1;
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
