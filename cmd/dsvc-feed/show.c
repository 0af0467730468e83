/* SPDX-License-Identifier: MIT */
#include "show.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/log.h"
#include "base/str.h"
#include "cli/output.h"

void
show_begin(struct show *s, const struct feed_opts *o)
{
	*s = (struct show){ .begun = false };
	progress_begin(&s->progress, "dsvc-feed", o->progress, o->quiet, output_mixes(o->output, o->format));
}

void
show_step(struct show *s, uint64_t step, uint64_t rows)
{
	char line[LOG_STATUS], count[64] = "";

	if (!s->begun) {
		s->begun = true;
		s->from_step = step - 1;
	}
	if (!progress_due(&s->progress))
		return;
	if (rows != UINT64_MAX)
		snprintf(count, sizeof count, "  %" PRIu64 " row%s", rows, str_s(rows));
	snprintf(line, sizeof line, "step %" PRIu64 "%s  %.1f steps/s", step, count,
		 (double)(step - s->from_step) / progress_seconds(&s->progress));
	progress_say(&s->progress, line);
}

void
show_end(struct show *s)
{
	progress_end(&s->progress);
	s->progress.show = false;
}
