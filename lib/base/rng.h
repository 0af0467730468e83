/* SPDX-License-Identifier: MIT
 *
 * Random numbers that can be produced again: a counter-based generator
 * (SplitMix64's finaliser over key and counter), so that the i-th number of a
 * key is known without the ones before it, and a sequence is its key and index.
 */
#ifndef BASE_RNG_H
#define BASE_RNG_H

#include <stdint.h>

struct rng {
	uint64_t key, index; /* the complete state, to be saved and restored */
};

uint64_t rng_mix(uint64_t a, uint64_t b);            /* mixes two numbers into a key */
uint64_t rng_at(uint64_t key, uint64_t index);       /* the index-th number */
uint64_t rng_next(struct rng *r);
uint64_t rng_below(struct rng *r, uint64_t limit);   /* [0, limit), unbiased; limit > 0 */
double rng_unit(struct rng *r);                      /* [0, 1) */
double rng_unit_at(uint64_t key, uint64_t index);
/* A fresh seed from the system. */
uint64_t rng_seed_fresh(void);

#endif
