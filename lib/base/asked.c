/* SPDX-License-Identifier: MIT */
#include "base/asked.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <unistd.h>

#include "base/wake.h"

static int asked_wake = -1;
static atomic_bool asked_where, asked_again;

static void
asked_caught(int number)
{
	int code = errno;

	atomic_store(number == SIGHUP ? &asked_again : &asked_where, true);
	wake_set(asked_wake);
	errno = code;
}

int
asked_open(void)
{
	struct sigaction act = { .sa_handler = asked_caught, .sa_flags = SA_RESTART }, old;

	if (asked_wake >= 0)
		return asked_wake;
	asked_wake = wake_open();
	sigaction(SIGUSR1, &act, NULL);
	if (!isatty(STDIN_FILENO) && !isatty(STDERR_FILENO) && !sigaction(SIGHUP, NULL, &old) && old.sa_handler != SIG_IGN)
		sigaction(SIGHUP, &act, NULL);
	return asked_wake;
}

struct asked
asked_take(void)
{
	wake_clear(asked_wake);
	return (struct asked){ .where = atomic_exchange(&asked_where, false), .again = atomic_exchange(&asked_again, false) };
}
