/* SPDX-License-Identifier: MIT
 *
 * What the loop and its sockets have to do with each other.
 */
#ifndef NET_NET_INNER_H
#define NET_NET_INNER_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
	struct pollfd *items; /* two for each socket, then one for each watch */
	size_t cap_items;
};

void *net_context(struct net *n);
void net_add(struct net *n, struct sock *s);
void net_remove(struct net *n, struct sock *s);

/* A descriptor of libzmq tells of what libzmq has not looked at yet. A call for another end may
 * have looked, and taken messages in: whether some are there has to be asked, too. */
bool sock_there(struct sock *s);
int sock_fd(const struct sock *s);         /* to poll for messages */
int sock_monitor_fd(const struct sock *s); /* and for what happens to connections */
void sock_ready(struct sock *s);    /* takes all that is there */
int64_t sock_deadline(const struct sock *s);
void sock_tick(struct sock *s, int64_t now_ns);

/* probe.c: connects to the path and hangs up; 0 or errno. */
int probe_unix(const char *path, int64_t until_ns);

#endif
