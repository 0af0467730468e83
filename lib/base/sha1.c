/* SPDX-License-Identifier: MIT */
#include "base/sha1.h"

#include <string.h>

static uint32_t
sha1_turn(uint32_t v, unsigned n)
{
	return v << n | v >> (32 - n);
}

static void
sha1_block(struct sha1 *s)
{
	static const uint32_t k[] = { 0x5a827999, 0x6ed9eba1, 0x8f1bbcdc, 0xca62c1d6 };
	uint32_t w[80], a = s->h[0], b = s->h[1], c = s->h[2], d = s->h[3], e = s->h[4];

	for (int i = 0; i < 16; i++) {
		const uint8_t *p = s->block + 4 * i;
		w[i] = (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
	}
	for (int i = 16; i < 80; i++)
		w[i] = sha1_turn(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
	for (int i = 0; i < 80; i++) {
		uint32_t f = i < 20 ? (b & c) | (~b & d) : i < 40 || i >= 60 ? b ^ c ^ d :
			     (b & c) | (b & d) | (c & d);
		uint32_t t = sha1_turn(a, 5) + f + e + k[i / 20] + w[i];
		e = d;
		d = c;
		c = sha1_turn(b, 30);
		b = a;
		a = t;
	}
	s->h[0] += a;
	s->h[1] += b;
	s->h[2] += c;
	s->h[3] += d;
	s->h[4] += e;
}

void
sha1_init(struct sha1 *s)
{
	*s = (struct sha1){ .h = { 0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0 } };
}

void
sha1_add(struct sha1 *s, const void *p, size_t n)
{
	const uint8_t *at = p;

	while (n) {
		size_t used = s->len % 64, some = 64 - used < n ? 64 - used : n;
		memcpy(s->block + used, at, some);
		s->len += some;
		at += some;
		n -= some;
		if (s->len % 64 == 0)
			sha1_block(s);
	}
}

void
sha1_done(struct sha1 *s, uint8_t out[SHA1_SIZE])
{
	uint64_t bits = s->len * 8;
	uint8_t tail[8];

	for (int i = 0; i < 8; i++)
		tail[i] = (uint8_t)(bits >> (56 - 8 * i));
	sha1_add(s, "\x80", 1);
	while (s->len % 64 != 56)
		sha1_add(s, "", 1);
	sha1_add(s, tail, 8);
	for (int i = 0; i < SHA1_SIZE; i++)
		out[i] = (uint8_t)(s->h[i / 4] >> (24 - 8 * (i % 4)));
}
