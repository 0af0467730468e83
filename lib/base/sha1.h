/* SPDX-License-Identifier: MIT
 *
 * SHA-1, for names that others agreed on (UUIDs of version 5), not for secrets:
 * two texts with one hash can be made.
 */
#ifndef BASE_SHA1_H
#define BASE_SHA1_H

#include <stddef.h>
#include <stdint.h>

enum { SHA1_SIZE = 20 };

struct sha1 {
	uint32_t h[5];
	uint64_t len;      /* bytes so far */
	uint8_t block[64]; /* the last len % 64 of them */
};

void sha1_init(struct sha1 *s);
void sha1_add(struct sha1 *s, const void *p, size_t n);
/* Fills out; s is then to be initialised anew. */
void sha1_done(struct sha1 *s, uint8_t out[SHA1_SIZE]);

#endif
