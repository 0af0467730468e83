/* SPDX-License-Identifier: MIT
 *
 * Positions of cores on pipes that give no results. What was written may lie unread in a pipe when a core dies, and
 * of what it has read the last step may be half done. So a position waits until each core has read beyond it, or
 * has ended well.
 */
#ifndef HOST_FEED_SURE_H
#define HOST_FEED_SURE_H

#include "host/feed/feed_host_inner.h"

/* Whether the position of that step must wait. */
bool feed_sure_waits(const struct feed_host *h, uint64_t step);
/* Whether all cores have read so many steps: all that can be asked for while they wait for more. */
bool feed_sure_read(struct feed_host *h, uint64_t step);
/* Lets it wait; the place is copied. */
void feed_sure_push(struct feed_host *h, const struct feed_place *place, enum feed_keep when);
/* Keeps those that need not wait any longer; all: each, since nothing better will be known of them. */
enum status feed_sure_run(struct feed_host *h, bool all, struct err *e);
/* When to look again; INT64_MAX: none waits. */
int64_t feed_sure_deadline(const struct feed_host *h);
void feed_sure_clear(struct feed_host *h);

#endif
