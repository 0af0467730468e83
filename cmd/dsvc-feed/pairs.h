/* SPDX-License-Identifier: MIT
 *
 * Options that do not go together. The manual lists them under "Options that exclude each other", and a test reads
 * that list.
 */
#ifndef FEED_PAIRS_H
#define FEED_PAIRS_H

#include "base/err.h"

struct feed_opts;

/* ST_USAGE: two of them were given; the text has both with their values. */
enum status pairs_check(const struct feed_opts *o, struct err *e);

#endif
