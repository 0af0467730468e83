/* SPDX-License-Identifier: MIT */
#include "base/secret.h"

#include <sodium.h>

#include "base/big.h"

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

	big_put_u64(big_put_u64(k, key.high), key.low);
	crypto_generichash_init(&h, k, sizeof k, sizeof out);
	for (size_t i = 0; i < n; i++) {
		big_put_u64(word, v[i]);
		crypto_generichash_update(&h, word, sizeof word);
	}
	crypto_generichash_final(&h, out, sizeof out);
	return (struct secret){ big_u64(out), big_u64(out + 8) };
}

bool
secret_same(struct secret a, struct secret b)
{
	return sodium_memcmp(&a, &b, sizeof a) == 0;
}
