/* SPDX-License-Identifier: MIT
 *
 * What dsvc-read tells of its progress, and at the end with --stats.
 */
#include <stdio.h>
#include <string.h>

#include "read.h"
#include "what.h"

void
show_begin(struct delivery *p)
{
	const struct read_options *o = p->o;

	progress_begin(&p->progress, "dsvc-read", o->progress, o->quiet, output_mixes(o->output, o->format));
}

/* How many elements have come: with --joblog those that programs have worked on, whose answers may be any number. */
static uint64_t
show_done(const struct delivery *p)
{
	return p->logged ? logged_sum(p->logged).taken : p->elements;
}

/* The share that is done now, or was at the start of this run; below 0: unknown. */
static double
show_share(const struct delivery *p, bool now)
{
	uint64_t begun = p->logged ? logged_sum(p->logged).before : p->begun;
	double of_all = p->all ? (double)(begun + (now ? show_done(p) : 0)) / (double)p->all : -1;
	double of_count = p->o->count != INT64_MAX ? (double)(now ? p->elements : 0) / (double)p->o->count : -1;

	return of_all > of_count ? of_all : of_count;
}

void
show_progress(struct delivery *p, const struct reader_stats *s)
{
	char elements[PROGRESS_NUMBER], rate[PROGRESS_NUMBER], bytes[PROGRESS_NUMBER], line[LOG_STATUS];
	double seconds = progress_seconds(&p->progress);
	if (p->what && !p->counted) {
		p->all = what_elements(p->what, p->o); /* only now, since it may look into files */
		p->counted = true;
	}
	progress_number(elements, (double)show_done(p), 1000);
	progress_number(rate, (double)show_done(p) / seconds, 1000);
	progress_number(bytes, (double)p->bytes, 1024);
	int n = snprintf(line, sizeof line, "%s elements  %s/s  %sB", elements, rate, bytes);
	if (s && s->missed)
		n += snprintf(line + n, sizeof line - (size_t)n, "  missed %llu", (unsigned long long)s->missed);
	n = progress_share(&p->progress, show_share(p, true), show_share(p, false), line, n, sizeof line);
	if (s)
		snprintf(line + n, sizeof line - (size_t)n, "  %u of %u streams done%s", s->streams_ended,
			 s->streams, s->dispatcher_lost ? "  dispatcher lost, waiting" :
			 s->waiting_for_worker ? "  waiting for a worker" : "");
	progress_say(&p->progress, line);
}

void
show_stats(struct delivery *p)
{
	char rate[PROGRESS_NUMBER], bytes[PROGRESS_NUMBER];
	double seconds = progress_seconds(&p->progress);
	progress_number(rate, seconds > 0 ? (double)p->elements / seconds : 0, 1000);
	progress_number(bytes, (double)p->bytes, 1024);
	fprintf(stderr, "dsvc-read: %llu elements, %sB in %.3f s (%s/s)\n",
		(unsigned long long)p->elements, bytes, seconds, rate);
}
