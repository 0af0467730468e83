/* SPDX-License-Identifier: MIT
 *
 * The memory of steps: slots of equal size in a memfd, which this process fills and consumers
 * map. It has no name, so nothing is left of it after a crash; it is sealed against changes of its size,
 * so no peer can make a reader fault; and its pages are taken at the start, so a lack of memory is
 * an error there and no crash later.
 */
#ifndef HOST_FEED_RING_H
#define HOST_FEED_RING_H

#include "base/err.h"
#include "value/columns.h"

struct feed_ring {
	int refs;                /* one of the owner, one of each step that lies in it */
	int fd, read_fd;         /* read_fd: the same memory, opened for reading only; -1: none */
	uint8_t *data;
	size_t bytes;            /* size of a slot */
	uint32_t slots;
	struct columns *columns; /* owned */
};

/* Takes the columns, which are laid out. read_only: the consumers may not write. ST_IO. Gives. */
enum status feed_ring_new(struct columns *c, uint32_t slots, bool read_only, struct feed_ring **out, struct err *e);
struct feed_ring *feed_ring_ref(struct feed_ring *r);
void feed_ring_unref(struct feed_ring **r);   /* drops and nulls; accepts NULL */
static inline uint8_t *
feed_ring_slot(const struct feed_ring *r, uint32_t slot)
{
	return r->data + (size_t)slot * r->bytes;
}

#endif
