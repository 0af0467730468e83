/* SPDX-License-Identifier: MIT
 *
 * Unix sockets that keep packets apart and carry descriptors, which libzmq's cannot. Only
 * processes of the same user get through, whatever the mode of the path. Nothing waits.
 */
#ifndef NET_SEQPACKET_H
#define NET_SEQPACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/err.h"

enum { SEQPACKET_NONE = -1, SEQPACKET_BAD = -2 };

/* Gives a descriptor; claim the path first (net/address.h). */
enum status seqpacket_listen(const char *path, int *fd, struct err *e);
/* Gives the next who has come; -1: nobody. Others than this user are hung up on. */
int seqpacket_accept(int listening);
/* Gives a descriptor; ST_UNAVAIL, ST_PERM: another user listens there. */
enum status seqpacket_connect(const char *path, int *fd, struct err *e);
/* pass: a descriptor that goes along, -1: none. False: the other end takes nothing now,
 * or is gone. */
bool seqpacket_send(int fd, const void *p, size_t n, int pass);
/* Gives the bytes of the next packet; 0: the other end is gone; SEQPACKET_NONE: nothing
 * now; SEQPACKET_BAD: longer than n. *pass gives a descriptor or -1; NULL: none is taken. */
ssize_t seqpacket_receive(int fd, void *p, size_t n, int *pass);

#endif
