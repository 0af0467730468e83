/* SPDX-License-Identifier: MIT
 *
 * The scaling number out of a report (core/wanted.h says how it is worked out).
 */
#ifndef HOST_WANTED_REPORT_H
#define HOST_WANTED_REPORT_H

#include "value/record.h"

/* The slots that the passes of a report ask for; with a fraction. busy: the share of its
 * time that a slot is to be busy. */
double wanted_report(struct slice report, double busy);
/* The slots that one pass asks for by itself, each busy all the time; with a fraction. */
double wanted_pass(struct slice report, struct slice pass);
/* The mean number of slots of a worker; 1 when there is no worker. */
double wanted_per_worker(struct slice report);

#endif
