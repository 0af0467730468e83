/* SPDX-License-Identifier: MIT */
#include "base/wake.h"

#include <errno.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

int
wake_open(void)
{
	return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
}

void
wake_set(int fd)
{
	uint64_t one = 1;
	int before = errno;

	/* It fails only when the counter is full: then the descriptor is readable anyway. */
	while (write(fd, &one, sizeof one) < 0 && errno == EINTR)
		;
	errno = before;
}

void
wake_clear(int fd)
{
	uint64_t count;

	while (read(fd, &count, sizeof count) < 0 && errno == EINTR)
		;
}
