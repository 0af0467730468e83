/* SPDX-License-Identifier: MIT
 *
 * Which steps a core has read off its pipe. A pipe tells how many bytes are left in it; this knows where each
 * step ended in what was written.
 */
#ifndef HOST_FEED_SENT_H
#define HOST_FEED_SENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zeroed: nothing was sent. */
struct feed_sent {
	uint64_t read;      /* steps that were read whole, earlier runs included */
	uint64_t *end;      /* bytes written up to the end of each step from `read` on; it begins at `first` */
	size_t first, n, cap;
};

/* Steps are added in order, without a gap. end: bytes written to the pipe, this step included. */
void feed_sent_add(struct feed_sent *s, uint64_t step, uint64_t end);
/* Whether the next one needs more room, so that it is worthwhile to ask the pipe what was read. */
bool feed_sent_full(const struct feed_sent *s);
/* So many bytes were read. */
void feed_sent_taken(struct feed_sent *s, uint64_t bytes);
/* Another pipe follows: bytes count from 0 again. */
void feed_sent_again(struct feed_sent *s);
void feed_sent_clear(struct feed_sent *s);

#endif
