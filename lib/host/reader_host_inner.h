/* SPDX-License-Identifier: MIT
 *
 * A reader's two threads: the caller's (reader_host.c) and the network's
 * (reader_net.c).
 *
 *	network --items, end--> caller        under the lock, told by `fd`
 *	caller --written, close--> network    under the lock, told by `wake`
 */
#ifndef HOST_READER_HOST_INNER_H
#define HOST_READER_HOST_INNER_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/hash.h"
#include "core/read/reader.h"
#include "host/borrower.h"
#include "host/why.h"
#include "host/link.h"
#include "host/way.h"
#include "host/reader_host.h"
#include "net/sock.h"

/* Size of the elements in one chunk, with some room for what surrounds them. */
#define READER_NET_FRAME_MAX ((size_t)1 << 30)

/* A chunk as it came. The state machine has one reference, each item that is to
 * be delivered another: the machine may drop it (all is over) while the caller's
 * thread is looking into it. */
struct held {
	atomic_int refs;
	struct block *block;  /* the payload; once unpacked, that */
	uint64_t raw_len;
	uint32_t count, codec;
	const char *worker;   /* where it came from, interned; NULL: not known any more */
	/* where element `at` begins, for pieces that begin in the middle */
	uint32_t at;
	size_t at_byte;
};

struct item {
	struct held *held;
	uint32_t first, count, stream;
	uint64_t offset;
};

/* A round after so many of the elements that are not told yet, and what the output has then. */
struct host_mark { uint64_t at, bytes, elements; };

/* A connection to a worker. */
struct reader_link {
	uint64_t worker;
	const char *endpoint;       /* interned */
	struct borrower *borrower;  /* NULL: copies are wanted */
	bool shared;                /* its memory is mapped */
	bool warned;                /* that it cannot be reached */
	struct msg *credits;        /* --transfer shm: not given before it is */
	size_t n_credits, cap_credits;
};

struct reader_host {
	char name[LINK_NAME];     /* for people: HOST:PID */
	struct reader_host_conf conf;
	struct net *net;
	struct sock *control, *data;
	struct reader *read;
	struct link_out out;
	pthread_t thread;
	bool started, met;          /* met: the dispatcher has said something */
	char *texts[3];             /* the texts of conf */
	struct way way;             /* to the dispatcher */
	bool keyed;                 /* data has keys: some worker asked for them */
	struct held *lent;          /* chunk of the piece taken last */
	struct hash links;          /* struct reader_link, by worker */
	uint64_t unreached;         /* worker whose memory could not be reached when it was tried last */
	struct why *why;            /* why workers cannot be reached */
	size_t shared;              /* number of links whose memory is mapped */

	int fd, wake, stop_fd;
	pthread_mutex_t lock;
	struct reader_feeds feeds;  /* the use of the elements, as the caller said */
	struct item *items;         /* a queue: from items_at on */
	size_t items_at, n_items, cap_items;
	bool readable, over, gone;  /* fd is readable; all is said; the thread is over */
	enum status code;           /* once over */
	struct err err;
	struct msg result;          /* DONE: what failed; once over */
	uint64_t written;           /* not yet told to the state machine, */
	struct host_mark *marks;    /* and the rounds in it that are marked */
	size_t n_marks, cap_marks;
	bool closing, keep, leave;  /* asked for; leave: end at once */
	struct buf *position;       /* where the caller waits for it */
	uint64_t position_n;        /* after so many elements, which are then told; UINT64_MAX: after all */
	bool saved, release, end_told;
	bool stopping, stop_told;   /* an agreed end is asked for; the state machine knows */
	uint64_t stop_rounds, stop_multiple;
	bool halted, fenced;        /* another one asks for it; it is known */
	uint64_t fence;
	uint64_t taken;             /* elements, by the caller */
	pthread_cond_t placed;      /* position is there, or the thread is over */
	struct reader_stats stats;
	bool job_known;
	struct msg job_msg;
	struct reader_host_job job;
};

void held_unref(struct held *h); /* accepts NULL */

/* The network's side: handlers of the sockets and the thread. */
void reader_net_told(void *arg, struct sock_msg *in);
void reader_net_stranger(void *arg, uint64_t peer);
void reader_net_denied(void *arg, uint64_t peer, enum sock_denied why);
void reader_net_data(void *arg, struct sock_msg *in);
/* Answers the caller who waits for a position; with the lock. */
void reader_net_position(struct reader_host *c);
void reader_net_turned(void *arg, uint64_t peer);
bool reader_net_renew(void *arg, const char **list, const struct key **keys);
void reader_net_control_broke(void *arg, uint64_t peer);
void reader_net_worker_broke(void *arg, uint64_t peer);
void reader_net_worker_up(void *arg, uint64_t peer);
void reader_net_woken(void *arg, int fd, int events);
void *reader_net_thread(void *arg);
/* Tells the state machine what was written and marked. */
void reader_net_written(struct reader_host *c, int64_t now, uint64_t written, const struct host_mark *marks, size_t n);
void reader_net_unlink_all(struct reader_host *c);

#endif
