/* SPDX-License-Identifier: MIT
 *
 * How many slots the passes ask for. Nobody outside the dispatcher includes this.
 */
#ifndef DISP_DISP_WANTED_H
#define DISP_DISP_WANTED_H

#include "core/disp/disp_inner.h"

/* The sums so far. */
struct wanted_totals *wanted_totals_of(struct iteration *it);
/* It is over: only its totals are kept. */
void wanted_over(struct iteration *it);
/* The share of their time that readers waited: lately or, once it is over, in all. */
double wanted_waits(const struct iteration *it);
void wanted_beat(struct disp *d, struct peer *p, const struct msg_clocks *clocks);
/* The workers that one iteration wants; false: none, nobody reads it. */
bool wanted_of(const struct disp *d, const struct iteration *it, struct wanted_job *out);
double wanted_all(const struct disp *d);

#endif
