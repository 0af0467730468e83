/* SPDX-License-Identifier: MIT */
#include "cli/stop.h"

#include <errno.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/wake.h"
#include "cli/quit.h"

static atomic_bool stop_asked;
static atomic_int stop_sig;
static int stop_event = -1;
static bool stop_late_at_once; /* --timeout: nothing is to be finished */

static void
stop_handle(int sig)
{
	int code = errno, none = 0;

	if (!atomic_compare_exchange_strong(&stop_sig, &none, sig))
		quit_signal(none == SIGALRM ? SIGALRM : sig);
	if (sig == SIGALRM && (stop_late_at_once || stop_event < 0))
		quit_signal(sig);
	atomic_store(&stop_asked, true);
	if (stop_event >= 0)
		wake_set(stop_event);
	errno = code;
}

void
stop_install(void)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
	struct sigaction act = { .sa_handler = stop_handle }, old;

	stop_event = wake_open();
	for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
		/* What a parent had ignored, as nohup does, stays so. */
		if (!sigaction(signals[i], NULL, &old) && old.sa_handler != SIG_IGN)
			sigaction(signals[i], &act, NULL);
}

void
stop_after(int64_t ns, bool at_once)
{
	struct sigaction act = { .sa_handler = stop_handle };
	struct itimerval t = { .it_interval = { .tv_sec = 1 },
			       .it_value = { ns / 1000000000, ns / 1000 % 1000000 } };

	if (ns <= 0)
		return;
	if (!t.it_value.tv_sec && !t.it_value.tv_usec)
		t.it_value.tv_usec = 1;
	stop_late_at_once = at_once;
	sigaction(SIGALRM, &act, NULL);
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
	return atomic_load(&stop_sig);
}

int
stop_fd(void)
{
	return stop_event;
}
