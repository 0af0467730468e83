/* SPDX-License-Identifier: MIT
 *
 * A table from byte strings to pointers: open addressing, doubling. Keys are
 * copied. Order of iteration is the order of insertion (removal fills the hole
 * with the last), so that what is printed from it is the same each time.
 */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

#include "base/slots.h"

struct hash_item {
	void *key;
	size_t key_len;
	uint64_t code;
	void *value;
};
struct hash {
	struct hash_item *items;
	size_t n, cap;
	struct slots slots;
};

uint64_t hash_bytes(const void *p, size_t n); /* seeded per process; not fit for cryptography */
void *hash_get(const struct hash *h, const void *key, size_t n);   /* lends, NULL: absent */
void *hash_get_str(const struct hash *h, const char *key);
/* Gives the value that was there before, or NULL. */
void *hash_put(struct hash *h, const void *key, size_t n, void *value);
void *hash_put_str(struct hash *h, const char *key, void *value);
void *hash_del(struct hash *h, const void *key, size_t n);
void *hash_del_str(struct hash *h, const char *key);
void hash_clear(struct hash *h);              /* values are not freed */

#endif
