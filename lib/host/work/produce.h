/* SPDX-License-Identifier: MIT
 *
 * One stream in the making: on a thread (turns.h) that runs the stream's chain and cuts
 * what comes out into chunks. The network thread starts, stalls, stops and feeds it;
 * what it has to say goes into a queue that wakes the network thread.
 *
 *	produce_new  ->  thread: plan, open, restore, pull ... -> events -> PRODUCE_EXIT -> produce_free
 *	                        produce_rest -> PRODUCE_RESTED: its chain stays open without a
 *	                        thread, until produce_go gives it one, the same or another
 *
 * Events of one stream come in their order. After produce_stop the stream is over as
 * soon as its chain lets it; its last event is always PRODUCE_EXIT.
 */
#ifndef HOST_PRODUCE_H
#define HOST_PRODUCE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "host/chunk.h"
#include "op/op.h"
#include "wire/msg.h"

struct produce;

enum produce_kind {
	PRODUCE_CHUNK,   /* chunk, view; split: from which it came */
	PRODUCE_REST,    /* chunk: an element that does not fill a round; can: null, to be put where one is missing */
	PRODUCE_FAULTS,  /* number: elements that failed; faults */
	PRODUCE_STORES,  /* number: files; split: elements in them; made: bytes; err: why it stands still, NULL: it does not */
	PRODUCE_SPLIT,   /* number: the split that is being read now; made: elements stored without giving any */
	PRODUCE_RESTART, /* number: offset; split: the first to ask for; state */
	PRODUCE_HANDED,  /* can; if so as PRODUCE_RESTART, and made */
	PRODUCE_ENDED,   /* number: length; made */
	PRODUCE_FAILED,  /* err, made; number: elements before it; split: that was being read */
	PRODUCE_LISTED,  /* req, units */
	PRODUCE_TAPPED,  /* tapped */
	PRODUCE_STEP,    /* number: the next element of a careful stream; can: its chain is ahead of it */
	PRODUCE_RESTED,  /* has no thread now */
	PRODUCE_EXIT     /* the stream is over: produce_free */
};
struct produce_event {
	enum produce_kind kind;
	struct produce *produce;    /* PRODUCE_LISTED: NULL */
	struct stream_key key;
	struct chunk *chunk;  /* given, as all that follows */
	uint64_t number, split, made, req;
	uint32_t view;        /* WORKER_ALL_VIEWS: all */
	struct buf state;
	struct err *err;
	struct msg_units *units;
	struct msg_faults_list faults;
	struct msg_tapped tapped;
	bool can;
	bool reached;         /* an element has come to the repeat that is watched (op_ctx.reached) */
	struct op_ended ended; /* PRODUCE_SPLIT: the split before that one lay behind the end of its source */
};

/* From the threads to the one that owns it. */
struct produce_queue {
	pthread_mutex_t lock;
	struct produce_event *v;
	size_t n, cap;
	int fd;               /* readable when there is something */
};
void produce_queue_init(struct produce_queue *q);
void produce_queue_clear(struct produce_queue *q);
void produce_queue_push(struct produce_queue *q, const struct produce_event *ev);
/* Moves all events into *v (grown as needed, the caller's); gives how many. */
size_t produce_queue_take(struct produce_queue *q, struct produce_event **v, size_t *cap);
void produce_event_clear(struct produce_event *ev);

struct produce_conf {
	struct turns *turns;    /* where threads come from */
	const char *worker;     /* its name, for messages */
	enum job_compression pack; /* unless the job says */
	struct arenas *arenas;  /* memory that readers map; while it is in use, only jobs that say so are compressed */
	int64_t restart_ns;     /* between restart points; 0: none */
};

/* Starts. Takes the parts of assign (left empty). conf and queue outlive it. */
struct produce *produce_new(struct msg_assign *assign, const struct produce_conf *conf,
			    struct produce_queue *q);
struct stream_key produce_key(const struct produce *m);
void produce_stop(struct produce *m);          /* whatever it does */
bool produce_stopped(const struct produce *m);
void produce_stall(struct produce *m, bool stalled);
void produce_rest(struct produce *m);          /* answers PRODUCE_RESTED, unless it is over */
void produce_go(struct produce *m);            /* after that */
/* A chunk of `bytes` bytes has been taken out of the queue: without it, a
 * network thread that gets no processor would let the queue grow without end. */
void produce_taken(struct produce *m, size_t bytes);
/* Calls `tell` for each operator of its chain with the time spent in it since it was told last. Gives for how
 * long the call lasts that is under way (0: none is), and its operator. */
uint64_t produce_spent(struct produce *m, void (*tell)(void *arg, const struct msg_op_time *t), void *arg,
		       uint32_t *in);
/* Answers PRODUCE_TAPPED as elements come by, until n of them have; takes the place of what was asked before. */
void produce_tap(struct produce *m, const struct msg_tap *ask);
void produce_step(struct produce *m, bool free); /* answers PRODUCE_STEP; free: there will be none again */
void produce_handover(struct produce *m);      /* answers PRODUCE_HANDED */
/* The next splits in order; takes the list. */
void produce_splits(struct produce *m, struct msg_split *s);
/* A reader of this view waits (WORKER_ALL_VIEWS: of any, or time has gone by): gives a part of a chunk
 * as an event, once there is one and at least a millisecond for each of its takers after the last.
 * Gives when to call again; INT64_MAX: need not. */
int64_t produce_want(struct produce *m, uint32_t view, uint32_t takers, int64_t now_ns);
void produce_free(struct produce **m);         /* after PRODUCE_EXIT */

/* Lists the units of a spec on a thread of its own: PRODUCE_LISTED. Takes spec. */
void produce_list(struct msg_list *list, const char *worker, uint64_t req, struct produce_queue *q);
/* Has those who list end soon, as far as they wait for servers; what they push then is worth nothing. For good. */
void produce_list_stop(void);

#endif
