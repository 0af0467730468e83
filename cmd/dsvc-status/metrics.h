/* SPDX-License-Identifier: MIT
 *
 * A report as Prometheus reads it (text format 0.0.4).
 *
 * No label is called `job` or `instance`: those are Prometheus' own. A job is
 * dsvc_job="NAME"; all anonymous ones are one, dsvc_job="-", so that the number of
 * series does not grow with what users do at a prompt.
 */
#ifndef DSVC_STATUS_METRICS_H
#define DSVC_STATUS_METRICS_H

#include "base/buf.h"
#include "value/record.h"

/* Appends the text. workers: series for each worker too. */
void metrics_print(struct slice report, bool workers, struct buf *out);

#endif
