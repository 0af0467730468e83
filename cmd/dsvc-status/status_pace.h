/* SPDX-License-Identifier: MIT */
#ifndef DSVC_STATUS_STATUS_PACE_H
#define DSVC_STATUS_STATUS_PACE_H

#include "base/buf.h"
#include "value/record.h"

/* Below a pass that runs: who waits for whom, how many slots it could use, how long it will take, and what limits it.
 * Nothing until beats have told enough. */
void status_pace(struct slice report, struct slice job, struct slice pass, struct buf *out);

#endif
