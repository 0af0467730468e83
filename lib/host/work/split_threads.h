/* SPDX-License-Identifier: MIT
 *
 * -j N: the part of a plan that looks at each element alone, run by N threads on
 * splits of its source, and its elements given back in the order of the source.
 *
 *	thread: split 0 --> [run][run]        \
 *	thread: split 1 --> [run][run][run]    > split_threads_next: piece 0, then 1, then 2, ...
 *	thread: split 2 --> [run]             /
 *
 * Splits are handed out in the source's order. Those that are ahead of the one
 * being given wait in memory, at most SPLIT_THREADS_AHEAD of them per thread with
 * SPLIT_THREADS_BYTES each; then their threads wait. What stands behind that part runs
 * in the caller's thread. Expressions that use the index i, which counts over the
 * whole, and functions that draw random numbers end the part.
 */
#ifndef HOST_SPLIT_THREADS_H
#define HOST_SPLIT_THREADS_H

#include "host/work/run_stats.h"
#include "lang/spec.h"

enum { SPLIT_THREADS_AHEAD = 4, SPLIT_THREADS_BYTES = 4 << 20 };

struct split_threads;

/* Puts `jobs` threads into the plan in place of the part that they run. NULL: no
 * part of the plan can be run so. Gives. */
struct split_threads *split_threads_join(struct plan *p, int64_t jobs);
/* The node that stands in the plan for the part that the threads run. */
const struct op_node *split_threads_front(const struct split_threads *c);
/* After the chain was closed: adds what the threads' operators counted. */
void split_threads_stats(const struct split_threads *c, struct run_stats *to);
/* Takes the threads out of the plan again and frees them: before plan_free, after the chain was closed. */
void split_threads_leave(struct split_threads **c, struct plan *p);

#endif
