/* SPDX-License-Identifier: MIT
 *
 * Limits on what strangers who connect to a bound socket can make libzmq hold.
 *
 * libzmq has no such limits: it collects a message of any number of frames, and keeps a
 * connection that says nothing. What it does is seen from outside: its monitor tells
 * which descriptor was opened and closed, the system how many bytes came in over a TCP
 * connection, and we know how many of them reached us. The difference is what libzmq
 * (or the system) holds. A connection that is over a limit is shut down, and libzmq
 * then closes it as it does any that breaks:
 *
 *	silent connections    at most GUARD_SILENT, or a quarter of the descriptors that
 *	                      this process may have; beyond that the oldest goes
 *	bytes not delivered   GUARD_FIRST before the first message, GUARD_OWED later,
 *	                      GUARD_ALL for all connections together: the one with
 *	                      most goes first
 *
 * The bytes are looked at every GUARD_EVERY_MS, so what comes in between may add to them.
 * Sockets of the ipc kind count as silent ones too; how many bytes came over them the
 * system does not tell, and only their owner can connect to them.
 *
 * A descriptor may have been closed and used again by the time it is shut down, so
 * each connection is known by the cookie that the kernel gives a socket.
 */
#ifndef NET_GUARD_H
#define NET_GUARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	GUARD_SILENT = 1024,
	GUARD_FIRST = 4 << 20,
	GUARD_OWED = 64 << 20,
	GUARD_ALL = 256 << 20,
	GUARD_EVERY_MS = 200
};

struct guard_conn;
struct guard_turn;

struct guard {
	struct guard_conn *conns; /* by descriptor */
	size_t n_conns;
	size_t open, silent, silent_max;
	struct guard_turn *turns; /* connections in the order of opening, and stale entries */
	size_t turn, n_turns, cap_turns; /* turn: the first one that may count */
	uint64_t opened;          /* connections so far */
	int64_t deadline_ns;      /* when to look again; INT64_MAX: there is no connection */
	int64_t told_ns;          /* when a log line was written last */
};

void guard_init(struct guard *g);
void guard_clear(struct guard *g);
void guard_opened(struct guard *g, int fd, int64_t now_ns);
void guard_closed(struct guard *g, int fd);
/* A whole message came over fd, with that many bytes in its frames. */
void guard_took(struct guard *g, int fd, size_t bytes, size_t frames);
/* Shuts the connection down; false: it is another one by now, or gone. */
bool guard_cut(struct guard *g, int fd);
void guard_tick(struct guard *g, int64_t now_ns);

#endif
