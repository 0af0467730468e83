/* SPDX-License-Identifier: MIT */
#include "base/hash.h"

#include <stdatomic.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"

/* Slots are probed one after the other; at most 3/4 are taken. */

static uint64_t
hash_seed(void)
{
	static _Atomic uint64_t seed;
	uint64_t s = atomic_load_explicit(&seed, memory_order_relaxed);

	if (s == 0) {
		uint64_t fresh = rng_seed_fresh() | 1;
		/* Two threads may come here at once: one seed for both. */
		s = atomic_compare_exchange_strong(&seed, &s, fresh) ? fresh : s;
	}
	return s;
}

/* Multiply and fold, as in wyhash: both halves of a 128-bit product. */
static uint64_t
hash_fold(uint64_t a, uint64_t b)
{
	__extension__ typedef unsigned __int128 wide;
	wide p = (wide)a * b;

	return (uint64_t)p ^ (uint64_t)(p >> 64);
}

static uint64_t
hash_read(const uint8_t *p, size_t n)
{
	uint64_t x = 0;

	memcpy(&x, p, n);
	return x;
}

uint64_t
hash_bytes(const void *bytes, size_t n)
{
	const uint64_t k0 = 0xa0761d6478bd642fu, k1 = 0xe7037ed1a0b428dbu;
	const uint8_t *p = bytes;
	uint64_t h = hash_seed() ^ k0;
	size_t left = n;

	for (; left >= 16; p += 16, left -= 16)
		h = hash_fold(hash_read(p, 8) ^ k1, hash_read(p + 8, 8) ^ h);
	if (left >= 8)
		h = hash_fold(hash_read(p, 8) ^ k1, hash_read(p + 8, left - 8) ^ h);
	else if (left)
		h = hash_fold(hash_read(p, left) ^ k1, h);
	return hash_fold(h ^ n, k1);
}

/* The slot of the key, or the free slot where it would go. */
static size_t
hash_slot(const struct hash *h, const void *key, size_t n, uint64_t code)
{
	size_t mask = h->n_slots - 1, i = code & mask;

	for (; h->slots[i]; i = (i + 1) & mask) {
		const struct hash_item *it = &h->items[h->slots[i] - 1];
		if (it->code == code && it->key_len == n &&
		    (n == 0 || !memcmp(it->key, key, n)))
			break;
	}
	return i;
}

/* The slot that holds this index, found by the item's code. */
static size_t
hash_slot_of(const struct hash *h, size_t index)
{
	size_t mask = h->n_slots - 1, i = h->items[index].code & mask;

	while (h->slots[i] != index + 1)
		i = (i + 1) & mask;
	return i;
}

static void
hash_double(struct hash *h)
{
	h->n_slots = h->n_slots ? h->n_slots * 2 : 16;
	mem_free(h->slots);
	h->slots = mem_array(h->n_slots, sizeof *h->slots);
	size_t mask = h->n_slots - 1;
	for (size_t k = 0; k < h->n; k++) {
		size_t i = h->items[k].code & mask;
		while (h->slots[i])
			i = (i + 1) & mask;
		h->slots[i] = (uint32_t)k + 1;
	}
}

void *
hash_get(const struct hash *h, const void *key, size_t n)
{
	if (!h->n)
		return NULL;
	uint32_t at = h->slots[hash_slot(h, key, n, hash_bytes(key, n))];
	return at ? h->items[at - 1].value : NULL;
}

void *
hash_get_str(const struct hash *h, const char *key)
{
	return hash_get(h, key, strlen(key));
}

void *
hash_put(struct hash *h, const void *key, size_t n, void *value)
{
	uint64_t code = hash_bytes(key, n);

	if ((h->n + 1) * 4 > h->n_slots * 3)
		hash_double(h);
	size_t slot = hash_slot(h, key, n, code);
	if (h->slots[slot]) {
		struct hash_item *it = &h->items[h->slots[slot] - 1];
		void *before = it->value;
		it->value = value;
		return before;
	}
	h->items = mem_grow(h->items, &h->cap, h->n + 1, sizeof *h->items);
	/* A NUL after the key, so that text keys can be printed. */
	h->items[h->n] = (struct hash_item){ mem_strndup(key, n), n, code, value };
	h->slots[slot] = (uint32_t)++h->n;
	return NULL;
}

void *
hash_put_str(struct hash *h, const char *key, void *value)
{
	return hash_put(h, key, strlen(key), value);
}

/* Empties a slot without leaving a mark: those behind it that would no longer
 * be found are moved forward into the hole. */
static void
hash_unslot(struct hash *h, size_t hole)
{
	size_t mask = h->n_slots - 1, i = hole;

	for (;;) {
		h->slots[hole] = 0;
		for (;;) {
			i = (i + 1) & mask;
			if (!h->slots[i])
				return;
			size_t home = h->items[h->slots[i] - 1].code & mask;
			if (((i - home) & mask) >= ((i - hole) & mask))
				break;
		}
		h->slots[hole] = h->slots[i];
		hole = i;
	}
}

void *
hash_del(struct hash *h, const void *key, size_t n)
{
	if (!h->n)
		return NULL;
	size_t slot = hash_slot(h, key, n, hash_bytes(key, n));
	if (!h->slots[slot])
		return NULL;

	size_t index = h->slots[slot] - 1, last = h->n - 1;
	void *value = h->items[index].value;
	mem_free(h->items[index].key);
	hash_unslot(h, slot);
	if (index != last) {
		h->slots[hash_slot_of(h, last)] = (uint32_t)index + 1;
		h->items[index] = h->items[last];
	}
	h->n--;
	return value;
}

void *
hash_del_str(struct hash *h, const char *key)
{
	return hash_del(h, key, strlen(key));
}

void
hash_clear(struct hash *h)
{
	for (size_t i = 0; i < h->n; i++)
		mem_free(h->items[i].key);
	mem_free(h->items);
	mem_free(h->slots);
	*h = (struct hash){ 0 };
}
