/* SPDX-License-Identifier: MIT
 *
 * The one loop of a network thread: libzmq's context, sockets, plain file
 * descriptors, and the time until which to wait. One thread uses it; other
 * threads wake it by a descriptor it watches (base/wake.h).
 *
 *	struct net *n = net_new();
 *	... sock_new(n, ...), net_watch(n, fd, ...)
 *	while (!over)
 *		net_step(n, next_timer_ns);     // handlers are called inside
 *	... sock_free(&s), net_free(&n);
 *
 * Handlers may send, watch and unwatch, but not free sockets.
 */
#ifndef NET_LOOP_H
#define NET_LOOP_H

#include <stdint.h>

#include "base/err.h"

struct net;
struct sock;

enum { NET_READ = 1, NET_WRITE = 2, NET_ERROR = 4 };

struct net *net_new(void);
/* All sockets must be freed before. Waits until what they sent is out, as long
 * as each of them lingers. */
void net_free(struct net **n);

/* fn is called while fd is ready in one of the ways of `events`. */
void net_watch(struct net *n, int fd, int events,
	       void (*fn)(void *arg, int fd, int events), void *arg);
void net_unwatch(struct net *n, int fd);
/* Waits until something is there or until_ns (monotonic; INT64_MAX: for ever) has
 * come, and calls the handlers for all of it. */
void net_step(struct net *n, int64_t until_ns);

/* A number that is the same for all processes of this machine since it was
 * started, as far as they know each other by the same process ids (containers are
 * machines of their own), and another elsewhere. */
uint64_t net_host_id(void);
void net_zmq_version(int *major, int *minor, int *patch);
/* Room for many connections: raises the limit of descriptors to what is allowed. */
void net_raise_files(void);
/* Whether there are descriptors enough for a context and a few sockets, which libzmq
 * does not look after: it ends the process when it gets none. ST_CONFIG. */
enum status net_check_files(struct err *e);

#endif
