/* SPDX-License-Identifier: MIT
 *
 * The dispatcher's state machine (core) on a socket and a clock, and its rows
 * in a store. One thread.
 *
 *	all messages that wait -> state machine -> rows, one commit -> messages out
 *
 * so that requests which come together share a transaction.
 */
#ifndef HOST_DISPATCH_HOST_H
#define HOST_DISPATCH_HOST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/param.h"

struct store;

struct dispatch_conf {
	char *const *binds;     /* addresses, at least one */
	size_t n_binds;
	const char *advertise;  /* where others find the first address; NULL: there */
	bool insecure;          /* TCP without keys */
	char *own;              /* private address that is bound besides, with keys, if nobody has it; NULL: none */
	const char *allowed;    /* file of allowed keys; NULL: the usual one */
	const char *state;      /* folder of the state; NULL: nothing is kept */
	struct store *store;    /* NULL: nothing is kept */
	int64_t idle_ns;        /* exit when idle for so long; 0: never */
	int64_t job_gc_ns, unfinished_gc_ns, group_gc_ns, dataset_gc_ns;
	uint32_t beat_ms, loss_ms;
	bool until_stdin_eof;
	/* Can serve: called once with the first address as others are told it, its public key if it has one,
	 * or NULL, and words about keys, or "". */
	enum status (*ready)(void *arg, const char *address, const char *key, const char *keys, struct err *e);
	void *arg;
};

/* Serves until a signal, idleness or the end of stdin: ST_OK. */
enum status dispatch_run(const struct dispatch_conf *c, struct err *e);

#endif
