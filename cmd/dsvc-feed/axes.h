/* SPDX-License-Identifier: MIT
 *
 * --axis: the axes along which batches are cut among the cores.
 */
#ifndef DSVC_FEED_AXES_H
#define DSVC_FEED_AXES_H

#include "opts.h"

/* Fills o->axes from o->axis_texts; to be freed by axes_clear. ST_USAGE. */
enum status axes_parse(struct feed_opts *o, struct err *e);
void axes_clear(struct feed_opts *o);

#endif
