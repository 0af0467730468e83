/* SPDX-License-Identifier: MIT
 *
 * -j N: the part of a plan that looks at each element alone, run by N threads on
 * splits of its source, and its elements given back in the order of the source.
 *
 *	thread: split 0 --> [run][run]        \
 *	thread: split 1 --> [run][run][run]    > crew_next: piece 0, then 1, then 2, ...
 *	thread: split 2 --> [run]             /
 *
 * Splits are handed out in the source's order. Those that are ahead of the one
 * being given wait in memory, at most CREW_AHEAD of them per thread and CREW_BYTES
 * each; then their threads wait. What stands behind that part runs in the caller's
 * thread. Expressions that use the index i, which counts over the whole, and
 * functions that draw random numbers end the part.
 */
#ifndef RUN_CREW_H
#define RUN_CREW_H

#include "lang/spec.h"
#include "meter.h"

enum { CREW_AHEAD = 4, CREW_BYTES = 4 << 20 };

struct crew;

/* Puts a crew into the plan in place of the part that it runs, for `jobs`
 * threads. NULL: no part of the plan can be run so. Gives. */
struct crew *crew_join(struct plan *p, int64_t jobs);
/* What stands in the plan for the part that the threads run. */
const struct op_node *crew_front(const struct crew *c);
/* After the chain was closed: adds what the threads' operators counted. */
void crew_meter(const struct crew *c, struct meter *to);
/* Takes it out again: before plan_free, after the chain was closed. */
void crew_leave(struct crew **c, struct plan *p);

#endif
