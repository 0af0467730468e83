/* SPDX-License-Identifier: MIT
 *
 * Positions by step, in the file of --checkpoint: the last N of them, with how long the file of
 * results was. The file is replaced as a whole:
 *
 *	["dsvc-feed-positions", version, [step, bytes, position] ..., CRC-32C of all before it]
 */
#ifndef DSVC_FEED_KEEP_H
#define DSVC_FEED_KEEP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

struct kept_place { uint64_t step, bytes; struct buf position; };
struct keep {
	const char *file;            /* NULL: none is kept */
	struct kept_place *v;        /* by step, the newest last */
	size_t n, cap, most;
	bool early;                  /* the newest is one that nobody asked for, and makes way for the next */
};

/* A file that is not there has no positions. */
enum status keep_load(struct keep *k, const char *file, size_t most, struct err *e);
/* That of a step; ST_NOINPUT names those that are there. */
enum status keep_find(const struct keep *k, uint64_t step, const struct kept_place **out, struct err *e);
/* Adds one, forgets those of that step and later, and the oldest; writes the file. */
enum status keep_add(struct keep *k, uint64_t step, uint64_t bytes, const struct buf *position, bool early,
		     struct err *e);
void keep_clear(struct keep *k);

#endif
