/* SPDX-License-Identifier: MIT */
#include "base/transfer.h"

#include <errno.h>
#include <unistd.h>

enum { TRANSFER_ROOM = 65536 };

/* Whether a signal interrupted the call that gave n before it did anything. */
static bool
transfer_again(ssize_t n)
{
	return n < 0 && errno == EINTR;
}

bool
transfer_write(int fd, const void *p, size_t n)
{
	for (const uint8_t *at = p; n;) {
		ssize_t done = write(fd, at, n);

		if (transfer_again(done))
			continue;
		if (done == 0)
			errno = EIO;
		if (done <= 0)
			return false;
		at += done;
		n -= (size_t)done;
	}
	return true;
}

bool
transfer_write_at(int fd, const void *p, size_t n, uint64_t at)
{
	for (const uint8_t *from = p; n;) {
		ssize_t done = pwrite(fd, from, n, (off_t)at);

		if (transfer_again(done))
			continue;
		if (done == 0)
			errno = EIO;
		if (done <= 0)
			return false;
		from += done;
		at += (uint64_t)done;
		n -= (size_t)done;
	}
	return true;
}

ssize_t
transfer_read_at(int fd, void *p, size_t n, uint64_t at)
{
	size_t have = 0;

	while (have < n) {
		ssize_t got = pread(fd, (uint8_t *)p + have, n - have, (off_t)(at + have));

		if (transfer_again(got))
			continue;
		if (got < 0)
			return -1;
		if (got == 0)
			break;
		have += (size_t)got;
	}
	return (ssize_t)have;
}

bool
transfer_read_all(int fd, size_t most, struct buf *out)
{
	while (out->len <= most) {
		ssize_t got = read(fd, buf_room(out, TRANSFER_ROOM), TRANSFER_ROOM);

		if (transfer_again(got))
			continue;
		if (got <= 0)
			return got == 0;
		out->len += (size_t)got;
	}
	return true;
}
