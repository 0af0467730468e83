/* SPDX-License-Identifier: MIT
 *
 * Which peer is behind which descriptor, from what a socket's monitor tells
 * and from the descriptors its messages carry. No I/O: the socket feeds it.
 *
 * A message may still be read after its connection was closed, so a closed
 * descriptor makes nobody alive. When a descriptor is found with another peer
 * than before, the one before has lost its connection without our noticing.
 */
#ifndef NET_TRACK_H
#define NET_TRACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"
#include "net/key.h"

enum { TRACK_FD_MAX = 1 << 20 };

struct track_peer {
	uint64_t id;
	int fd;          /* -1: no connection known */
	bool kept;       /* client: stays when its connection breaks */
	bool local;      /* on this machine */
	int64_t gone_ns; /* when it counts as gone; INT64_MAX: not broken */
	uint64_t alias;  /* kept ones: what this connection calls it by */
	int64_t pid;     /* the process, where that is known; else 0 */
	char *address;   /* kept ones: as given to sock_connect */
	struct key *key; /* kept ones: the one it must have; NULL: none */
	unsigned broke_early; /* kept ones: handshakes that it broke in turn */
	bool shaken;     /* kept ones: the handshake of this connection is done */
	bool denied;     /* kept ones: and why was told */
	bool broken;     /* kept ones: it broke before that; libzmq connects again */
	int64_t redial_ns; /* kept ones: when to connect anew, libzmq having given up; 0: never */
	struct outbox *out; /* messages that wait to be sent to it; NULL: nothing was sent yet */
	bool dropped;    /* its connection was cut, and is not heard any more */
};

struct track_fd {
	uint64_t peer;   /* 0: not known yet */
	bool open;
};

struct track {
	struct hash peers;   /* id (8 bytes) -> struct track_peer */
	struct hash by_address; /* kept ones: the one that was given an address last */
	size_t n_kept;
	struct track_fd *fds;
	size_t n_fds;
	int64_t deadline_ns; /* the earliest gone_ns */
	int64_t return_ns;   /* how long a local peer may be away */
	void (*broke)(void *arg, uint64_t peer);
	void (*gone)(void *arg, uint64_t peer);
	void *arg;
};

void track_init(struct track *t, int64_t return_ns, void (*broke)(void *, uint64_t),
		void (*gone)(void *, uint64_t), void *arg);
void track_clear(struct track *t);
struct track_peer *track_find(struct track *t, uint64_t id);
struct track_peer *track_keep(struct track *t, uint64_t id, const char *address, bool local);
void track_move(struct track *t, struct track_peer *p, const char *address); /* a kept one is called by another one */
void track_left(struct track *t, struct track_peer *p); /* its connection does not count any more; tells nobody */
void track_drop(struct track *t, uint64_t id);
/* The kept peer that was connected by this address; the only one there is also when
 * the address has another spelling; NULL: cannot tell. */
struct track_peer *track_by_address(struct track *t, const char *address);

void track_opened(struct track *t, int fd);
void track_closed(struct track *t, int fd, int64_t now_ns);
/* A peer is behind fd: by its message, or by the address it was connected to. */
void track_seen(struct track *t, uint64_t id, int fd, bool local, int64_t now_ns);
/* One whose connection broke may still return until then. */
void track_spare(struct track_peer *p, int64_t until_ns);
/* One whose connection broke does not return: it is gone at the next tick. */
void track_ended(struct track *t, uint64_t id, int64_t now_ns);
void track_tick(struct track *t, int64_t now_ns);

#endif
