/* SPDX-License-Identifier: MIT
 *
 * Progress: one line on stderr, on a terminal only, after a second only, and
 * gone at the end. Asked for elsewhere, it is a line every few seconds.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "read.h"

enum { SHOW_AFTER_MS = 1000, SHOW_EVERY_MS = 100, SHOW_LINE_MS = 5000 };

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
	/* elements and progress on one terminal would mix */
	return isatty(STDERR_FILENO) && (o->output || !isatty(STDOUT_FILENO));
}

bool
show_due(struct delivery *p)
{
	int64_t every = !p->shown_ns ? SHOW_AFTER_MS : p->tty ? SHOW_EVERY_MS : SHOW_LINE_MS;
	int64_t now = clock_mono_ns(), last = p->shown_ns ? p->shown_ns : p->started_ns;

	if (!p->show || now - last < every * 1000000)
		return false;
	p->shown_ns = now;
	return true;
}

void
show_progress(struct delivery *p, const struct reader_stats *s)
{
	char elements[16], rate[16], bytes[16], line[LOG_STATUS];
	int64_t ns = p->shown_ns - p->started_ns;
	double seconds = (double)ns / 1e9;
	show_number(elements, sizeof elements, (double)p->elements, 1000);
	show_number(rate, sizeof rate, (double)p->elements / seconds, 1000);
	show_number(bytes, sizeof bytes, (double)p->bytes, 1024);
	int n = snprintf(line, sizeof line, "%s elements  %s/s  %sB", elements, rate, bytes);
	if (s && s->missed)
		n += snprintf(line + n, sizeof line - (size_t)n, "  missed %llu", (unsigned long long)s->missed);
	if (s)
		snprintf(line + n, sizeof line - (size_t)n, "  %u of %u streams done%s", s->streams_ended,
			 s->streams, s->dispatcher_lost ? "  dispatcher lost, waiting" :
			 s->waiting_for_worker ? "  waiting for a worker" : "");
	if (p->tty)
		log_status(line);
	else
		fprintf(stderr, "dsvc-read: %s\n", line);
}

void
show_clear(void)
{
	log_status(NULL);
}

void
show_stats(struct delivery *p)
{
	char rate[16], bytes[16];
	double seconds = (double)(clock_mono_ns() - p->started_ns) / 1e9;
	show_number(rate, sizeof rate, seconds > 0 ? (double)p->elements / seconds : 0, 1000);
	show_number(bytes, sizeof bytes, (double)p->bytes, 1024);
	fprintf(stderr, "dsvc-read: %llu elements, %sB in %.3f s (%s/s)\n",
		(unsigned long long)p->elements, bytes, seconds, rate);
}
