/* SPDX-License-Identifier: MIT */
#include "base/secret.h"

#include <sodium.h>

static uint64_t
secret_number(const uint8_t *p)
{
	uint64_t v = 0;

	for (int i = 0; i < 8; i++)
		v = v << 8 | p[i];
	return v;
}

static void
secret_bytes(uint64_t v, uint8_t *p)
{
	for (int i = 0; i < 8; i++)
		p[i] = (uint8_t)(v >> (56 - 8 * i));
}

struct secret
secret_new(void)
{
	struct secret s;

	do
		randombytes_buf(&s, sizeof s);
	while (secret_none(s));
	return s;
}

struct secret
secret_derive(struct secret key, const uint64_t *v, size_t n)
{
	crypto_generichash_state h;
	uint8_t k[16], out[16], word[8];

	secret_bytes(key.high, k);
	secret_bytes(key.low, k + 8);
	crypto_generichash_init(&h, k, sizeof k, sizeof out);
	for (size_t i = 0; i < n; i++) {
		secret_bytes(v[i], word);
		crypto_generichash_update(&h, word, sizeof word);
	}
	crypto_generichash_final(&h, out, sizeof out);
	return (struct secret){ secret_number(out), secret_number(out + 8) };
}

bool
secret_same(struct secret a, struct secret b)
{
	return sodium_memcmp(&a, &b, sizeof a) == 0;
}
