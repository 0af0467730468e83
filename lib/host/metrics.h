/* SPDX-License-Identifier: MIT
 *
 * A report as Prometheus reads it: text format 0.0.4, or OpenMetrics 1.0.0, in which a counter's family has
 * no `_total` and the text ends with `# EOF`.
 *
 * No label is called `job` or `instance`: those are Prometheus' own. A job is
 * dsvc_job="NAME"; all anonymous ones are one, dsvc_job="-", so that the number of
 * series does not grow with what users do at a prompt.
 */
#ifndef HOST_METRICS_H
#define HOST_METRICS_H

#include "base/buf.h"
#include "value/record.h"

struct metrics_conf {
	bool workers; /* series for each worker too */
	bool open;    /* OpenMetrics */
};

/* Appends the text. */
void metrics_print(struct slice report, const struct metrics_conf *c, struct buf *out);
/* Likewise where the dispatcher did not answer: dsvc_up is 0, and there is nothing else. */
void metrics_print_down(const struct metrics_conf *c, struct buf *out);

#endif
