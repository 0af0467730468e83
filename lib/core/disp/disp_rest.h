/* SPDX-License-Identifier: MIT
 *
 * Jobs that are over and that nobody reads: their passes are packed. Nobody outside the
 * dispatcher includes this.
 */
#ifndef DISP_DISP_REST_H
#define DISP_DISP_REST_H

#include "core/disp/disp_inner.h"

/* Packs the passes of the job if it is over and nobody reads it, and their rows are written. */
void job_rest(struct disp *d, struct job *j);
/* It may be put to rest, once the rows are written. */
void job_rest_soon(struct disp *d, struct job *j);
/* Its passes are there again, unpacked; they are put to rest once more if nobody comes. */
void job_wake(struct disp *d, struct job *j);
/* Its passes one by one, each unpacked only meanwhile, with what its row has and its sums; their number. */
void rest_look(struct job *j, void (*see)(void *arg, const struct iteration *it), void *arg);
size_t rest_passes(const struct job *j);
/* Wakes the job that has this pass; NULL: none does. */
struct iteration *rest_find(struct disp *d, uint64_t id);

#endif
