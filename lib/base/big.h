/* SPDX-License-Identifier: MIT
 *
 * Numbers with the most significant byte first, at any address.
 */
#ifndef BASE_BIG_H
#define BASE_BIG_H

#include <stdint.h>
#include <string.h>

static inline uint64_t
big_u64(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, 8);
	return __builtin_bswap64(v);
}

/* Writes 8 bytes; returns where they end. */
static inline uint8_t *
big_put_u64(uint8_t *p, uint64_t v)
{
	v = __builtin_bswap64(v);
	memcpy(p, &v, 8);
	return p + 8;
}

#endif
