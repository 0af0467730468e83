/* SPDX-License-Identifier: MIT
 *
 * Memory of a worker that readers on the same machine map: blocks are cut from it, as
 * from the heap, and a reader is told where a block lies in place of being sent it.
 *
 * An arena is a memfd, which has no name and so leaves nothing behind. It is sealed: it
 * cannot shrink, so that no reader can be hit by SIGBUS, and nobody but the worker, which
 * mapped it before, can map it for writing. Blocks are runs of pages, the lowest that are
 * free: pages that were used a moment ago are still in the caches, and those that are
 * never reached take no memory.
 *
 * The block is an ordinary one (value/block.h). Who reads it holds a reference, and while
 * there is one its pages are given to nobody else. Threads that make elements take blocks;
 * all else here is the network thread's.
 */
#ifndef HOST_ARENA_H
#define HOST_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "value/block.h"

enum { ARENA_PAGE = 4096, ARENA_OLD = 2, ARENA_LENT_LEAST = 128 * 1024 };

struct arenas;

/* Gives a set without memory. bytes: of each arena. */
struct arenas *arenas_new(size_t bytes);
/* Blocks that are still held keep their memory. */
void arenas_free(struct arenas **as);
/* Makes the first arena, unless there is one. */
enum status arenas_open(struct arenas *as, struct err *e);

/* Whether blocks are given at all: only while some reader maps them, for elsewhere
 * the heap is as good. */
void arenas_use(struct arenas *as, bool use);
bool arenas_used(const struct arenas *as); /* accepts NULL: false */
/* A block of n bytes that nobody else refers to; NULL: not in use, or none is free. */
struct block *arenas_block(struct arenas *as, size_t n);

/* A block for an element that is to be made in it, of at least ARENA_LENT_LEAST bytes. What
 * operators keep must leave room for what is sent: NULL, too, if as much as a fourth of an
 * arena is lent already. */
struct block *arenas_lend(void *as, size_t n); /* for block_lender; arg: struct arenas */
/* Whether b is of an arena: then it is to be sent, and not counted as lent any more. Accepts NULL. */
bool arena_adopt(struct block *b);

struct arena_place {
	uint32_t number;     /* the arena's, from 1 */
	uint64_t at;
};
/* Where in an arena p lies, which is in b. False: b is not of an arena. */
bool arena_place(const struct block *b, const uint8_t *p, struct arena_place *out);

struct arena_info {
	uint32_t number;
	int fd;              /* lent */
	size_t size;
};
/* The arena from which blocks are taken now; false: there is none. */
bool arenas_now(const struct arenas *as, struct arena_info *out);
/* Takes blocks from a new one from now on; the old one lasts as long as its blocks. False:
 * ARENA_OLD of them last still, or the system gives no more. */
bool arenas_renew(struct arenas *as);
/* The number of an old arena that has no blocks any more, once; 0: none. */
uint32_t arenas_gone(struct arenas *as);
/* Bytes of all arenas. */
size_t arenas_size(const struct arenas *as);

#endif
