/* SPDX-License-Identifier: MIT
 *
 * How far the feed is (cli/progress.h).
 */
#ifndef DSVC_FEED_SHOW_H
#define DSVC_FEED_SHOW_H

#include "cli/progress.h"
#include "opts.h"

struct show {
	struct progress progress;
	uint64_t from_step;
	bool begun;
};

void show_begin(struct show *s, const struct feed_opts *o);
/* All cores have done so many steps, with so many rows in all; rows UINT64_MAX: not known. */
void show_step(struct show *s, uint64_t step, uint64_t rows);
void show_end(struct show *s);

#endif
