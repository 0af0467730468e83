/* SPDX-License-Identifier: MIT
 *
 * How many slots the passes ask for. Nobody outside the dispatcher includes this.
 */
#ifndef DISP_DISP_WANTED_H
#define DISP_DISP_WANTED_H

#include "core/disp/disp_inner.h"

void wanted_beat(struct disp *d, const struct peer *p, const struct msg_clocks *clocks);
/* The workers that one iteration wants; false: none, nobody reads it. */
bool wanted_of(const struct disp *d, const struct iteration *it, struct wanted_job *out);
double wanted_all(const struct disp *d);

#endif
