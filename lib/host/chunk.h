/* SPDX-License-Identifier: MIT
 *
 * Chunks as a worker makes and keeps them: consecutive elements end to end in a
 * block. A chunk never changes, and what is under way to a reader holds a
 * reference to the block of its own.
 *
 * The builder copies small elements into a buffer of CHUNK_BYTES; one of
 * CHUNK_OWN bytes or more becomes a chunk of its own, a slice of the block in
 * which it was made. Where readers map the worker's memory (arena.h) a chunk is
 * copied there once in any case, and only then one of half a buffer or more
 * stands alone. Buffers are used again: giving 256 KiB back to the system and
 * faulting them in anew would cost as much as making small elements does.
 */
#ifndef HOST_CHUNK_H
#define HOST_CHUNK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host/arena.h"
#include "net/sock.h"
#include "value/block.h"
#include "value/elem.h"
#include "value/job_opts.h"

enum {
	CHUNK_BYTES = 256 * 1024,
	CHUNK_ELEMENTS = 64 * 1024,
	CHUNK_OWN = 32 * 1024,
	CHUNK_SHARED = 16 * 1024 /* a smaller one is sent sooner than lent */
};
struct chunk {
	struct block *block;
	const uint8_t *p;
	size_t len;          /* size in which it is sent */
	size_t raw_len;
	uint64_t offset;
	uint32_t count;
	uint32_t codec;      /* enum wire_codec */
};

struct chunk *chunk_new(struct block *b, const uint8_t *p, size_t len, uint64_t offset,
			uint32_t count);     /* gives; takes the reference */
void chunk_free(struct chunk **c);
/* The payload for one sending; holds a reference of its own. */
struct sock_payload chunk_payload(const struct chunk *c);

/* Compresses when that pays: `tries` counts chunks to leave alone after one
 * that did not shrink. */
void chunk_pack(struct chunk *c, enum job_compression how, unsigned *tries);
/* Fills *out with the payload as it was before; false: malformed. */
bool chunk_unpack(const uint8_t *p, size_t len, size_t raw_len, struct block **out);

struct builder {
	struct arenas *arenas; /* where blocks come from while it is in use; NULL: the heap */
	struct block *block; /* the buffer; NULL: none yet */
	size_t len;
	uint32_t count;
	uint64_t offset;     /* offset of its first element */
};

/* A buffer from the pool as a block; it returns there when nobody refers to it. */
struct block *builder_block(void);
/* Adds elements [i, n) of r as far as they fit; gives how many. Less than all: cut. */
uint32_t builder_add(struct builder *b, const struct run *r, uint32_t i, uint32_t n);
/* Adds n elements, each `step` behind the one before, as far as they fit; gives how many. */
uint32_t builder_pick(struct builder *b, const struct elem *e, uint32_t step, uint32_t n);
/* Gives the elements added as a chunk; NULL: none. The next chunk begins after it. */
struct chunk *builder_cut(struct builder *b);
/* Whether an element of `len` bytes becomes a chunk of its own. */
bool builder_owns(const struct builder *b, size_t len);
/* One large element as a chunk; the builder must have been cut. */
struct chunk *builder_own(struct builder *b, const struct elem *e);
void builder_clear(struct builder *b);

#endif
