/* SPDX-License-Identifier: MIT */
#include "cli/stop.h"

#include <signal.h>
#include <sys/time.h>

#include "base/caught.h"
#include "cli/quit.h"

static atomic_bool stop_asked;
static bool stop_late_at_once; /* --timeout: nothing is to be finished */

static void
stop_caught(int sig, int first)
{
	if (first)
		quit_signal(first == SIGALRM ? SIGALRM : sig);
	if (sig == SIGALRM && (stop_late_at_once || caught_fd() < 0))
		quit_signal(sig);
	atomic_store(&stop_asked, true);
}

void
stop_install(void)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
	struct sigaction old;

	caught_open();
	for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
		/* A signal that the parent ignored, as nohup does, stays ignored. */
		if (!sigaction(signals[i], NULL, &old) && old.sa_handler != SIG_IGN)
			caught_take(signals[i], stop_caught);
}

void
stop_after(int64_t ns, bool at_once)
{
	struct itimerval t = { .it_interval = { .tv_sec = 1 },
			       .it_value = { ns / 1000000000, ns / 1000 % 1000000 } };

	if (ns <= 0)
		return;
	if (!t.it_value.tv_sec && !t.it_value.tv_usec)
		t.it_value.tv_usec = 1;
	stop_late_at_once = at_once;
	caught_take(SIGALRM, stop_caught);
	setitimer(ITIMER_REAL, &t, NULL);
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
	return caught_first();
}

int
stop_fd(void)
{
	return caught_fd();
}
