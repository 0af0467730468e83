/* SPDX-License-Identifier: MIT
 *
 * A dispatcher's report (doc/protocol.md) as text for people.
 */
#ifndef DSVC_STATUS_STATUS_TABLE_H
#define DSVC_STATUS_STATUS_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "value/record.h"

/* Rates are worked out from the report before (empty: none), taken so long ago. Lines are cut to
 * that width (0: not); streams: those of running passes, and addresses of workers, too. */
void status_table_status(struct slice report, struct slice before, double seconds, bool streams, unsigned width,
			 struct buf *out);
/* The books of each pass, and the worst there is. why: of the first pass that failed. */
enum audit { AUDIT_GOOD, AUDIT_FAILED, AUDIT_UNBALANCED };
enum audit status_table_audit(struct slice report, bool streams, struct buf *out, struct buf *why);

#endif
