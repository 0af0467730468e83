/* SPDX-License-Identifier: MIT */
#include "net/sig.h"

#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include "base/wake.h"

static int sig_fd = -1;
static atomic_int sig_seen, sig_last;

static void
sig_caught(int number)
{
	atomic_store(&sig_last, number);
	atomic_fetch_add(&sig_seen, 1);
	wake_set(sig_fd);
}

int
sig_open(void)
{
	if (sig_fd >= 0)
		return sig_fd;
	sig_fd = wake_open();
	struct sigaction a;
	memset(&a, 0, sizeof a);
	a.sa_handler = sig_caught;
	sigaction(SIGINT, &a, NULL);
	sigaction(SIGTERM, &a, NULL);
	a.sa_handler = SIG_IGN;
	sigaction(SIGPIPE, &a, NULL);
	return sig_fd;
}

int
sig_count(int *last)
{
	if (last)
		*last = atomic_load(&sig_last);
	return atomic_load(&sig_seen);
}

void
sig_drain(void)
{
	wake_clear(sig_fd);
}
