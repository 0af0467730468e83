/* SPDX-License-Identifier: MIT
 *
 * What a worker takes from the place where it runs, unless its options say it: its name and tags from Slurm
 * or Kubernetes, its memory from what the control group allows.
 */
#ifndef WORK_PLACE_H
#define WORK_PLACE_H

#include "opts.h"

/* Completes name and tags. */
void place_named(struct work_options *o);
/* --memory in bytes. */
size_t place_memory(int64_t asked);

#endif
