/* SPDX-License-Identifier: MIT */
#include "host/feed/feed_link.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"

enum { LINK_READ_BYTES = 256 * 1024, LINK_READ_EACH = 16 * 1024 };

void
feed_link_init(struct feed_link *l, int fd)
{
	*l = (struct feed_link){ .fd = fd };
	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
}

void
feed_link_clear(struct feed_link *l)
{
	if (l->fd >= 0)
		close(l->fd);
	for (size_t i = 0; i < l->n_fds; i++)
		close(l->fds[i].fd);
	mem_free(l->fds);
	buf_clear(&l->in);
	buf_clear(&l->out);
	*l = (struct feed_link){ .fd = -1 };
}

void
feed_link_send(struct feed_link *l, const struct feed_msg *m, int fd)
{
	if (l->fd < 0)
		return;
	int copy = fd >= 0 ? fcntl(fd, F_DUPFD_CLOEXEC, 3) : -1;
	if (copy >= 0) {
		l->fds = mem_grow(l->fds, &l->cap_fds, l->n_fds + 1, sizeof *l->fds);
		l->fds[l->n_fds++] = (struct feed_link_fd){ l->out.len, copy };
	}
	feed_msg_encode(m, &l->out);
}

/* Sends bytes up to the next descriptor, which goes along with the byte that it stands at. */
static ssize_t
link_send_some(struct feed_link *l)
{
	size_t end = l->out.len;
	bool with = l->n_fds && l->fds[0].at == l->out_at;
	union { struct cmsghdr head; char room[CMSG_SPACE(sizeof(int))]; } control = { 0 };
	struct msghdr h = { 0 };

	if (l->n_fds > with)
		end = l->fds[with].at;
	struct iovec v = { l->out.data + l->out_at, end - l->out_at };
	h.msg_iov = &v;
	h.msg_iovlen = 1;
	if (with) {
		h.msg_control = control.room;
		h.msg_controllen = sizeof control.room;
		struct cmsghdr *c = CMSG_FIRSTHDR(&h);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(c), &l->fds[0].fd, sizeof(int));
	}
	ssize_t n = sendmsg(l->fd, &h, MSG_NOSIGNAL);
	if (n > 0 && with) {
		close(l->fds[0].fd);
		memmove(l->fds, l->fds + 1, --l->n_fds * sizeof *l->fds);
	}
	return n;
}

bool
feed_link_flush(struct feed_link *l)
{
	while (feed_link_waits(l)) {
		ssize_t n = link_send_some(l);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == EAGAIN;
		l->out_at += (size_t)n;
	}
	buf_reset(&l->out);
	l->out_at = 0;
	return true;
}

enum status
feed_link_read(struct feed_link *l)
{
	size_t left = l->in.len - l->in_at;

	if (l->in_at) {
		memmove(l->in.data, l->in.data + l->in_at, left);
		l->in.len = left;
		l->in_at = 0;
	}
	for (size_t got = 0; got < LINK_READ_BYTES;) {
		uint8_t *room = buf_room(&l->in, LINK_READ_EACH);
		ssize_t n = recv(l->fd, room, LINK_READ_EACH, 0);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == EAGAIN ? ST_OK : ST_END;
		if (n == 0)
			return ST_END;
		l->in.len += (size_t)n;
		got += (size_t)n;
		if (n < LINK_READ_EACH) /* all that was there: asking again would be one more call for each step and core */
			break;
	}
	return ST_OK;
}

enum status
feed_link_next(struct feed_link *l, struct feed_msg *m, struct err *e)
{
	const uint8_t *p = l->in.data + l->in_at;
	size_t n = l->in.len - l->in_at, size;

	if (!n)
		return ST_AGAIN;
	enum status st = feed_msg_size(p, n, &size, e);
	if (st == ST_OK && (!size || size > n))
		return ST_AGAIN;
	if (st == ST_OK)
		st = feed_msg_decode(p + 4, size - 4, m, e);
	l->in_at += size;
	return st;
}
