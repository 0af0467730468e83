/* SPDX-License-Identifier: MIT
 *
 * --resume: which elements a --joblog file says were done. An element is known by its key, that is, by its
 * contents; those that are alike are counted.
 */
#ifndef RUN_PAST_H
#define RUN_PAST_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/joblog.h"
#include "op/op.h"

struct past;

struct past_told {
	uint64_t done, failed;  /* elements that the log says were worked on; failed: their last run failed */
	uint64_t output;        /* bytes of the output that its last row counts */
};

/* Reads the log. again: what failed is to be run again. Gives. */
enum status past_load(struct joblog *log, bool again, struct past **out, struct err *e);
struct past_told past_told(const struct past *p);
/* Whether the element, given to the operator number `op` of those that run programs, is to be left out. Any
 * thread. */
bool past_has(struct past *p, uint32_t op, const struct elem *x);
void past_free(struct past **p); /* nulls; takes a null one */

#endif
