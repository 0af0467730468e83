/* SPDX-License-Identifier: MIT
 *
 * Progress: one line on stderr, on a terminal only, after a second only, and
 * gone at the end.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "read.h"

enum { SHOW_AFTER_MS = 1000 };

/* 1234567 as 1.23M; base 1000 for counts, 1024 for bytes. */
static void
show_number(char *out, size_t size, double v, double base)
{
	static const char *const units[] = { "", "k", "M", "G", "T", "P" };
	size_t u = 0;
	while (v >= base && u < 5) {
		v /= base;
		u++;
	}
	snprintf(out, size, u && v < 10 ? "%.2f%s" : u && v < 100 ? "%.1f%s" : "%.0f%s", v, units[u]);
}

bool
show_wanted(const struct read_options *o)
{
	if (o->quiet || o->progress == 2)
		return false;
	if (o->progress == 1)
		return true;
	/* the same terminal for elements and for progress would mix them */
	return isatty(STDERR_FILENO) && (o->output || !isatty(STDOUT_FILENO));
}

void
show_progress(struct pour *p, const struct read_stats *s)
{
	char elements[16], rate[16], bytes[16];
	int64_t ns = p->shown_ns - p->started_ns;
	if (ns < SHOW_AFTER_MS * (int64_t)1000000)
		return;
	double seconds = (double)ns / 1e9;
	show_number(elements, sizeof elements, (double)p->elements, 1000);
	show_number(rate, sizeof rate, (double)p->elements / seconds, 1000);
	show_number(bytes, sizeof bytes, (double)p->bytes, 1024);
	fprintf(stderr, "%s%s elements  %s/s  %sB  %u of %u streams done%s%s",
		isatty(STDERR_FILENO) ? "\r\033[K" : "", elements, rate, bytes, s->streams_ended,
		s->streams, s->dispatcher_lost ? "  dispatcher lost, waiting" :
		s->waiting_for_worker ? "  waiting for a worker" : "",
		isatty(STDERR_FILENO) ? "" : "\n");
	fflush(stderr);
	p->shown = true;
}

void
show_clear(struct pour *p)
{
	if (p->shown && isatty(STDERR_FILENO))
		fputs("\r\033[K", stderr);
	fflush(stderr);
	p->shown = false;
}

void
show_stats(struct pour *p)
{
	char rate[16], bytes[16];
	double seconds = (double)(clock_mono_ns() - p->started_ns) / 1e9;
	show_number(rate, sizeof rate, seconds > 0 ? (double)p->elements / seconds : 0, 1000);
	show_number(bytes, sizeof bytes, (double)p->bytes, 1024);
	fprintf(stderr, "dsvc-read: %llu elements, %sB in %.3f s (%s/s)\n",
		(unsigned long long)p->elements, bytes, seconds, rate);
}
