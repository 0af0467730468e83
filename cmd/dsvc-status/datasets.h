/* SPDX-License-Identifier: MIT
 *
 * The datasets of a report: type, number of elements, and what there is to know before reading one.
 */
#ifndef DSVC_STATUS_DATASETS_H
#define DSVC_STATUS_DATASETS_H

#include "base/buf.h"
#include "value/record.h"

void datasets_table(struct slice report, struct buf *out);

#endif
