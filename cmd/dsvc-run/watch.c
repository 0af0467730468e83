/* SPDX-License-Identifier: MIT */
#include "watch.h"

#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/thread.h"
#include "base/wake.h"
#include "cli/output.h"
#include "op/intake.h"

struct watch {
	struct watch_conf conf;
	struct progress progress;
	struct intake intake;
	struct op_intake taken;
	_Atomic uint64_t elements;
	uint64_t bytes_all, elements_all; /* all that the sources have; 0: unknown */
	uint64_t count;                   /* UINT64_MAX: any number */
	uint64_t all;                     /* that come out; 0: unknown */
	bool known;                       /* the totals have been worked out */
	bool started;
	int quit;
	pthread_t thread;
};

/* The share of the sources that is taken in; below 0: unknown. */
static double
watch_share_in(const struct watch *w, uint64_t bytes)
{
	uint64_t taken = atomic_load(&w->taken.elements);

	if (!w->intake.tells)
		return -1;
	if (bytes && w->bytes_all)
		return (double)bytes / (double)w->bytes_all;
	return w->elements_all && !bytes ? (double)taken / (double)w->elements_all : -1;
}

/* The share that is done; below 0: unknown. What has come out says it best, for sources are read ahead; but where an
 * operator holds all back until it has seen all, most of the work comes before that. */
static double
watch_share(const struct watch *w, uint64_t elements, uint64_t bytes)
{
	double in = watch_share_in(w, bytes);

	if (w->count != UINT64_MAX)
		return (double)elements / (double)w->count;
	if (!w->all || (w->intake.holds && in >= 0))
		return in;
	return (double)elements / (double)w->all;
}

static void
watch_say(struct watch *w)
{
	char number[PROGRESS_NUMBER], rate[PROGRESS_NUMBER], line[LOG_STATUS];
	uint64_t elements = atomic_load(&w->elements), bytes = atomic_load(&w->taken.bytes);
	double s = progress_seconds(&w->progress);

	if (!w->known) {
		intake_total(&w->intake, &w->bytes_all, &w->elements_all);
		w->all = intake_elements(w->conf.top);
	}
	w->known = true;
	progress_number(number, (double)elements, 1000);
	progress_number(rate, s > 0 ? (double)elements / s : 0, 1000);
	int n = snprintf(line, sizeof line, "%s elements  %s/s", number, rate);
	if (bytes) {
		progress_number(number, (double)bytes, 1024);
		progress_number(rate, (double)w->bytes_all, 1024);
		n += snprintf(line + n, sizeof line - (size_t)n, w->bytes_all ? "  read %sB of %sB" : "  read %sB",
			      number, rate);
	}
	progress_share(&w->progress, watch_share(w, elements, bytes), 0, line, n, sizeof line);
	progress_say(&w->progress, line);
}

static void *
watch_run(void *arg)
{
	struct watch *w = arg;
	struct pollfd f[2] = { { w->quit, POLLIN, 0 }, { progress_fd(), POLLIN, 0 } };

	for (;;) {
		poll(f, 2, progress_wait(&w->progress, -1));
		if (f[0].revents)
			return NULL;
		if (progress_due(&w->progress))
			watch_say(w);
	}
}

struct watch *
watch_new(const struct watch_conf *c)
{
	struct watch *w = mem_zalloc(sizeof *w);

	w->conf = *c;
	w->quit = -1;
	intake_find(&w->intake, c->top);
	w->count = c->count == INT64_MAX ? UINT64_MAX : (uint64_t)c->count;
	return w;
}

void
watch_begin(struct watch *w, struct op_intake **intake)
{
	const struct watch_conf *c = &w->conf;
	struct err e;

	progress_begin(&w->progress, "dsvc-run", c->when, c->quiet, output_mixes(c->output, (int)c->format));
	w->quit = wake_open();
	w->started = w->quit >= 0 && progress_fd() >= 0
		&& thread_start(&w->thread, watch_run, w, "progress", &e) == ST_OK;
	*intake = &w->taken;
}

void
watch_add(struct watch *w, uint32_t elements)
{
	atomic_fetch_add_explicit(&w->elements, elements, memory_order_relaxed);
}

void
watch_end(struct watch **wp)
{
	struct watch *w = *wp;

	*wp = NULL;
	if (w->started) {
		wake_set(w->quit);
		pthread_join(w->thread, NULL);
	}
	progress_end(&w->progress);
	intake_clear(&w->intake);
	if (w->quit >= 0)
		close(w->quit);
	mem_free(w);
}
