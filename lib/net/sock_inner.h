/* SPDX-License-Identifier: MIT
 *
 * The inside of a socket: sock.c has its messages, sock_watch.c its
 * connections, sock_dial.c the calling of peers.
 */
#ifndef NET_SOCK_INNER_H
#define NET_SOCK_INNER_H

#include <zmq.h>

#include "base/hash.h"
#include "net/process_watch.h"
#include "net/guard.h"
#include "net/sock.h"
#include "net/track.h"

struct sock {
	struct net *net;
	void *handle, *monitor;
	struct sock_opts o;
	struct track track;
	/* client: alias (8 bytes) -> struct track_peer. Each connection calls its peer by
	 * a number of its own, for libzmq dies of a second one by the same number, and
	 * one that was given up takes its time to go. */
	struct hash aliases;
	bool calls; /* it is a client */
	struct process_watch exits;
	struct guard guard;
	int64_t redial_ns; /* the earliest of the peers; INT64_MAX: none */
	int64_t complained_ns; /* when the last malformed message was told */
};

static inline void
sock_set_int(void *h, int option, int value)
{
	zmq_setsockopt(h, option, &value, sizeof value);
}

/* sock_watch.c */
void sock_open_monitor(struct sock *s);
/* Takes in all that happened to connections. */
void sock_drain_monitor(struct sock *s);
/* Calls those anew that spoke another language, when it is time. */
void sock_redial(struct sock *s, int64_t now_ns);
/* sock_dial.c */
/* An id as it is on the wire: big end first, so that a dump shows the number. */
void sock_id_bytes(uint64_t id, uint8_t out[8]);
/* Connects to a kept peer under a new alias. */
bool sock_dial(struct sock *s, struct track_peer *p);

#endif
