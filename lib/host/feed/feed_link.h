/* SPDX-License-Identifier: MIT
 *
 * A stream socket to one core: whole messages out of it, messages and descriptors into it,
 * without ever waiting. What comes is bounded by the sizes of messages, and what goes waits here until
 * the core reads; the machine tells a core no more than a few steps ahead of what it has done.
 */
#ifndef HOST_FEED_LINK_H
#define HOST_FEED_LINK_H

#include <stdbool.h>

#include "wire/feed_msg.h"

struct feed_link_fd { size_t at; int fd; };
struct feed_link {
	int fd;                      /* -1: none */
	struct buf in, out;
	size_t in_at, out_at;        /* bytes that are done with */
	struct feed_link_fd *fds;    /* to go along with the byte at `at` of out */
	size_t n_fds, cap_fds;
};

/* Takes the descriptor. */
void feed_link_init(struct feed_link *l, int fd);
void feed_link_clear(struct feed_link *l);
/* fd: a descriptor that goes along, a copy of which is made; -1: none. */
void feed_link_send(struct feed_link *l, const struct feed_msg *m, int fd);
/* Writes what can be written. False: the other end is gone. */
bool feed_link_flush(struct feed_link *l);
static inline bool
feed_link_waits(const struct feed_link *l)
{
	return l->fd >= 0 && l->out_at < l->out.len;
}
/* Reads what is there, at most so much that others get their turn. ST_END: the other end has closed. */
enum status feed_link_read(struct feed_link *l);
/* The next whole message: given (feed_msg_clear). ST_AGAIN: none; ST_PROTO. */
enum status feed_link_next(struct feed_link *l, struct feed_msg *m, struct err *e);

#endif
