/* SPDX-License-Identifier: MIT
 *
 * The inside of a worker's program: worker_host.c has its loop, worker_events.c what its threads
 * tell, worker_signals.c what signals ask for, worker_bind.c what it has for readers.
 */
#ifndef HOST_WORKER_HOST_INNER_H
#define HOST_WORKER_HOST_INNER_H

#include "core/work/worker.h"
#include "host/work/lender.h"
#include "host/link.h"
#include "host/work/produce.h"
#include "host/way.h"
#include "host/work/worker_host.h"
#include "net/address.h"
#include "net/door.h"

struct worker_host_make {
	struct produce *produce;
	uint32_t takers; /* so many readers will get the part of a chunk that is wanted */
	int64_t want_ns; /* when to look for a part of a chunk again; INT64_MAX: need not */
};

struct worker_host {
	const struct worker_host_conf *conf;
	struct net *net;
	struct sock *control, *data;
	struct worker *work;
	struct produce_conf produce_conf;
	struct arenas *arenas;     /* memory that readers on this machine map, and their leases */
	struct lender *lender;
	struct produce_queue queue;
	struct produce_event *events;
	size_t cap_events;
	struct worker_host_make *makes;
	size_t n_makes, cap_makes;
	size_t listing;            /* threads that list units */
	char name[WIRE_NAME_MAX];
	struct buf bound, told;    /* told: what readers connect to, */
	struct buf endpoint;       /* and with the key that they need, if they do */
	struct way way;            /* to the dispatcher */
	struct door *door;         /* NULL: readers need no key */
	struct key data_key;
	struct link_out out;
	struct address address;
	int claim;
	bool met, drain, over;     /* met: the dispatcher has said something */
	int64_t spent_at;          /* when the workings of operators were looked at last */
	int64_t idle_ns;           /* since when there was nothing to do */
	int64_t drain_until_ns;    /* INT64_MAX: not draining */
	enum status end;           /* how it ended, once over */
	struct err *err;
};

/* Takes what threads that make elements have to say: for net_watch. */
void worker_host_events(void *arg, int fd, int events);
/* The stream is over: frees it. */
void worker_host_exit(struct worker_host *h, struct produce *m);
/* Tells the worker where the time of the stream went since it was told last. */
void worker_host_spent(struct worker_host *h, struct produce *m);
/* Ends the loop. */
void worker_host_finish(struct worker_host *h, enum status st, const struct err *e);
/* Handles signals that came: for net_watch. */
void worker_host_signal(void *arg, int fd, int events);
void worker_host_requests(void *arg, int fd, int events);
/* Binds, as asked or else the way the dispatcher was reached; met: what was seen then. */
enum status worker_host_bind(struct worker_host *h, const struct address_answer *met, struct err *e);
/* Has memory that readers on this machine can map. */
enum status worker_host_share(struct worker_host *h, struct err *e);

#endif
