/* SPDX-License-Identifier: MIT
 *
 * The time that the thread of a stream spends in each operator, and the elements that come
 * out of it, taken from a chain while it runs: the chain counts with two looks at the
 * clock for each run, and is not held up by those that look. The time of an operator is
 * its own, without that of those before it; inner pipelines count for the operator that
 * they stand in. The time for which a source waits for splits is left out.
 */
#ifndef HOST_PRODUCE_TIMES_H
#define HOST_PRODUCE_TIMES_H

#include "base/blocked.h"
#include "op/op.h"
#include "wire/msg.h"

struct produce_time { uint32_t place; uint64_t spent, told, elements, told_elements; };
/* Zero is empty. */
struct produce_times {
	const struct op_inst *chain; /* open, with ctx->timed; NULL: none. Lent until it is set to NULL again */
	struct produce_time *v;
	size_t n, cap;
	struct blocked splits;       /* waiting for splits */
	uint64_t call_ns;            /* for how long the call lasts that was under way, at the last look; 0: none was */
	uint32_t call_place;         /* its operator */
};

/* Takes over what the chain says now. */
void produce_times_look(struct produce_times *t);
/* Tells what is new since the last call: calls `tell` for each operator of which there is some. */
void produce_times_tell(struct produce_times *t, void (*tell)(void *arg, const struct msg_op_time *t), void *arg);
void produce_times_clear(struct produce_times *t);

#endif
