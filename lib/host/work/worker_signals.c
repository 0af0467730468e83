/* SPDX-License-Identifier: MIT
 *
 * The signals that a worker catches.
 */
#include <signal.h>
#include <stdatomic.h>

#include "base/caught.h"
#include "host/work/worker_host_inner.h"

static atomic_int worker_host_stops; /* INT and TERM that came */

static void
worker_host_stop(int number, int first)
{
	(void)number, (void)first;
	atomic_fetch_add(&worker_host_stops, 1);
}

void
worker_host_signals(void)
{
	caught_stops();
	caught_take(SIGINT, worker_host_stop);
	caught_take(SIGTERM, worker_host_stop);
	caught_take(SIGUSR2, NULL);
}

/* INT, TERM and USR2 drain; the second INT or TERM leaves at once. */
void
worker_host_signal(void *arg, int fd, int events)
{
	struct worker_host *h = arg;
	(void)fd, (void)events;
	caught_drain();
	if (atomic_load(&worker_host_stops) > 1)
		worker_host_finish(h, ST_OK, NULL);
	else
		h->drain = true;
}
