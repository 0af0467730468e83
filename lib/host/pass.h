/* SPDX-License-Identifier: MIT
 *
 * The passes of a job, in a dispatcher's report (doc/protocol.md).
 */
#ifndef HOST_PASS_H
#define HOST_PASS_H

#include <stdbool.h>

#include "value/record.h"

/* A pass is under way from the moment that it is opened: while its source is still listed, it
 * asks for slots already. */
bool pass_live(struct slice pass);
/* The pass of a job that is under way, else the last; false: it has none. */
bool pass_of_job(struct slice job, struct slice *pass);

#endif
