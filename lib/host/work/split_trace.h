/* SPDX-License-Identifier: MIT
 *
 * The split that a stream reads, as a task in a trace (base/trace.h): it begins when it is handed out, and ends when
 * the next one is.
 */
#ifndef HOST_SPLIT_TRACE_H
#define HOST_SPLIT_TRACE_H

#include "value/split.h"

/* Zero: there is none. */
struct split_trace {
	char text[64]; /* "": none is under way in a trace */
};

/* s NULL: there are no more. id: of the stream, among those of this process; elements: made so far. */
void split_trace_next(struct split_trace *t, uint64_t id, const struct split *s, uint64_t elements);

#endif
