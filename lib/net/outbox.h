/* SPDX-License-Identifier: MIT
 *
 * The bytes that wait to be sent to one peer. libzmq queues without a limit of its own
 * that would fit (it counts messages, not bytes), so each header that is handed to it is
 * counted here until libzmq lets go of it: sent to the system, or dropped with the
 * connection. Payloads are not counted; the memory of whoever made them bounds those.
 *
 * Counted by references, for messages may outlive the peer. libzmq lets go of
 * messages on a thread of its own.
 */
#ifndef NET_OUTBOX_H
#define NET_OUTBOX_H

#include <stdbool.h>
#include <stddef.h>

struct outbox;

enum {
	OUTBOX_MAX = 64 * 1024 * 1024, /* bytes that may wait for one peer */
	OUTBOX_EACH = 256              /* cost of a message besides its bytes */
};

struct outbox *outbox_new(void);
/* Drops the reference; o becomes NULL. */
void outbox_free(struct outbox **o);
size_t outbox_bytes(const struct outbox *o);
/* Copies n bytes and counts them; false: they would be too many. The copy is for
 * zmq_msg_init_data(copy, n, outbox_release, hint). */
bool outbox_put(struct outbox *o, const void *bytes, size_t n, void **copy, void **hint);
/* Uncounts and frees a copy; on any thread. */
void outbox_release(void *copy, void *hint);

#endif
