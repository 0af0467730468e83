/* SPDX-License-Identifier: MIT
 *
 * What the loop and its sockets have to do with each other.
 */
#ifndef NET_NET_INNER_H
#define NET_NET_INNER_H

#include <stddef.h>
#include <stdint.h>
#include <zmq.h>

struct sock;

struct watch {
	int fd, events; /* fd -1: taken out while handlers run */
	void (*fn)(void *arg, int fd, int events);
	void *arg;
};

struct net {
	void *ctx;
	struct sock **socks;
	size_t n_socks, cap_socks;
	struct watch *watches;
	size_t n_watches, cap_watches;
	zmq_pollitem_t *items; /* two for each socket, then one for each watch */
	size_t cap_items;
};

void *net_context(struct net *n);
void net_add(struct net *n, struct sock *s);
void net_remove(struct net *n, struct sock *s);

void *sock_handle(struct sock *s);  /* handle to poll for messages */
void *sock_monitor(struct sock *s); /* and what happens to connections */
void sock_ready(struct sock *s);    /* takes all that is there */
int64_t sock_deadline(const struct sock *s);
void sock_tick(struct sock *s, int64_t now_ns);

/* probe.c: connects to the path and hangs up; 0 or errno. */
int probe_unix(const char *path, int64_t until_ns);

#endif
