/* SPDX-License-Identifier: MIT */
#include "cli/stop.h"

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "cli/quit.h"

static atomic_bool stop_asked;
static atomic_int stop_sig;
static int stop_event = -1;

static void
stop_handle(int sig)
{
	int code = errno, none = 0;
	uint64_t one = 1;

	if (!atomic_compare_exchange_strong(&stop_sig, &none, sig))
		quit_signal(sig);
	atomic_store(&stop_asked, true);
	if (stop_event >= 0 && write(stop_event, &one, sizeof one) < 0)
		errno = code;
	errno = code;
}

void
stop_install(void)
{
	static const int signals[] = { SIGINT, SIGTERM };
	struct sigaction act = { .sa_handler = stop_handle }, old;

	stop_event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
		/* What a parent had ignored, as nohup does, stays so. */
		if (!sigaction(signals[i], NULL, &old) && old.sa_handler != SIG_IGN)
			sigaction(signals[i], &act, NULL);
}

const atomic_bool *
stop_flag(void)
{
	return &stop_asked;
}

void
stop_ask(void)
{
	atomic_store(&stop_asked, true);
}

int
stop_signal(void)
{
	return atomic_load(&stop_sig);
}

int
stop_fd(void)
{
	return stop_event;
}
