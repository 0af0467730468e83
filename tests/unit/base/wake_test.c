/* SPDX-License-Identifier: MIT */
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/wake.h"

static int
readable(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, 0);
}

static void
sets_are_seen_until_they_are_cleared(void **state)
{
	int fd = wake_open();

	(void)state;
	assert_int_equal(readable(fd), 0);
	wake_clear(fd); /* nothing is set: it does not wait */
	wake_set(fd);
	wake_set(fd);
	assert_int_equal(readable(fd), 1);
	wake_clear(fd);
	assert_int_equal(readable(fd), 0);
	close(fd);
}
