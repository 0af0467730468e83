/* SPDX-License-Identifier: MIT */
#include "status_pace.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "core/wanted.h"
#include "host/limit.h"
#include "host/wanted_report.h"
#include "status_cells.h"
#include "value/mp.h"

/* Elements of the job's dataset; UINT64_MAX: not known, or it has no end. */
static uint64_t
pace_elements(struct slice report, struct slice job)
{
	struct record_items it = record_list(report, "datasets");
	struct mp id = record_text(job, "dataset");
	struct slice d;
	int64_t n;

	while (record_next(&it, &d)) {
		struct mp is = record_text(d, "id");

		if (is.n != id.n || memcmp(is.p, id.p, id.n))
			continue;
		return record_int(d, "cardinality", &n) && n >= 0 ? (uint64_t)n : UINT64_MAX;
	}
	return UINT64_MAX;
}

/* The time until all elements are acknowledged, at the rate of the last seconds. Groups have each their own. */
static void
pace_left(struct slice report, struct slice job, struct slice pass, struct status_details *d)
{
	uint64_t all = pace_elements(report, job), acked = record_uint(pass, "acknowledged");
	uint64_t rate = record_uint(pass, "per_second");
	char time[24], text[48];

	if (all == UINT64_MAX || !rate || acked > all || record_list(pass, "groups").left)
		return;
	status_cells_duration((all - acked) / rate * 1000, time);
	snprintf(text, sizeof text, "about %s left", time);
	status_cells_detail_text(d, text);
}

void
status_pace(struct slice report, struct slice job, struct slice pass, struct buf *out)
{
	struct status_details d = { out, false };
	struct limit l;
	char text[80];

	if (!record_is(pass, "state", "running"))
		return;
	limit_find(report, job, pass, NULL, &l);
	if (l.kind == LIMIT_UNKNOWN || l.kind == LIMIT_CONSUMER || !l.readers)
		return;
	if (l.kind != LIMIT_NO_WORKERS) {
		uint64_t wanted = wanted_number(wanted_pass(report, pass), 1);

		snprintf(text, sizeof text, "readers wait %.0f %%", 100 * l.waits);
		status_cells_detail_text(&d, text);
		snprintf(text, sizeof text, "workers held back %.0f %%", 100 * l.held);
		status_cells_detail_text(&d, text);
		snprintf(text, sizeof text, "%" PRIu64 " slot%s wanted", wanted, str_s(wanted));
		status_cells_detail_text(&d, text);
		pace_left(report, job, pass, &d);
		status_cells_details_end(&d);
	}
	buf_str(out, "    limit: ");
	limit_say(&l, out);
	buf_byte(out, '\n');
}
