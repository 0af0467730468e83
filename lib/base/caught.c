/* SPDX-License-Identifier: MIT */
#include "base/caught.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>

#include "base/wake.h"

static int caught_event = -1;
static atomic_int caught_number, caught_seen; /* the first one; how many */
static void (*caught_each[NSIG])(int signal, int first);

static void
caught_handle(int number)
{
	int code = errno, first = 0;

	atomic_compare_exchange_strong(&caught_number, &first, number);
	atomic_fetch_add(&caught_seen, 1);
	if (caught_each[number])
		caught_each[number](number, first);
	if (caught_event >= 0)
		wake_set(caught_event);
	errno = code;
}

int
caught_open(void)
{
	if (caught_event < 0)
		caught_event = wake_open();
	return caught_event;
}

int
caught_stops(void)
{
	int fd = caught_open();

	caught_take(SIGINT, NULL);
	caught_take(SIGTERM, NULL);
	signal(SIGPIPE, SIG_IGN);
	return fd;
}

void
caught_take(int number, void (*each)(int, int))
{
	struct sigaction act = { .sa_handler = caught_handle };

	caught_each[number] = each;
	sigaction(number, &act, NULL);
}

int
caught_fd(void)
{
	return caught_event;
}

int
caught_first(void)
{
	return atomic_load(&caught_number);
}

int
caught_count(void)
{
	return atomic_load(&caught_seen);
}

void
caught_drain(void)
{
	wake_clear(caught_event);
}
