/* SPDX-License-Identifier: MIT
 *
 * The signals that a worker catches.
 */
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/time.h>

#include "base/asked.h"
#include "base/caught.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/str.h"
#include "host/work/worker_host_inner.h"

static atomic_int worker_host_stops; /* INT and TERM that came */
static atomic_bool worker_host_late; /* --lifetime is over */

static void
worker_host_alarm(int number, int first)
{
	(void)number, (void)first;
	atomic_store(&worker_host_late, true);
}

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
	asked_open();
}

void
worker_host_lives(int64_t ns)
{
	struct itimerval t = { .it_value = { ns / 1000000000, ns / 1000 % 1000000 } };

	if (ns <= 0)
		return;
	if (!t.it_value.tv_sec && !t.it_value.tv_usec)
		t.it_value.tv_usec = 1;
	caught_take(SIGALRM, worker_host_alarm);
	setitimer(ITIMER_REAL, &t, NULL);
}

/* Where it stands, in one line. */
static void
worker_host_stands(const struct worker_host *h)
{
	char kept[24];
	size_t streams = worker_streams(h->work);

	snprintf(kept, sizeof kept, "%.1f MB", (double)worker_kept_bytes(h->work) / 1e6);
	log_say(LOG_WARN, "%zu stream%s on %u slot%s; %s kept for readers; %s dispatcher at %s%s", streams,
		str_s(streams), h->conf->slots, str_s(h->conf->slots), kept,
		worker_connected(h->work) ? "in contact with the" : "without contact to the", h->way.where,
		h->drain ? "; draining" : "");
}

void
worker_host_requests(void *arg, int fd, int events)
{
	struct worker_host *h = arg;
	struct asked asked = asked_take();
	(void)fd, (void)events;

	if (asked.where)
		worker_host_stands(h);
	if (asked.again && sock_renew(h->control))
		worker_dispatcher_gone(h->work, clock_mono_ns());
}

/* INT, TERM and USR2 drain; the second INT or TERM leaves at once. */
void
worker_host_signal(void *arg, int fd, int events)
{
	struct worker_host *h = arg;
	(void)fd, (void)events;
	caught_drain();
	if (atomic_exchange(&worker_host_late, false))
		log_say(LOG_INFO, "its lifetime is over");
	if (atomic_load(&worker_host_stops) > 1)
		worker_host_finish(h, ST_OK, NULL);
	else
		h->drain = true;
}
