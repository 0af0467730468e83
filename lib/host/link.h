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
#include "net/sock.h"
#include "wire/msg.h"

/* The number by which a client calls its dispatcher, whoever that is. */
#define LINK_DISPATCHER ((uint64_t)1 << 63 | 1)

enum { LINK_WAIT_MS = 1500 };

/* Encodes into scratch (reset first) and sends. False: no such peer. */
bool link_send(struct sock *s, uint64_t peer, const struct msg *m, struct buf *scratch,
	       const struct sock_payload *payload);
/* Decodes a header; false: malformed, logged (not more than once a second). */
bool link_decode(const struct sock_msg *in, struct msg *out, struct err *e);

/* Whether a dispatcher listens there; tries again for wait_ms, because one that was
 * started at the same time may need a moment. ST_UNAVAIL with address, where it came from
 * (NULL: unsaid) and why. local as in address_probe. */
enum status link_reach(const char *address, const char *from, int wait_ms,
		       char *local, size_t local_size, struct err *e);

/* "ADDRESS (from -d)", for messages. */
enum { LINK_WHERE = 400 };
void link_where(const char *address, const char *from, char out[LINK_WHERE]);

/* This machine, as HELLO tells it. Lends a static text. */
const char *link_host(void);
/* Refuses to be reached from other machines without keys: ST_PERM unless insecure. */
enum status link_may_bind(const char *address, bool insecure, struct err *e);
/* malloc as message traffic wants it: blocks are used again, not given back and
 * faulted in anew for every message. Call first. */
void link_tune_memory(void);
/* Lines for --version. */
void link_versions(struct buf *out);

#endif
