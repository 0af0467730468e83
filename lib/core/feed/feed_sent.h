/* SPDX-License-Identifier: MIT
 *
 * Which steps a core has read off its pipe, and which of them it has done beyond doubt. A pipe tells how many bytes are
 * left in it; this knows where each step ended in what was written. A core that takes a step has done those before it;
 * the last that it read may be half done until it reads on, or ends well.
 */
#ifndef FEED_FEED_SENT_H
#define FEED_FEED_SENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zeroed: no step was done, and none sent. */
struct feed_sent {
	uint64_t read;      /* steps that were read whole, earlier runs included */
	uint64_t sure;      /* steps that are done beyond doubt, earlier runs included */
	uint64_t *end;      /* bytes written up to the end of each step from `read` on; it begins at `first` */
	size_t first, n, cap;
};

/* Before anything is sent: so many steps were done before. */
void feed_sent_begin(struct feed_sent *s, uint64_t steps);
/* Another step is sent. end: bytes written to the pipe, this step included. */
void feed_sent_add(struct feed_sent *s, uint64_t end);
/* Whether the next one needs more room, so that it is worthwhile to ask the pipe what was read. */
bool feed_sent_full(const struct feed_sent *s);
/* So many bytes were read. */
void feed_sent_taken(struct feed_sent *s, uint64_t bytes);
/* The core has ended well. rest: what it has not read is its own affair, and counts as done. */
void feed_sent_ended(struct feed_sent *s, bool rest);
/* Another pipe follows: bytes count from 0 again. */
void feed_sent_again(struct feed_sent *s);
void feed_sent_clear(struct feed_sent *s);

#endif
