/* SPDX-License-Identifier: MIT
 *
 * Messages on sockets: what the hosts of dispatcher, worker and reader share.
 */
#ifndef HOST_LINK_H
#define HOST_LINK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "net/address.h"
#include "net/address_list.h"
#include "net/sock.h"
#include "wire/msg.h"

/* The number by which a client calls its dispatcher, whoever that is. */
#define LINK_DISPATCHER ((uint64_t)1 << 63 | 1)

/* State for sending. Zero is valid to begin with; clear with link_out_clear. */
struct link_out {
	struct buf scratch;
	enum status failed;   /* ST_BUG: a message was above the protocol's limits, and was not */
	struct err err;       /* sent, for the receiver would refuse it for ever: end with this */
};
/* Encodes and sends. False: no such peer, or out->failed. The payload is taken either way. */
bool link_send(struct sock *s, uint64_t peer, const struct msg *m, struct link_out *out,
	       const struct sock_payload *payload);
void link_out_clear(struct link_out *out);
/* Decodes a header; false: malformed, logged (not more than once a second). */
bool link_decode(const struct sock_msg *in, struct msg *out, struct err *e);

/* Whether a dispatcher listens there; tries again for as long as net/patience.h says. ST_UNAVAIL with
 * address, where it came from (NULL: unsaid) and why, at once when it is another kind of program. Of
 * several addresses (net/address_list.h) one that answers will do. Fills out.
 * ST_AGAIN: told to end meanwhile. */
struct link_reached {
	size_t which; /* number of the address */
	struct address_answer answer;
};
enum status link_reach(const char *addresses, const char *from, struct link_reached *out, struct err *e);
/* Does so, and asks `moved`, if there is one, while nobody answers: true ends it with ST_SKIP. */
enum status link_reach_or(const char *addresses, const char *from, bool (*moved)(void *arg), void *arg,
			  struct link_reached *out, struct err *e);

/* Whether only this machine is behind it, or it is NULL. */
bool link_is_ipc(const char *address);
/* The error for an address where something else than a dispatcher listens: ST_UNAVAIL. where:
 * from link_where. */
enum status link_stranger(const char *where, struct err *e);
/* Decodes what came from the dispatcher. A message that is none: ST_SKIP, logged; as
 * long as *met is false, which the first good one makes true, link_stranger. */
enum status link_answer(const struct sock_msg *in, bool *met, const char *where,
			struct msg *out, struct err *e);

/* "ADDRESS (from -d)", for messages. */
enum { LINK_WHERE = 400 };
void link_where(const char *address, const char *from, char out[LINK_WHERE]);

/* This machine, as HELLO tells it. Lends a static text. */
const char *link_host(void);
/* Its name for people; "": it has none. Lends a static text. */
const char *link_hostname(void);
/* The name of a program that was given none: HOST:PID. */
enum { LINK_NAME = 160 };
void link_name(char out[LINK_NAME]);
/* malloc as message traffic wants it: blocks are used again, not given back and
 * faulted in anew for every message. Call first. */
void link_tune_memory(void);
/* Lines for --version. */
void link_versions(struct buf *out);

#endif
