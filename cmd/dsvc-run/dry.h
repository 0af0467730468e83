/* SPDX-License-Identifier: MIT
 *
 * --dry-run: the commands that `exec` and `sh` would run, as lines that a shell
 * reads; none is started. What stands before them runs as ever, for it says which
 * elements there are.
 */
#ifndef RUN_DRY_H
#define RUN_DRY_H

#include "base/err.h"
#include "run_plan.h"

/* Writes the commands as elements of text, to conf->path in conf->format, at most conf->count.
 * ST_USAGE: nothing would be run, or something would be written. */
enum status dry_run(struct plan *p, const struct run_plan_conf *conf, struct err *e);

#endif
