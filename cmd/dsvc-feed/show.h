/* SPDX-License-Identifier: MIT
 *
 * Progress: one line on stderr, on a terminal only, after a second only, and gone at the end. Asked for elsewhere,
 * it is a line every few seconds.
 */
#ifndef DSVC_FEED_SHOW_H
#define DSVC_FEED_SHOW_H

#include "opts.h"

struct show {
	bool on, tty;
	int64_t began_ns, shown_ns;
	uint64_t from_rows, from_step;
	bool begun;
};

void show_begin(struct show *s, const struct feed_opts *o);
/* All cores have done so many steps, with so many rows in all; rows UINT64_MAX: not known. */
void show_step(struct show *s, uint64_t step, uint64_t rows);
void show_end(struct show *s);

#endif
