/* SPDX-License-Identifier: MIT */
#include "base/permute.h"

#include <assert.h>

#include "base/rng.h"

static void
permute_fill(struct permute *p, uint64_t key)
{
	struct rng rng = { .key = key };

	for (uint64_t i = 0; i < p->n; i++) {
		uint64_t k = rng_below(&rng, i + 1);

		p->table[i] = p->table[k];
		p->table[k] = (uint16_t)i;
	}
}

void
permute_init(struct permute *p, uint64_t n, uint64_t key)
{
	p->n = n;
	if (n <= PERMUTE_TABLE) {
		permute_fill(p, key);
		return;
	}
	assert(n <= INT64_MAX);
	p->bits = (unsigned)(64 - __builtin_clzll(n - 1)) / 2;
	p->high = ((n - 1) >> p->bits) + 1;
	for (unsigned i = 0; i < PERMUTE_ROUNDS; i++)
		p->key[i] = rng_at(key, i);
}

/* Mixes to 64 bits, of which the upper ones are the better. */
static inline uint64_t
permute_mix(uint64_t x, uint64_t key)
{
	x = (x ^ key) * 0xbf58476d1ce4e5b9u;
	return (x ^ (x >> 32)) * 0x94d049bb133111ebu;
}

uint64_t
permute_at(const struct permute *p, uint64_t i)
{
	__extension__ typedef unsigned __int128 wide;
	unsigned shift = 64 - p->bits;

	if (p->n <= PERMUTE_TABLE)
		return p->table[i];
	do {
		uint64_t l = i >> p->bits, r = i & (((uint64_t)1 << p->bits) - 1);

		for (unsigned k = 0; k < PERMUTE_ROUNDS; k += 2) {
			l += (uint64_t)((wide)permute_mix(r, p->key[k]) * p->high >> 64);
			l -= l >= p->high ? p->high : 0;
			r ^= permute_mix(l, p->key[k + 1]) >> shift;
		}
		i = l << p->bits | r;
	} while (i >= p->n);
	return i;
}
