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

/* Multiplies and folds, as in wyhash: both halves of a 128-bit product. */
static uint64_t
hash_fold(uint64_t a, uint64_t b)
{
	__extension__ typedef unsigned __int128 wide;
	wide p = (wide)a * b;

	return (uint64_t)p ^ (uint64_t)(p >> 64);
}

static inline uint64_t
hash_read8(const uint8_t *p)
{
	uint64_t x;

	memcpy(&x, p, sizeof x);
	return x;
}

static inline uint64_t
hash_read4(const uint8_t *p)
{
	uint32_t x;

	memcpy(&x, p, sizeof x);
	return x;
}

/* The last bytes are read together with some before them, so that no length needs a loop or a call. What they
 * are mixed with depends on the seed: were it known, a key could be made whose product is 0 with any other. */
uint64_t
hash_bytes(const void *bytes, size_t n)
{
	const uint64_t k0 = 0xa0761d6478bd642fu, k1 = 0xe7037ed1a0b428dbu;
	const uint8_t *p = bytes;
	uint64_t h = hash_seed(), s = h * k1, a, b;

	h ^= k0;
	if (n > 16) {
		for (size_t left = n; left > 16; p += 16, left -= 16)
			h = hash_fold(hash_read8(p) ^ s, hash_read8(p + 8) ^ h);
		p = (const uint8_t *)bytes + n - 16;
		a = hash_read8(p);
		b = hash_read8(p + 8);
	} else if (n >= 8) {
		a = hash_read8(p);
		b = hash_read8(p + n - 8);
	} else if (n >= 4) {
		a = hash_read4(p);
		b = hash_read4(p + n - 4);
	} else {
		a = n ? (uint64_t)p[0] << 16 | (uint64_t)p[n / 2] << 8 | p[n - 1] : 0;
		b = 0;
	}
	return hash_fold(hash_fold(a ^ s, b ^ h) ^ n, k1);
}

struct hash_want {
	const void *key;
	size_t n;
	uint64_t code;
};

static inline bool
hash_same(const void *owner, uint32_t index, const void *key)
{
	const struct hash_item *it = &((const struct hash *)owner)->items[index];
	const struct hash_want *w = key;

	return it->code == w->code && it->key_len == w->n && (w->n == 0 || !memcmp(it->key, w->key, w->n));
}

static inline uint64_t
hash_code(const void *owner, uint32_t index)
{
	return ((const struct hash *)owner)->items[index].code;
}

/* The slot of the key, or the free slot where it would go. */
static size_t
hash_slot(const struct hash *h, const void *key, size_t n, uint64_t code)
{
	struct hash_want want = { key, n, code };

	return slots_find(&h->slots, code, hash_same, h, &want);
}

void *
hash_get(const struct hash *h, const void *key, size_t n)
{
	if (!h->n)
		return NULL;
	uint32_t at = h->slots.v[hash_slot(h, key, n, hash_bytes(key, n))];
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

	if ((h->n + 1) * 4 > h->slots.n * 3)
		slots_widen(&h->slots, h->slots.n * 2, (uint32_t)h->n, hash_code, h);
	size_t slot = hash_slot(h, key, n, code);
	if (h->slots.v[slot]) {
		struct hash_item *it = &h->items[h->slots.v[slot] - 1];
		void *before = it->value;
		it->value = value;
		return before;
	}
	h->items = mem_grow(h->items, &h->cap, h->n + 1, sizeof *h->items);
	/* A NUL after the key, so that text keys can be printed. */
	h->items[h->n] = (struct hash_item){ mem_strndup(key, n), n, code, value };
	h->slots.v[slot] = (uint32_t)++h->n;
	return NULL;
}

void *
hash_put_str(struct hash *h, const char *key, void *value)
{
	return hash_put(h, key, strlen(key), value);
}

void *
hash_del(struct hash *h, const void *key, size_t n)
{
	if (!h->n)
		return NULL;
	size_t slot = hash_slot(h, key, n, hash_bytes(key, n));
	if (!h->slots.v[slot])
		return NULL;

	size_t index = h->slots.v[slot] - 1, last = h->n - 1;
	void *value = h->items[index].value;
	mem_free(h->items[index].key);
	slots_remove(&h->slots, slot, hash_code, h);
	if (index != last) {
		h->slots.v[slots_of(&h->slots, h->items[last].code, (uint32_t)last)] = (uint32_t)index + 1;
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
	slots_clear(&h->slots);
	*h = (struct hash){ 0 };
}
