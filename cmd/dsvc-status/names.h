/* SPDX-License-Identifier: MIT
 *
 * --names: the jobs or datasets that there are, one a line, for scripts and completion.
 */
#ifndef STATUS_NAMES_H
#define STATUS_NAMES_H

#include <stdbool.h>

#include "base/buf.h"
#include "value/record.h"

enum { NAMES_JOBS, NAMES_DATASETS };

/* Appends a line for each job of a report: its name, or the number of a job without one; or for
 * each dataset: its id. */
void names_print(struct slice report, int of, struct buf *out);

#endif
