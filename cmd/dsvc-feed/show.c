/* SPDX-License-Identifier: MIT */
#include "show.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"

enum { SHOW_AFTER_MS = 1000, SHOW_EVERY_MS = 100, SHOW_LINE_MS = 5000 };

void
show_begin(struct show *s, const struct feed_opts *o)
{
	*s = (struct show){ .tty = isatty(STDERR_FILENO), .began_ns = clock_mono_ns() };
	s->on = !o->quiet && o->progress != 2 &&
		(o->progress == 1 || (s->tty && (o->output || !isatty(STDOUT_FILENO))));
}

void
show_step(struct show *s, uint64_t step, uint64_t rows)
{
	int64_t every = !s->shown_ns ? SHOW_AFTER_MS : s->tty ? SHOW_EVERY_MS : SHOW_LINE_MS, now;
	char line[LOG_STATUS], count[64] = "";

	if (!s->on)
		return;
	if (!s->begun) {
		s->begun = true;
		s->from_step = step - 1;
	}
	now = clock_mono_ns();
	if (now - (s->shown_ns ? s->shown_ns : s->began_ns) < every * 1000000)
		return;
	s->shown_ns = now;
	double seconds = (double)(now - s->began_ns) / 1e9;
	if (rows != UINT64_MAX)
		snprintf(count, sizeof count, "  %" PRIu64 " rows", rows);
	snprintf(line, sizeof line, "step %" PRIu64 "%s  %.1f steps/s", step, count, (double)(step - s->from_step) / seconds);
	if (s->tty)
		log_status(line);
	else
		fprintf(stderr, "dsvc-feed: %s\n", line);
}

void
show_end(struct show *s)
{
	if (s->on && s->tty)
		log_status(NULL);
	s->on = false;
}
