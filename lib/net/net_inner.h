/* SPDX-License-Identifier: MIT
 *
 * What the loop and its sockets have to do with each other.
 */
#ifndef NET_NET_INNER_H
#define NET_NET_INNER_H

#include <stdint.h>

struct net;
struct sock;

void *net_context(struct net *n);
void net_add(struct net *n, struct sock *s);
void net_remove(struct net *n, struct sock *s);

void *sock_handle(struct sock *s);  /* what to poll for: messages */
void *sock_monitor(struct sock *s); /* and what happens to connections */
void sock_ready(struct sock *s);    /* takes all that is there */
int64_t sock_deadline(const struct sock *s);
void sock_tick(struct sock *s, int64_t now_ns);

/* probe.c: connects to the path and hangs up; 0 or errno. */
int probe_unix(const char *path, int64_t until_ns);

#endif
