/* SPDX-License-Identifier: MIT
 *
 * The passes of a job, in a dispatcher's report (doc/protocol.md).
 */
#ifndef HOST_PASS_H
#define HOST_PASS_H

#include <stdbool.h>
#include <stdint.h>

#include "value/record.h"

/* A pass is under way from the moment that it is opened: while its source is still listed, it
 * asks for slots already. */
bool pass_live(struct slice pass);
/* Splits that are not given out yet, as the smallest that they may be cut to; of one that is not under way there are
 * none. False: it is not known. */
bool pass_splits(struct slice pass, uint64_t *n);
/* The pass of a job that is under way, else the last; false: it has none. */
bool pass_of_job(struct slice job, struct slice *pass);

#endif
