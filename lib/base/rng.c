/* SPDX-License-Identifier: MIT */
#include "base/rng.h"

#include <errno.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/clock.h"

#define RNG_STEP 0x9e3779b97f4a7c15u /* 2^64 / golden ratio, as in SplitMix64 */

static uint64_t
rng_finish(uint64_t z)
{
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

uint64_t
rng_mix(uint64_t a, uint64_t b)
{
	/* Not symmetric, and (0, 0) is no fixed point. */
	return rng_finish(rng_finish(a + RNG_STEP) + b * RNG_STEP + 1);
}

uint64_t
rng_at(uint64_t key, uint64_t index)
{
	return rng_finish(rng_finish(key ^ 0x6a09e667f3bcc909u) + (index + 1) * RNG_STEP);
}

uint64_t
rng_next(struct rng *r)
{
	return rng_at(r->key, r->index++);
}

uint64_t
rng_below(struct rng *r, uint64_t limit)
{
	/* Lemire's method: the high half of a product; the few low halves that would make some
	 * numbers more likely than others are drawn again. */
	__extension__ typedef unsigned __int128 wide;
	wide product = (wide)rng_next(r) * limit;

	if ((uint64_t)product < limit) {
		uint64_t least = -limit % limit;
		while ((uint64_t)product < least)
			product = (wide)rng_next(r) * limit;
	}
	return (uint64_t)(product >> 64);
}

static double
rng_to_unit(uint64_t x)
{
	return (double)(x >> 11) * 0x1p-53;
}

double
rng_unit(struct rng *r)
{
	return rng_to_unit(rng_next(r));
}

double
rng_unit_at(uint64_t key, uint64_t index)
{
	return rng_to_unit(rng_at(key, index));
}

uint64_t
rng_seed_fresh(void)
{
	uint64_t seed;
	ssize_t n;

	do
		n = getrandom(&seed, sizeof seed, 0);
	while (n < 0 && errno == EINTR);
	if (n == (ssize_t)sizeof seed)
		return seed;
	/* The seed need not be secret, only different each time, so getrandom is not needed. */
	return rng_mix((uint64_t)clock_wall_ns(), (uint64_t)getpid());
}
