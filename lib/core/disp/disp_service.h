/* SPDX-License-Identifier: MIT
 *
 * What a report says of the service itself. Nobody outside the dispatcher includes this.
 */
#ifndef DISP_DISP_SERVICE_H
#define DISP_DISP_SERVICE_H

#include <stdint.h>

struct buf;
struct disp;
struct iteration;
struct stream;

/* Why a stream goes to another worker. */
enum move_cause {
	MOVE_LOST,        /* its worker is silent, or knows nothing of it */
	MOVE_DRAINED,     /* its worker leaves in order */
	MOVE_UNREACHABLE, /* readers do not reach its worker */
	MOVE_BALANCED,    /* it is of more use elsewhere: on an idle slot, or on a host with readers */
	MOVES
};

struct service {
	int64_t began;       /* when this process did; */
	uint64_t started_ms; /* since 1970; 0: not told yet */
	uint64_t moves[MOVES]; /* streams that went to another worker since then */
};

/* Fences the stream, and counts that if it had a worker. */
void service_move(struct disp *d, struct stream *s, enum move_cause why);
enum { SERVICE_PAIRS = 5 };
void service_report(struct buf *b, const struct disp *d);
/* The splits that are not given out yet, counted as the smallest that they may be cut to; nil: not known. */
void service_splits(struct buf *b, const struct iteration *it);

#endif
