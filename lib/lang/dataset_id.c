/* SPDX-License-Identifier: MIT
 *
 * The id of a dataset: a hash of what it means, so that registering the same
 * thing twice gives the same id. In a file of its own, because it brings in
 * libsodium, which programs that register nothing do without.
 */
#include "lang/spec.h"

#include <sodium.h>
#include <stdio.h>

static void
dataset_digest(const char *canonical, size_t n, unsigned char *hash, size_t n_hash)
{
	crypto_generichash_state h;
	char version[32];
	int len = snprintf(version, sizeof version, "dsvc %d\n", SPEC_VERSION);

	/* The version is hashed as well: in another version of the language the same text may
	 * mean something else. */
	crypto_generichash_init(&h, NULL, 0, n_hash);
	crypto_generichash_update(&h, (const unsigned char *)version, (size_t)len);
	crypto_generichash_update(&h, (const unsigned char *)canonical, n);
	crypto_generichash_final(&h, hash, n_hash);
}

void
dataset_id(const char *canonical, size_t n, char out[DATASET_ID_LEN + 1])
{
	unsigned char hash[DATASET_ID_LEN / 2 < crypto_generichash_BYTES_MIN ?
				   crypto_generichash_BYTES_MIN : DATASET_ID_LEN / 2];

	dataset_digest(canonical, n, hash, sizeof hash);
	for (int i = 0; i < DATASET_ID_LEN / 2; i++)
		snprintf(out + 2 * i, 3, "%02x", hash[i]);
}

void
dataset_hash(const char *canonical, size_t n, char out[DATASET_HASH_LEN + 1])
{
	unsigned char hash[DATASET_HASH_LEN / 2];

	dataset_digest(canonical, n, hash, sizeof hash);
	for (int i = 0; i < DATASET_HASH_LEN / 2; i++)
		snprintf(out + 2 * i, 3, "%02x", hash[i]);
}
