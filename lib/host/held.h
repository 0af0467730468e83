/* SPDX-License-Identifier: MIT
 *
 * Messages that promise what cannot be recorded for now, because the disk is full: they are sent
 * when it is recorded. A peer may have HELD_MESSAGES of them, with HELD_BYTES; the rest is dropped,
 * as if it were lost on the way: what is not answered is said again.
 */
#ifndef HOST_HELD_H
#define HOST_HELD_H

#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"
#include "wire/msg.h"

enum { HELD_MESSAGES = 64, HELD_BYTES = 32 << 20 };

struct held_msg;

/* All zero: empty. */
struct held {
	struct held_msg *v; /* in the order in which they came */
	size_t n, cap;
	struct hash peers;  /* by peer: the number of its messages, and their bytes */
};

/* Takes what m has. */
void held_add(struct held *h, uint64_t peer, struct msg *m);
/* Hands all to send, which takes them, and is empty then. */
void held_send(struct held *h, void (*send)(void *arg, uint64_t peer, struct msg *m), void *arg);
void held_clear(struct held *h);

#endif
