/* SPDX-License-Identifier: MIT
 *
 * One stream in the making: on a thread (turns.h) that runs the stream's chain and cuts
 * what comes out into chunks. The network thread starts, stalls, stops and feeds it;
 * what it has to say goes into a queue that wakes the network thread.
 *
 *	make_new  ->  thread: plan, open, restore, pull ... -> events -> MAKE_EXIT -> make_free
 *	                        make_rest -> MAKE_RESTED: its chain stays open without a
 *	                        thread, until make_go gives it one, the same or another
 *
 * Events of one stream come in their order. After make_stop the stream is over as
 * soon as its chain lets it; its last event is always MAKE_EXIT.
 */
#ifndef HOST_MAKE_H
#define HOST_MAKE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "host/chunk.h"
#include "wire/msg.h"

struct make;

enum make_kind {
	MAKE_CHUNK,   /* chunk; split: from which it came */
	MAKE_FAULTS,  /* number: elements that failed; faults */
	MAKE_SPLIT,   /* number: the split that is being read now */
	MAKE_RESTART, /* number: offset; split: the first to ask for; state */
	MAKE_HANDED,  /* can; if so as MAKE_RESTART, and made */
	MAKE_ENDED,   /* number: length; made */
	MAKE_FAILED,  /* err, made; number: elements before it; split: that was being read */
	MAKE_LISTED,  /* req, units */
	MAKE_RESTED,  /* has no thread now */
	MAKE_EXIT     /* the stream is over: make_free */
};
struct make_event {
	enum make_kind kind;
	struct make *make;    /* MAKE_LISTED: NULL */
	struct stream_key key;
	struct chunk *chunk;  /* given, as all that follows */
	uint64_t number, split, made, req;
	struct buf state;
	struct err *err;
	struct msg_units *units;
	struct msg_faults_list faults;
	bool can;
};

/* From the threads to the one that owns it. */
struct make_queue {
	pthread_mutex_t lock;
	struct make_event *v;
	size_t n, cap;
	int fd;               /* eventfd: readable when there is something */
};
void make_queue_init(struct make_queue *q);
void make_queue_clear(struct make_queue *q);
void make_queue_push(struct make_queue *q, const struct make_event *ev);
/* Moves all events into *v (grown as needed, the caller's); gives how many. */
size_t make_queue_take(struct make_queue *q, struct make_event **v, size_t *cap);
void make_event_clear(struct make_event *ev);

struct make_conf {
	struct turns *turns;    /* where threads come from */
	const char *worker;     /* its name, for messages */
	enum chunk_pack pack;
	int64_t restart_ns;     /* between restart points; 0: none */
};

/* Starts. Takes the parts of assign (left empty). conf and queue outlive it. */
struct make *make_new(struct msg_assign *assign, const struct make_conf *conf,
		      struct make_queue *q);
struct stream_key make_key(const struct make *m);
void make_stop(struct make *m);          /* whatever it does */
bool make_stopped(const struct make *m);
void make_stall(struct make *m, bool stalled);
void make_rest(struct make *m);          /* answers MAKE_RESTED, unless it is over */
void make_go(struct make *m);            /* after that */
/* A chunk of so many bytes has been taken out of the queue: without it, a
 * network thread that gets no processor would let the queue grow without end. */
void make_taken(struct make *m, size_t bytes);
void make_handover(struct make *m);      /* answers MAKE_HANDED */
/* The next splits in order; takes the list. */
void make_splits(struct make *m, struct msg_split *s);
/* A reader waits: gives a part of a chunk as an event, once there is one and at
 * least a millisecond after the last. Gives when to call again; INT64_MAX: need not. */
int64_t make_want(struct make *m, int64_t now_ns);
void make_free(struct make **m);         /* after MAKE_EXIT */

/* Lists the units of a spec on a thread of its own: MAKE_LISTED. Takes spec. */
void make_list(struct msg_list *list, uint64_t req, struct make_queue *q);

#endif
