/* SPDX-License-Identifier: MIT
 *
 * The worker's state machine (core) on sockets, a clock and threads: one
 * network thread (the caller's) and one thread for each stream (produce.h).
 */
#ifndef HOST_WORKER_HOST_H
#define HOST_WORKER_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/param.h"
#include "host/chunk.h"
#include "host/work/fence.h"
#include "value/job_opts.h"

/* Whether readers that come by TCP need the worker's key. */
enum worker_data_way { WORKER_DATA_AUTO, WORKER_DATA_CLEAR, WORKER_DATA_ENCRYPTED };
#define WORKER_DATA_CHOICES "auto|clear|encrypted"

struct worker_host_conf {
	const char *dispatcher; /* address */
	const char *from;       /* where it came from, for messages */
	const char *bind;       /* NULL: as the dispatcher is reached */
	const char *advertise;  /* told to readers; NULL: where it was bound */
	enum worker_data_way data;
	const struct fence_conf *fence; /* says what pipelines may do here */
	uint32_t slots;
	size_t memory;          /* bytes of chunks kept */
	const char *name;       /* NULL: HOST:PID */
	const struct words *tags;
	enum job_compression pack;
	enum job_transfer transfer; /* to readers on this machine */
	int64_t restart_ns;     /* between restart points; 0: none */
	int64_t give_up_ns;     /* without a durable dispatcher; 0: for ever */
	int64_t drain_ns;       /* draining takes no longer than this */
	int64_t idle_ns;        /* drains when it had nothing to do for so long; 0: never */
	bool until_stdin_eof;
	/* Can serve and the dispatcher knows it: called once. */
	enum status (*ready)(void *arg, const char *address, struct err *e);
	void *arg;
};

/* Catches the signals that end a worker: before worker_host_run, which ends for one that came already. */
void worker_host_signals(void);
/* From now on it lives for so long, and then drains as if told by a signal; 0: for ever. */
void worker_host_lives(int64_t ns);
/* Serves until drained (a signal, the end of stdin): ST_OK, or an error; ST_AGAIN: told to end before
 * there was a dispatcher. */
enum status worker_host_run(const struct worker_host_conf *c, struct err *e);

#endif
