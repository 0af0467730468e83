/* SPDX-License-Identifier: MIT
 *
 * Positions of a feed as bytes: what a trainer keeps in its checkpoint, and dsvc-feed in a file.
 */
#ifndef HOST_FEED_PLACE_H
#define HOST_FEED_PLACE_H

#include "host/feed/feed_fill.h"

enum { FEED_PLACE_VERSION = 1 };

/* The data that a position belongs to: another run must say the same. Texts are lent. */
struct feed_what {
	const char *dataset;     /* id */
	uint64_t seed;
	uint32_t order;          /* enum job_order */
	bool local;              /* the plan runs in this process */
	uint32_t places;         /* how many a step has, where each host has its part of it; else 0 */
	uint32_t unit;           /* elements of a step on this host, where each host has its part of it; else 1 */
};

/* Appends one MessagePack value. */
void feed_place_encode(const struct feed_place *p, const struct feed_what *w, struct buf *out);
/* Reads one: `place` gets a base of its own (feed_place_clear), and w the seed. ST_DATA: it is none, or belongs to
 * another dataset; ST_PROTO: another version; ST_USAGE: another order. A dataset of NULL is not compared. */
enum status feed_place_decode(const uint8_t *p, size_t n, struct feed_place *place, struct feed_what *w,
			      struct err *e);
void feed_place_clear(struct feed_place *p);

#endif
