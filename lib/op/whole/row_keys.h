/* SPDX-License-Identifier: MIT
 *
 * Keys of any values, numbered from 0 in the order in which they came, and shown in the form in which
 * each came first; equal values are one key.
 */
#ifndef WHOLE_ROW_KEYS_H
#define WHOLE_ROW_KEYS_H

#include "op/kit/key_table.h"
#include "op/whole/first_form.h"

/* Zero is empty. */
struct row_keys {
	struct key_table keys;
	struct first_form shown;
	struct buf normal; /* scratch */
};

/* The number of the key, an encoded value; added if it is new. */
uint32_t row_keys_add(struct row_keys *r, const uint8_t *p, size_t len, bool *fresh);
/* Lends the key as it came first, until another is added. */
const uint8_t *row_keys_at(const struct row_keys *r, uint32_t i, uint32_t *len);
static inline uint32_t
row_keys_count(const struct row_keys *r)
{
	return r->keys.n;
}
size_t row_keys_size(const struct row_keys *r); /* memory used, for limits */
void row_keys_clear(struct row_keys *r);

#endif
