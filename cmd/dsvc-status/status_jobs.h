/* SPDX-License-Identifier: MIT
 *
 * The tables of jobs, their passes and streams.
 */
#ifndef DSVC_STATUS_STATUS_JOBS_H
#define DSVC_STATUS_STATUS_JOBS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "value/record.h"

void status_jobs_streams(struct slice report, struct buf *out);
/* The groups of a shared job, each on a line of its own; in an audit with their books. */
void status_jobs_groups(struct slice pass, bool audit, struct buf *out);
void status_jobs_saved(struct slice p, struct buf *out);
void status_jobs_jobs(struct slice report, struct slice before, double seconds, struct buf *out);

#endif
