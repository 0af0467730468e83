/* SPDX-License-Identifier: MIT
 *
 * Tells how far a run is, from a thread of its own: elements, rate, and, where the
 * sources' sizes are known, the share that is done and the time that is left.
 */
#ifndef RUN_WATCH_H
#define RUN_WATCH_H

#include "cli/progress.h"
#include "op/op.h"
#include "value/format/format.h"

struct watch;

struct watch_conf {
	const struct op_node *top;
	const char *output;      /* name of the file that is written; NULL: standard output */
	enum format_kind format;
	int64_t count;           /* the run ends after this many elements; INT64_MAX: never */
	int when;                /* enum progress_when */
	bool quiet;
};

/* Looks which sources the plan has, whose nodes must live until watch_end. Gives. */
struct watch *watch_new(const struct watch_conf *c);
/* Begins, once the output is open; *intake is to be counted by the run's chain. Where the system
 * has no thread or descriptor left for it there is no progress, and the run goes on. */
void watch_begin(struct watch *w, struct op_intake **intake);
/* This many more elements have been written. */
void watch_add(struct watch *w, uint32_t elements);
/* Ends the thread, if it was begun, and takes the line away. */
void watch_end(struct watch **w);

#endif
