/* SPDX-License-Identifier: MIT */
#include "cli/progress.h"

#include <inttypes.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/wake.h"

enum { PROGRESS_AFTER_MS = 1000, PROGRESS_EVERY_MS = 100, PROGRESS_LINE_MS = 5000, PROGRESS_COLUMNS = 80 };

static atomic_int progress_asked; /* how many USR1 have come */
static int progress_wake = -1;

static void
progress_caught(int sig)
{
	(void)sig;
	atomic_fetch_add(&progress_asked, 1);
	wake_set(progress_wake);
}

/* Calls that block are not interrupted: nothing has to end. */
static void
progress_take(void)
{
	struct sigaction now = { .sa_handler = progress_caught, .sa_flags = SA_RESTART };

	if (progress_wake >= 0)
		return;
	progress_wake = wake_open();
	if (progress_wake >= 0)
		sigaction(SIGUSR1, &now, NULL);
}

void
progress_begin(struct progress *p, const char *program, int when, bool quiet, bool to_terminal)
{
	*p = (struct progress){ .program = program, .tty = isatty(STDERR_FILENO), .began_ns = clock_mono_ns() };
	p->show = !quiet && (when == PROGRESS_ALWAYS || (when == PROGRESS_AUTO && p->tty && !to_terminal));
	progress_take();
	p->asked = atomic_load(&progress_asked);
}

int
progress_fd(void)
{
	return progress_wake;
}

int
progress_wait(const struct progress *p, int ms)
{
	return p->show && (ms < 0 || ms > PROGRESS_EVERY_MS) ? PROGRESS_EVERY_MS : ms;
}

/* Whether a signal has come since the last call. */
static bool
progress_by_signal(struct progress *p)
{
	int asked = atomic_load_explicit(&progress_asked, memory_order_relaxed);

	if (asked == p->asked)
		return false;
	p->asked = asked;
	wake_clear(progress_wake);
	return true;
}

bool
progress_due(struct progress *p)
{
	if (progress_by_signal(p))
		return true;
	if (!p->show)
		return false;
	int64_t every = !p->shown_ns ? PROGRESS_AFTER_MS : p->tty ? PROGRESS_EVERY_MS : PROGRESS_LINE_MS;
	int64_t now = clock_mono_ns();
	if (now - (p->shown_ns ? p->shown_ns : p->began_ns) < every * 1000000)
		return false;
	p->shown_ns = now;
	return true;
}

static size_t
progress_columns(void)
{
	struct winsize w;

	return ioctl(STDERR_FILENO, TIOCGWINSZ, &w) == 0 && w.ws_col > 1 ? w.ws_col : PROGRESS_COLUMNS;
}

void
progress_say(struct progress *p, const char *line)
{
	char text[LOG_STATUS];

	if (!p->show || !p->tty) {
		log_status_hide();
		fprintf(stderr, "%s: %s\n", p->program, line);
		return;
	}
	size_t columns = progress_columns();
	/* A line that fills the last column would wrap, and could not be erased. */
	snprintf(text, sizeof text, "%.*s", (int)(columns - 1), line);
	log_status(text);
}

double
progress_seconds(const struct progress *p)
{
	return (double)(clock_mono_ns() - p->began_ns) / 1e9;
}

/* Hours, minutes and seconds: 1:02:03, 0:07. */
static int
progress_time(char *out, size_t size, double s)
{
	uint64_t all = (uint64_t)(s + 0.5), h = all / 3600;

	if (h)
		return snprintf(out, size, "%" PRIu64 ":%02u:%02u", h, (unsigned)(all / 60 % 60), (unsigned)(all % 60));
	return snprintf(out, size, "%u:%02u", (unsigned)(all / 60), (unsigned)(all % 60));
}

int
progress_share(const struct progress *p, double share, double begun, char *line, int n, size_t size)
{
	double done = share - begun;

	if (share >= 0)
		n += snprintf(line + n, size - (size_t)n, "  %d%%", share < 1 ? (int)(share * 100) : 100);
	if (done > 0.001 && share < 1) {
		n += snprintf(line + n, size - (size_t)n, "  ETA ");
		n += progress_time(line + n, size - (size_t)n, progress_seconds(p) * (1 - share) / done);
	}
	return n;
}

void
progress_end(struct progress *p)
{
	if (p->show)
		log_status(NULL);
}

void
progress_number(char out[PROGRESS_NUMBER], double v, double base)
{
	static const char *const units[] = { "", "k", "M", "G", "T", "P" };
	size_t u = 0;

	for (; v >= base && u < 5; u++)
		v /= base;
	int digits = u && v < 10 ? 2 : u && v < 100 ? 1 : 0;
	snprintf(out, PROGRESS_NUMBER, "%.*f%s%s", digits, v, base > 1000 && u == 1 ? "K" : units[u],
		 base > 1000 && u ? "i" : "");
}
