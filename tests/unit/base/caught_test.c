/* SPDX-License-Identifier: MIT */
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/caught.h"

static int last, before;

static int
readable(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, 0);
}

static void
note(int number, int first)
{
	last = number;
	before = first;
}

static void
signals_are_counted_and_the_first_is_known(void **state)
{
	int fd;

	(void)state;
	caught_take(SIGHUP, note); /* without a descriptor it is only counted */
	assert_int_equal(caught_fd(), -1);
	fd = caught_stops();
	assert_int_equal(caught_open(), fd);
	assert_int_equal(readable(fd), 0);
	assert_int_equal(caught_first(), 0);
	raise(SIGPIPE); /* ignored */
	assert_int_equal(caught_count(), 0);

	raise(SIGHUP);
	assert_int_equal(last, SIGHUP);
	assert_int_equal(before, 0);
	assert_int_equal(readable(fd), 1);
	caught_drain();
	assert_int_equal(readable(fd), 0);

	raise(SIGTERM);
	raise(SIGHUP);
	assert_int_equal(before, SIGHUP);
	assert_int_equal(caught_first(), SIGHUP);
	assert_int_equal(caught_count(), 3);
	assert_int_equal(readable(fd), 1);
	caught_drain();
	assert_int_equal(readable(fd), 0);
}
