/* SPDX-License-Identifier: MIT
 *
 * The inside of a stream in the making: produce.c has what its thread does, produce_ask.c what the network
 * thread asks of it.
 */
#ifndef HOST_PRODUCE_INNER_H
#define HOST_PRODUCE_INNER_H

#include <pthread.h>
#include <stdatomic.h>

#include "host/work/deal.h"
#include "host/work/plans.h"
#include "host/work/produce.h"
#include "host/work/produce_env.h"
#include "host/work/produce_fault.h"
#include "host/work/produce_service.h"
#include "host/work/produce_skip.h"
#include "host/work/produce_step.h"
#include "host/work/produce_tap.h"
#include "host/work/produce_times.h"
#include "host/work/split_trace.h"

enum {
	PRODUCE_PAUSE_NS = 1000000, /* between parts of chunks that go out early */
	PRODUCE_AHEAD = 1 << 20     /* bytes of chunks in the queue */
};

struct produce {
	struct msg_assign assign;
	const struct produce_conf *conf;
	struct produce_queue *queue;

	atomic_bool stop;          /* also read by the chain */
	pthread_mutex_t lock;      /* guards what follows, up to the next blank line */
	pthread_cond_t changed;
	struct builder builder;
	struct deal *deal;         /* in rounds, in place of it */
	int64_t cut_ns;            /* when a chunk was last cut */
	bool want, stalled, handover;
	bool rest;                 /* the thread is to be given up */
	bool active;               /* has a thread, or is about to have one */
	size_t ahead;              /* bytes of chunks in the queue */
	struct produce_step step;
	uint64_t split;            /* the next one to be asked for */
	struct split_list splits;  /* to come */
	size_t split_at;           /* index of the next split */
	bool no_more_splits;
	struct produce_times times;
	_Atomic uint32_t streams;  /* in all, once known */
	atomic_bool reached;       /* set by the chain */

	struct produce_fault fault;
	struct produce_tap tap;

	/* used by the thread that it has now */
	struct plan_use *use;
	struct op_inst *chain;
	_Atomic(const struct op_inst *) stored; /* op_stored of it, for the threads in it */
	bool opened;
	struct op_ctx ctx;
	struct op_ended ended;
	struct service service;    /* for datasets of other services */
	struct produce_env env;    /* for the children of exec */
	uint64_t offset, made;     /* the next element; produced by this thread */
	uint64_t from_split;       /* the split that the elements in the builder came from */
	struct produce_skip skip;
	int64_t restart_ns;        /* when a restart point was last told */
	unsigned pack_pause;
	struct split_trace traced;
};

/* Sends what there is of a chunk; with the lock held. */
void produce_cut(struct produce *m);
/* Has the stream get a thread. It is the network thread's to say so: `active` is set. */
void produce_give(struct produce *m);

#endif
