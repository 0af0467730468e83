/* SPDX-License-Identifier: MIT
 *
 * An end of a pass of rounds on which all its consumers agree.
 */
#ifndef DISP_DISP_FENCE_H
#define DISP_DISP_FENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/intervals.h"

struct disp;
struct iteration;
struct msg;
struct peer;
struct seat;

struct fence {
	bool asking;              /* all are asked for the rounds that they have begun */
	uint64_t multiple;        /* it is to be one of this; 0: any number */
	bool known;               /* the end is after so many: */
	uint64_t rounds;
	struct intervals left;    /* views whose readers have had them, and closed */
};

void fence_stop(struct disp *d, struct peer *p, struct seat *r, const struct msg *m);
void fence_opened(struct disp *d, struct seat *r);      /* JOB was sent to its reader */
void fence_closed(struct disp *d, struct iteration *it, uint32_t view); /* its reader was told that all is well */
/* Whether the reader of this view has all that was agreed on. */
bool fence_reached(const struct iteration *it, size_t view);

#endif
