/* SPDX-License-Identifier: MIT */
#include "net/sig.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

static int sig_fd = -1;
static atomic_int sig_seen, sig_last;

static void
sig_caught(int number)
{
	int saved = errno;
	uint64_t one = 1;
	atomic_store(&sig_last, number);
	atomic_fetch_add(&sig_seen, 1);
	ssize_t rc = write(sig_fd, &one, sizeof one);
	(void)rc; /* full means readable already */
	errno = saved;
}

int
sig_open(void)
{
	if (sig_fd >= 0)
		return sig_fd;
	sig_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
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
	uint64_t n;
	ssize_t rc = read(sig_fd, &n, sizeof n);
	(void)rc;
}
