/* SPDX-License-Identifier: MIT
 *
 * The keys of a table that are integers and lie close together (ids), found without hashing:
 *
 *	key:     least   least + 1   ...   greatest
 *	number:    0      (none)            17          its number in the table
 *
 * A lookup reads four bytes, of a table that is small enough for the processor's own cache more often than the
 * slots and items of a key_table are.
 */
#ifndef KIT_KEY_DIRECT_H
#define KIT_KEY_DIRECT_H

#include "base/buf.h"
#include "op/kit/key_table.h"

/* Zero: there is none. */
struct key_direct {
	int64_t least;
	uint32_t *numbers; /* KEY_TABLE_NONE: no such key */
	size_t n;          /* from least to greatest; 0: keys are to be looked up in the key_table */
};

/* Makes it of all keys of the table, unless one is no integer, they lie too far apart, or it would take more than
 * `most` bytes. */
void key_direct_make(struct key_direct *d, const struct key_table *k, size_t most);
/* The number of the key, a checked value of any kind and form; KEY_TABLE_NONE: it is not in the table. */
uint32_t key_direct_find(const struct key_direct *d, const uint8_t *p, size_t len, struct buf *normal);
void key_direct_clear(struct key_direct *d);

#endif
