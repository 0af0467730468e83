/* SPDX-License-Identifier: MIT
 *
 * Positions that readers come with: whether the pass has gone on from them.
 */
#ifndef DISP_DISP_RESUME_H
#define DISP_DISP_RESUME_H

#include "core/disp/disp_inner.h"

/* The number of streams of the job, asked for or found; 0: not known yet. */
uint32_t job_shards(const struct job *j);
/* A new job that a position begins: it says how many streams there were, but not whether anybody asked for so many. */
void job_from_position(struct job *j, const struct msg *m);
/* A job of which no pass has streams yet, and whose number nobody asked for, takes that of a position. */
void job_shards_take(struct disp *d, struct job *j, const struct msg *m);
/* The number of streams that is asked for: a position says the number that was found where none was asked for. */
uint64_t job_asked_shards(const struct job *j, const struct msg *m, uint32_t places);
/* Whether the iteration's reader of that view has acknowledged more than this position knows of. */
bool job_went_on(const struct iteration *it, const struct ranges_list *have, const struct asked *asked, uint32_t view);
/* A position without an iteration, from which this one has gone on: it is refused, and answered. */
bool job_passed(struct disp *d, struct peer *p, const struct msg *m, const struct iteration *it,
		const struct asked *asked);

#endif
