/* SPDX-License-Identifier: MIT
 *
 * --trace FILE: what each thread of this process does, and when, as Trace Event JSON, which Perfetto
 * (ui.perfetto.dev) and chrome://tracing open.
 *
 *	thread: trace_enter ... trace_leave --> its ring --\
 *	thread: trace_span                  --> its ring ----> the writer, a thread --> FILE
 *	any:    trace_gauge                 --> one number --/
 *
 * A thread takes no lock and makes no system call for an event. When its ring is full, events are
 * dropped and their number is told. Calls of one operator that follow each other closely become one span
 * of a few milliseconds, with the sums of what they did, so that a fast pipeline does not drown in its trace. Where
 * operators take turns within a fifth of a millisecond, as the inputs of zip do, they share one that has their names.
 *
 * Times are microseconds of the wall clock, as it was set at the start, so that traces of several processes
 * and machines line up when they are opened together. FILE is an array of which whole events are appended:
 * that of a process that is killed lacks the bracket at its end, which both programs accept.
 *
 * While tracing is off, a call costs a look at one variable.
 */
#ifndef BASE_TRACE_H
#define BASE_TRACE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

/* The subject of an event; trace_json.c has the names of its numbers. */
enum trace_kind {
	TRACE_OPERATOR, /* by trace_enter and trace_leave, like the next one */
	TRACE_INSIDE,   /* pieces of an operator's work on a thread of the pool */
	TRACE_OUTPUT,   /* by trace_output */
	TRACE_STREAM,   /* iteration, stream, element at which the turn began */
	TRACE_SPLIT,    /* elements read before it; a task */
	TRACE_NO_SPLIT, /* waits for a split */
	TRACE_HELD,     /* held back by those who take its elements */
	TRACE_CHUNK,    /* a chunk is handed over: elements, bytes, stream */
	TRACE_SEND,     /* and sent: elements, bytes, stream */
	TRACE_RECEIVE,  /* elements, bytes, stream */
	TRACE_NOTHING,  /* waits for elements to come */
	TRACE_RESTART,  /* a restart point: elements before it, bytes of state */
	TRACE_COMMIT,   /* something is made durable: elements, bytes */
	TRACE_OPEN,     /* a file is opened: errno */
	TRACE_REQUEST,  /* a request of an object elsewhere: HTTP status, first byte; a task */
	TRACE_PROGRAM,  /* a child: pid, slot, element; pid, exit code, signal; a task */
	TRACE_LOST,     /* events that were dropped */
	TRACE_KINDS
};

/* Numbers that are shown as curves, summed up over all threads. */
enum trace_gauge {
	TRACE_ELEMENTS, /* a total, of which the rate is shown */
	TRACE_BYTES,    /* likewise */
	TRACE_QUEUED,   /* bytes of chunks that have been made and not taken by the network thread */
	TRACE_AHEAD,    /* runs that wait behind prefetch */
	TRACE_PROGRAMS, /* children that run */
	TRACE_GAUGES
};

extern atomic_bool trace_is_on;

static inline bool
trace_on(void)
{
	return atomic_load_explicit(&trace_is_on, memory_order_relaxed);
}

/* Opens the file, which is emptied, and begins; path NULL: nothing is traced. what: names the process besides its
 * program and pid; may be NULL. most: bytes that the file may have; tracing ends there, and it is said. To be called
 * before there are other threads. ST_IO: it cannot be written. */
enum status trace_start(const char *path, int64_t most, const char *what, struct err *e);
/* Writes what is left, and closes the file. Called at exit by itself; harmless when called again. */
void trace_end(void);

/* Begins a call of `who`, an address that is the same for calls that are to become one span. */
void trace_enter(const void *who, int64_t now_ns);
/* Ends the call that was entered last. */
void trace_leave(const void *who, enum trace_kind kind, const char *name, uint64_t elements, uint64_t bytes,
		 int64_t now_ns);
/* Elements were written from one moment to another: becomes spans likewise, on a track of its own, since it takes turns
 * with the operators. */
void trace_output(int64_t began_ns, int64_t ended_ns, uint64_t elements, uint64_t bytes);
/* The thread has nothing to do for now: what is summed up goes out. */
void trace_flush(void);

/* When something begins: now, or 0 when nothing is traced. */
int64_t trace_begin(void);
/* It ends now: a span, unless began is 0. name may be NULL. */
void trace_span(int64_t began, enum trace_kind kind, const char *name, uint64_t a, uint64_t b, uint64_t c);
/* Tasks go on beside what threads do, and may end on another thread: the same kind, id and name begin and end one. */
void trace_task(enum trace_kind kind, uint64_t id, const char *name, uint64_t a, uint64_t b, uint64_t c);
void trace_task_over(enum trace_kind kind, uint64_t id, const char *name, uint64_t a, uint64_t b, uint64_t c);

void trace_gauge_add(enum trace_gauge g, int64_t n);
static inline void
trace_gauge(enum trace_gauge g, int64_t n)
{
	if (trace_on())
		trace_gauge_add(g, n);
}

/* Names the calling thread; thread_start does it. */
void trace_thread(const char *name);

#endif
