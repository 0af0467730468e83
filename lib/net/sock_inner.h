/* SPDX-License-Identifier: MIT
 *
 * The inside of a socket: sock.c has its messages, sock_watch.c its
 * connections, sock_dial.c the calling of peers, sock_turn.c of those with several addresses.
 */
#ifndef NET_SOCK_INNER_H
#define NET_SOCK_INNER_H


#include "base/hash.h"
#include "net/process_watch.h"
#include "net/guard.h"
#include "net/sock.h"
#include "net/track.h"
#include "net/zmq_lib.h"

/* A client's peer that has several addresses. */
struct sock_turns {
	uint64_t peer;
	char *list;
	struct key *keys;    /* each address has one; NULL: none has */
	size_t n, at;        /* addresses; the one that is called */
	unsigned tries;      /* calls since one was answered */
	unsigned asked;      /* questions since a message came */
	bool turned;         /* another one is called than was spoken to last */
	int64_t due_ns;      /* when to call the next one; INT64_MAX: one has answered */
};

struct sock {
	struct net *net;
	void *handle, *monitor;
	int fd, monitor_fd;
	bool used;  /* something was called on the handle since it was found empty */
	bool there; /* messages are there */
	struct sock_opts o;
	struct track track;
	/* client: alias (8 bytes) -> struct track_peer. Each connection calls its peer by
	 * a number of its own, for libzmq dies of a second one by the same number, and
	 * one that was given up takes its time to go. */
	struct hash aliases;
	bool calls; /* it is a client */
	struct process_watch exits;
	struct guard guard;
	struct sock_turns *turns; /* NULL: each peer has one address */
	int64_t redial_ns; /* the earliest of the peers; INT64_MAX: none */
	int64_t complained_ns; /* when the last malformed message was told */
};

static inline void
sock_set_int(void *h, int option, int value)
{
	zmq.setsockopt(h, option, &value, sizeof value);
}

/* sock.c */
int sock_fd_of(void *handle);

/* sock_watch.c */
void sock_open_monitor(struct sock *s);
/* Takes in all that happened to connections. */
void sock_drain_monitor(struct sock *s);
/* Does so, too, at the price of one system call when nothing happened since. */
void sock_watch_monitor(struct sock *s);
/* Calls those anew that spoke another language, when it is time. */
void sock_redial(struct sock *s, int64_t now_ns);
/* sock_dial.c */
/* Connects to a kept peer under a new alias. */
bool sock_dial(struct sock *s, struct track_peer *p);

/* sock_turn.c */
void sock_turns_open(struct sock *s, uint64_t peer, const char *list, const struct key *keys, size_t first);
void sock_turns_free(struct sock *s);
void sock_turns_tick(struct sock *s, int64_t now_ns);
void sock_turns_shaken(struct sock *s); /* it has them; a connection is there */
void sock_turns_broke(struct sock *s);

#endif
