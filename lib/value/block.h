/* SPDX-License-Identifier: MIT
 *
 * A block: bytes shared by reference counting, in which elements lie. Whoever
 * holds a reference may read what is there; only the one who made the block
 * appends to it, and may start it over (block_recycle) when no other reference
 * is left. Counting is atomic: blocks cross threads (worker to network thread).
 *
 * A block's memory never moves while its bytes are lent out: appending that
 * needs more room than cap makes the caller take a new block (block_room).
 */
#ifndef VALUE_BLOCK_H
#define VALUE_BLOCK_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

enum { BLOCK_USUAL = 64 * 1024 }; /* bytes; a larger element gets a block of its own */

struct block {
	atomic_int refs;
	uint8_t *data;
	size_t len, cap;
	/* called for memory that is not malloc's (mmap, a received frame) */
	void (*release)(void *arg, uint8_t *data, size_t cap);
	void *release_arg;
};

struct block *block_new(size_t cap);                  /* gives, one reference */
/* Takes memory that someone else allocated; `release` is called once. */
struct block *block_wrap(uint8_t *data, size_t len,
	void (*release)(void *arg, uint8_t *data, size_t cap), void *arg);
struct block *block_ref(struct block *b);             /* gives another reference; accepts NULL */
void block_unref(struct block **b);                   /* drops and nulls; accepts NULL */

/* Makes *b an empty block of at least `need` bytes that nobody else refers to: the same block
 * if this is its only reference and it is large enough, else a new one (and drops the old
 * reference). *b may be NULL. */
void block_recycle(struct block **b, size_t need);

/* Where the calling thread's large elements may be made, so that they need not be copied later.
 * give: NULL, or a block that nobody else refers to. NULL: nowhere. */
void block_lender(struct block *(*give)(void *arg, size_t cap), void *arg);
/* A block from there, for an element that will fill most of it; NULL: none is given. It is not
 * to be written to once it is passed on. */
struct block *block_lent(size_t cap);

#endif
