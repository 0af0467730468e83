/* SPDX-License-Identifier: MIT
 *
 * The inside of traces: events, the rings that they wait in (trace.c), and the writer (trace_write.c).
 */
#ifndef BASE_TRACE_INNER_H
#define BASE_TRACE_INNER_H

#include <pthread.h>

#include "base/buf.h"
#include "base/trace.h"

enum { TRACE_TEXT = 70, TRACE_NUMBERS = 5, TRACE_RING = 4096, TRACE_DEPTH = 48 };

struct trace_event {
	int64_t at, length;   /* ns; at: clock_mono_ns */
	uint64_t number[TRACE_NUMBERS];
	uint8_t kind, phase;  /* enum trace_kind; 'X', 'b', 'e' or 'i', as in the file */
	char text[TRACE_TEXT]; /* cut to fit */
};

/* Calls that become one span; runs 0: there is none. */
struct trace_group {
	const void *who;      /* NULL: of several that take turns */
	uint64_t runs;
	struct trace_event event; /* number: elements, bytes, runs, ns at work */
};

/* One thread's, filled by it alone and emptied by the writer alone. */
struct trace_ring {
	struct trace_ring *next;
	int tid;
	bool named, beside;   /* the writer has told its name, and that of its output */
	_Atomic uint64_t head, tail; /* numbers of events: the next to be put, the next to be written */
	_Atomic uint64_t lost;
	uint64_t lost_told;
	atomic_bool over;     /* the thread has ended */
	char name[TRACE_TEXT];
	/* the thread's own: calls that it is in, and groups by their depth */
	unsigned depth, deepest;
	int64_t began[TRACE_DEPTH];
	struct trace_group group[TRACE_DEPTH], output;
	struct trace_event event[TRACE_RING];
};

/* All rings; the lock guards the list, and is held for a new thread and by the writer. */
struct trace_rings {
	pthread_mutex_t lock;
	struct trace_ring *first;
	int wake;             /* a ring is half full, or it is time to end */
	_Atomic int64_t gauge[TRACE_GAUGES];
};
extern struct trace_rings trace_rings;

struct trace_about {
	uint32_t pid;         /* that the file has: unique among machines, as far as can be */
	uint32_t shift;       /* added to ids of threads, to the same end */
	int64_t offset;       /* ns from clock_mono_ns to the wall clock */
};

/* The track of a thread's output. */
static inline uint32_t
trace_beside(int tid)
{
	return (uint32_t)tid | 1U << 31;
}

/* Each appends one event, and what separates it from the one before. */
void trace_json_event(const struct trace_about *a, uint32_t tid, const struct trace_event *ev, struct buf *out);
void trace_json_thread(const struct trace_about *a, uint32_t tid, const char *name, struct buf *out);
void trace_json_process(const struct trace_about *a, const char *name, int64_t wall_ns, int64_t mono_ns,
			struct buf *out);
void trace_json_gauge(const struct trace_about *a, const char *name, int64_t at_ns, int64_t value, struct buf *out);

#endif
