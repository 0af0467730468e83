/* SPDX-License-Identifier: MIT
 *
 * OPENs that wait for an answer.
 */
#ifndef DISP_DISP_WAITING_H
#define DISP_DISP_WAITING_H

#include <stdbool.h>
#include <stdint.h>

#include "core/disp/ring.h"
#include "value/job_opts.h"
#include "value/round.h"
#include "wire/msg.h"

struct disp;
struct iteration;
struct peer;

/* The elements of a job that a reader asks for. */
struct asked {
	struct job_shards only;   /* streams */
	struct round_part part;   /* and of these places in the rounds of each */
	const char *group;        /* lent: which one asks, in a shared job */
};

struct waiting {              /* an OPEN that is not answered yet */
	struct peer *peer;
	struct iteration *iter;
	uint64_t req;
	int64_t until;
	uint32_t min_workers, wait_ms;
	uint64_t from, bytes;     /* bytes: of `have` */
	bool checkpoint;
	char *shard;
	struct asked asked;
	char *group;
	bool from_start;
	struct ranges_list have;
	struct words took;        /* consumers of another number whose positions it has */
	struct marks marks;       /* rounds that it can go on from; none: any */
	char *host;               /* in iteration.hosts */
	struct list_node node, by_until;
};

void waiting_answer(struct disp *d, struct iteration *it);              /* the OPENs that can be answered */
void waiting_error(struct disp *d, struct waiting *w, uint32_t code, const char *text, const char *help);
bool waiting_clear(struct waiting *w); /* leaves its job as it is; true: the last on its host */
void waiting_free(struct disp *d, struct waiting *w);                /* may free the job */
void waiting_tick(struct disp *d);
void waiting_until(struct disp *d, struct waiting *w, int64_t until); /* it is refused then */

#endif
