/* SPDX-License-Identifier: MIT
 *
 * A random order of 0 .. n-1 in which the i-th number is worked out alone, in
 * constant memory: a permutation that is a function of its key.
 *
 *	n <= PERMUTE_TABLE   the numbers shuffled in a table (Fisher and Yates):
 *	                     every order is as likely as any other
 *	more                 a Feistel network on l * 2^bits + r, where
 *	                     l < high, r < 2^bits, and high * 2^bits is n rounded up:
 *
 *	        l ---+-----------> l        r ---------------+--> r
 *	             |  r ^= F(l)                l += F(r) (mod high)
 *
 * A round changes one half by a function of the other, so it can be undone, and
 * so can all of them: no two numbers meet. What falls behind n goes through the
 * network again until it does not ("cycle walking"), which keeps that true; it is
 * rare, since both halves are near the root of n. Feistel networks are random enough after
 * four rounds of a random F (Luby and Rackoff, 1988); halves that are no powers
 * of two and cycle walking are Black and Rogaway's (2002). F is SplitMix64's mixer.
 */
#ifndef BASE_PERMUTE_H
#define BASE_PERMUTE_H

#include <stdint.h>

enum { PERMUTE_TABLE = 2048, PERMUTE_ROUNDS = 6 };

/* A permutation and its key. The table takes 4 KiB. */
struct permute {
	uint64_t n, high;
	unsigned bits;
	uint64_t key[PERMUTE_ROUNDS];
	uint16_t table[PERMUTE_TABLE];
};

/* Prepares a permutation of 0 .. n-1; n up to INT64_MAX. */
void permute_init(struct permute *p, uint64_t n, uint64_t key);
/* The i-th number; i < n. */
uint64_t permute_at(const struct permute *p, uint64_t i);

#endif
