/* SPDX-License-Identifier: MIT
 *
 * A socket on which messages come from and go to numbered peers. Underneath it
 * is a ROUTER; peers are known by their routing id, eight bytes, which is a
 * number from 2^56 on. A message is a header of at most `head_max` bytes and,
 * for chunks, a payload that is never copied.
 *
 *	server: sock_bind; peers appear with their first message
 *	client: sock_connect(address, the number by which to call that peer)
 *	        sock_connect_any(addresses of one peer, of which one answers at a time, ...)
 *
 * A server takes the connection that says a peer's number last for that peer's. A
 * client that leaves and comes back at once may be heard in the wrong order, and
 * then speaks to nobody without being told: so who does that is `fresh`.
 *
 * With keys, a server's TCP addresses take only encrypted connections (CURVE), whose keys the
 * door (door.h) knows; a client speaks so with those peers whose key it was told. Sockets of
 * the ipc kind never need it: their files are closed to others.
 *
 * Messages of one peer keep their order while its connection lasts. When it
 * breaks, `broke` is called once; what was under way in both directions may be
 * lost. A peer on this machine that is not back after SOCK_RETURN_MS is `gone`; where its
 * process is known (sock_process), when that has ended, or lives and SOCK_ALIVE_MS are over;
 * of others one has to judge by their beats.
 *
 * Nothing is dropped in silence. A client's sends are unbounded queues, which its
 * protocol keeps short. A server has strangers as peers: one for which OUTBOX_MAX bytes of
 * headers wait (outbox.h), and one over the limits of guard.h, loses its connection,
 * with a line in the log; that looks as if the peer had broken it. Of what comes in
 * libzmq reads a thousand messages of a connection ahead of us; more waits at the sender.
 *
 * How broken connections are told (libzmq hides them): messages carry the
 * descriptor they came over, a monitor tells which descriptor was closed. The
 * monitor is read before a message is matched, so that a descriptor that was
 * used again is not mistaken for the old one.
 */
#ifndef NET_SOCK_H
#define NET_SOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "net/key.h"
#include "net/loop.h"

enum {
	SOCK_RETURN_MS = 200,
	SOCK_ALIVE_MS = 3000,
	SOCK_HEAD_MAX = 16 * 1024 * 1024 + 4096
};

struct sock_msg {
	uint64_t peer;
	const uint8_t *head;  /* lent until the handler returns */
	size_t head_len;
	uint8_t *data;        /* payload; NULL: none. Lent too, unless taken */
	size_t len;
	const char *user;     /* server: what the door said of the sender; NULL: it came without a key */
	const char *address;  /* if there is a user: its address, without port; "": not known */
	void *frame;          /* internal */
};

struct sock_payload {
	const uint8_t *data;
	size_t len;
	/* called once when libzmq is done with it, on any thread */
	void (*release)(void *arg, uint8_t *data, size_t len);
	void *arg;
};

/* Why a connection that a client made is not let in. */
enum sock_denied {
	SOCK_DENIED_KEY = 1, /* our key is not known there, or not any more */
	SOCK_DENIED_SERVER,  /* another key than we were told listens there */
	SOCK_DENIED_WAY      /* one end speaks with keys, the other without */
};

struct sock_opts {
	uint64_t self;        /* this end's number; 0: none is told (never a server's peer) */
	bool fresh;           /* client: this end has another number for each connection; self is 0 */
	bool handover;        /* a peer that returns takes the place of its old connection */
	const struct key_pair *keys; /* our own; copied. NULL: none. Bound TCP addresses have them, and
	                       * connections to peers whose key is told */
	size_t frame_max;     /* bytes of the largest frame taken; 0: SOCK_HEAD_MAX */
	int reconnect_ms;     /* client; 0: 50 */
	int return_ms;        /* how long a local peer may be away; 0: SOCK_RETURN_MS */
	void (*message)(void *arg, struct sock_msg *m);
	void (*connected)(void *arg, uint64_t peer); /* client: handshake done (again); may be NULL */
	void (*broke)(void *arg, uint64_t peer);     /* may be NULL */
	void (*gone)(void *arg, uint64_t peer);      /* may be NULL */
	/* client: what listens there speaks another language than libzmq's. It is called
	 * again after a while, unless it is disconnected. May be NULL */
	void (*stranger)(void *arg, uint64_t peer);
	/* client: a peer with several addresses was reached at another one; what was sent to it
	 * in the meantime is lost. May be NULL */
	void (*turned)(void *arg, uint64_t peer);
	/* client: asked again and again while a peer is away. True: from now on the peer of sock_connect_any has
	 * these addresses and keys (NULL: none), which are copied. May be NULL */
	bool (*renew)(void *arg, const char **list, const struct key **keys);
	/* client: it is called again after a while, unless it is disconnected. May be NULL */
	void (*denied)(void *arg, uint64_t peer, enum sock_denied why);
	void *arg;
};

/* A random number fit for a peer. */
uint64_t sock_peer_new(void);

/* Sets what opts.keys is, for connections made from now on. */
void sock_use_keys(struct sock *s, const struct key_pair *keys);
/* Gives; opts is copied. */
struct sock *sock_new(struct net *n, const struct sock_opts *opts);
/* Closes. What was sent may take linger_ms to leave; later it is lost. */
void sock_free(struct sock **s, int linger_ms);
/* Binds; fills bound with the address as it came out. */
enum status sock_bind(struct sock *s, const char *address, struct buf *bound, struct err *e);
void sock_unbind(struct sock *s, const char *bound);
/* Connects for as long as the socket lives, again and again. */
enum status sock_connect(struct sock *s, const char *address, uint64_t peer, struct err *e);
/* Works like sock_connect for a peer that has several addresses (net/address_list.h), which are called in turn, from
 * `first` on, while there is no connection. keys: the one that each must have, key_none for
 * those without; NULL: all are without. One such peer at most. */
enum status sock_connect_any(struct sock *s, const char *list, const struct key *keys, size_t first,
			     uint64_t peer, struct err *e);
/* A single address is called in turn too, if it is the name of a host or can be renewed: a connection to a
 * machine that is gone does not break. */
/* To be called with each question to such a peer: after some without any message from it, its
 * next address is called. */
void sock_asks(struct sock *s);
/* Asks opts.renew now. True: the peer has other addresses, and the connection to it was given up. */
bool sock_renew(struct sock *s);
/* Likewise, with a peer that must have this key; NULL: it speaks without. */
enum status sock_connect_key(struct sock *s, const char *address, const struct key *key, uint64_t peer,
			     struct err *e);
/* Cuts the connection of a server's peer; to us it is as if the peer had broken it. */
void sock_cut(struct sock *s, uint64_t peer);
/* The peer, whose message is being handled, is that process of this machine: once its
 * connection broke, the end of the process makes it gone without more waiting. */
void sock_process(struct sock *s, uint64_t peer, int64_t pid);
void sock_disconnect(struct sock *s, const char *address, uint64_t peer);

/* Sends; the header is copied. payload may be NULL, else it is taken, also when
 * this fails. False: there is no such peer (any more). */
bool sock_send(struct sock *s, uint64_t peer, const void *head, size_t n,
	       const struct sock_payload *payload);
/* Keeps the payload of a message beyond its handler: *release(*arg, ...) once. */
void sock_msg_take(struct sock_msg *m, void (**release)(void *arg, uint8_t *data, size_t len),
		   void **arg);

#endif
