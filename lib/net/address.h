/* SPDX-License-Identifier: MIT
 *
 * Addresses of sockets: ipc:///path and tcp://host:port.
 *
 * The default is a private ipc socket in a folder that only its owner may
 * enter: $XDG_RUNTIME_DIR/dsvc, else /run/user/UID/dsvc if /run/user/UID is there,
 * else $TMPDIR (or /tmp)/dsvc-UID. A socket file
 * that a dead program left is taken over; one that is alive is refused in
 * words (libzmq would unlink either without asking).
 */
#ifndef NET_ADDRESS_H
#define NET_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"

enum { ADDRESS_MAX = 512, ADDRESS_PATH_MAX = 107 };

struct address {
	bool ipc;
	char text[ADDRESS_MAX]; /* text as it was given */
	char path[ADDRESS_MAX]; /* ipc */
	char host[256];          /* tcp: without [ ]; "*": every interface */
	char port[8];            /* tcp: "*": any free one */
};

/* ST_USAGE with what is wrong and how it should look. */
enum status address_parse(const char *text, struct address *out, struct err *e);
/* Whether only programs of this machine can reach it. */
bool address_local(const struct address *ep);

/* The text for a bind, which takes no names of hosts: with the first address that the
 * name has, IPv4 before IPv6. What is no such name stays as it is. */
void address_numeric(const struct address *ep, char *out, size_t size);

/* Fills out with the private folder; ST_PERM when it belongs to someone else or others
 * may enter. make: makes it if need be; without, it may be missing. */
enum status address_folder(struct buf *out, bool make, struct err *e);
/* Puts ipc://FOLDER/NAME into out; make as above. ST_USAGE: too long for a socket. */
enum status address_private(const char *name, bool make, struct buf *out, struct err *e);
/* An address in the private folder that nobody has: ipc://FOLDER/WORD-PID-RANDOM. */
enum status address_fresh(const char *word, struct buf *out, struct err *e);

/* How what listens there speaks, as its greeting says. */
enum address_speech { ADDRESS_UNTOLD, ADDRESS_CLEAR, ADDRESS_KEYED };

struct address_answer {
	enum address_speech speech; /* untold: it did not say so within a moment */
	char local[128];            /* tcp: the address of this end, as an endpoint host; else "" */
	bool away;                  /* the other end is not on this machine */
};

/* Whether somebody listens there: connects and hangs up, within timeout_ms. ST_PROTO: what
 * answers does not speak libzmq's protocol; silence for a moment is taken for one that is
 * busy. The reason is put as "connection refused", without address. out may be NULL. */
enum status address_probe(const struct address *ep, int timeout_ms, struct address_answer *out, struct err *e);

/* The right to bind an ipc path, for as long as it is held: two programs
 * that start at once do not both get it. Gives a descriptor (-1: not needed). */
enum status address_claim(const struct address *ep, int *fd, struct err *e);
/* Removes the socket, which is closed by now, and gives the right up. */
void address_release(const struct address *ep, int *fd);
/* Removes socket files WORD and WORD-* in the private folder, and their locks, whose program
 * is gone: nobody has the lock. */
void address_sweep(const char *word);

#endif
