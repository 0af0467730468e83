/* SPDX-License-Identifier: MIT */
#include "net/seqpacket.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { SEQPACKET_BACKLOG = 64 };

static int
seqpacket_new(const char *path, struct sockaddr_un *a)
{
	*a = (struct sockaddr_un){ .sun_family = AF_UNIX };
	if (strlen(path) >= sizeof a->sun_path) {
		errno = ENAMETOOLONG;
		return -1;
	}
	strcpy(a->sun_path, path);
	return socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

static bool
seqpacket_mine(int fd)
{
	struct ucred u;
	socklen_t n = sizeof u;

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &u, &n) == 0 && u.uid == geteuid();
}

enum status
seqpacket_listen(const char *path, int *out, struct err *e)
{
	struct sockaddr_un a;
	int fd = seqpacket_new(path, &a);

	if (fd < 0 || bind(fd, (struct sockaddr *)&a, sizeof a) != 0 || listen(fd, SEQPACKET_BACKLOG) != 0) {
		err_errno(e, "cannot bind %s", path);
		e->kind = ST_UNAVAIL;
		if (fd >= 0)
			close(fd);
		return ST_UNAVAIL;
	}
	*out = fd;
	return ST_OK;
}

int
seqpacket_accept(int listening)
{
	for (;;) {
		int fd = accept4(listening, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

		if (fd < 0 && errno == EINTR)
			continue;
		if (fd < 0 || seqpacket_mine(fd))
			return fd;
		close(fd);
	}
}

enum status
seqpacket_connect(const char *path, int *out, struct err *e)
{
	struct sockaddr_un a;
	int fd = seqpacket_new(path, &a);

	if (fd < 0 || connect(fd, (struct sockaddr *)&a, sizeof a) != 0) {
		err_errno(e, "cannot connect to %s", path);
		e->kind = ST_UNAVAIL;
	} else if (!seqpacket_mine(fd)) {
		err_set(e, ST_PERM, "cannot connect to %s: another user listens there", path);
	} else {
		*out = fd;
		return ST_OK;
	}
	if (fd >= 0)
		close(fd);
	return e->kind;
}

bool
seqpacket_send(int fd, const void *p, size_t n, int pass)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(int))];
	} control = { .room = { 0 } };
	struct iovec part = { (void *)(uintptr_t)p, n };
	struct msghdr m = { .msg_iov = &part, .msg_iovlen = 1 };
	ssize_t sent;

	if (pass >= 0) {
		m.msg_control = control.room;
		m.msg_controllen = sizeof control.room;
		control.head = (struct cmsghdr){ .cmsg_len = CMSG_LEN(sizeof(int)),
			.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS };
		memcpy(CMSG_DATA(&control.head), &pass, sizeof pass);
	}
	do
		sent = sendmsg(fd, &m, MSG_DONTWAIT | MSG_NOSIGNAL);
	while (sent < 0 && errno == EINTR);
	return sent == (ssize_t)n;
}

/* The first descriptor that came; the kernel has given us all, so others are closed. */
static int
seqpacket_passed(struct msghdr *m)
{
	int first = -1;

	for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		for (size_t i = 0; CMSG_LEN((i + 1) * sizeof(int)) <= c->cmsg_len; i++) {
			int fd;
			memcpy(&fd, CMSG_DATA(c) + i * sizeof fd, sizeof fd);
			if (first < 0)
				first = fd;
			else
				close(fd);
		}
	}
	return first;
}

ssize_t
seqpacket_receive(int fd, void *p, size_t n, int *pass)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec part = { p, n };
	struct msghdr m = { .msg_iov = &part, .msg_iovlen = 1 };
	ssize_t got;

	if (pass) {
		m.msg_control = control.room;
		m.msg_controllen = sizeof control.room;
		*pass = -1;
	}
	do
		got = recvmsg(fd, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		return errno == EAGAIN || errno == EWOULDBLOCK ? SEQPACKET_NONE : 0;
	if (pass)
		*pass = seqpacket_passed(&m);
	if (m.msg_flags & MSG_TRUNC) {
		if (pass && *pass >= 0)
			close(*pass);
		if (pass)
			*pass = -1;
		return SEQPACKET_BAD;
	}
	return got;
}
