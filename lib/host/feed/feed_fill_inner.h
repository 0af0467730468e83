/* SPDX-License-Identifier: MIT
 *
 * What the files of filling share: feed_fill.c puts elements into steps, feed_fill_lay.c into the memory of
 * steps, and feed_fill_place.c notes where the data stand after each step.
 */
#ifndef DSVC_FEED_FILL_INNER_H
#define DSVC_FEED_FILL_INNER_H

#include "host/feed/feed_fill.h"

struct feed_fill {
	struct feed_fill_conf c;
	struct feed *machine;
	struct feed_source *source;
	struct feed_ring *ring;      /* NULL: no element has come yet */
	struct feed_ring **slot;     /* in which each step lies */
	uint32_t slots;
	uint64_t each;               /* rows of an element */
	uint64_t step;               /* the step that is being filled */
	uint64_t pass;               /* steps before the pass */
	bool pass_known;
	uint64_t over;               /* steps still to be passed over */
	uint64_t in_step;            /* elements of it: while it is passed over, and with `tails` */
	uint64_t nulls;              /* those that are padding */
	uint64_t all;                /* places of steps so far, of all hosts */
	uint64_t rows, tail, tail_of, dropped;
	uint32_t epoch;
	uint64_t skip;               /* elements of the service still to be passed over */
	bool seen_first;
	bool looks;                  /* for the end of the pass, though there is no room */
	bool ended;                  /* the reader has given all of the pass, and its last step is complete */
	bool small, over_all, part;  /* small: a batch that is not full has come; part: elements of the pass came */
	struct feed_rows cur;        /* elements taken from the source; cur.n are left */
	uint64_t used;               /* elements handled, but not told the source yet */
	uint64_t count;              /* elements handled, of this reader */
	uint64_t behind;             /* elements since base */
	struct feed_base *base;
	int64_t base_due_ns;
	struct feed_place *place;    /* by step mod places */
	size_t places;
	struct types *types;
};

/* The columns of steps and the ring, by the first element, whose bytes are checked. */
enum status feed_fill_lay(struct feed_fill *f, const uint8_t *p, size_t len, struct err *e);
/* Lays them out where this host has nothing but padding so far: elements are taken to be what their type says. */
enum status feed_fill_guess(struct feed_fill *f, struct err *e);
/* Puts an element into the slot from `row` on, where there is room for so many rows; *rows: those it had. */
enum status feed_fill_into(struct feed_fill *f, uint32_t slot, uint64_t row, uint64_t room, const uint8_t *p,
			   size_t len, uint64_t *rows, struct err *e);
/* Pads n rows from `row` on. */
enum status feed_fill_pad(struct feed_fill *f, uint32_t slot, uint64_t row, uint64_t n, struct err *e);

/* Notes the place after the steps so far. */
void feed_fill_note(struct feed_fill *f);
/* A record of the reader now and then, so that few elements lie behind it. */
void feed_fill_base(struct feed_fill *f, int64_t now_ns);

#endif
