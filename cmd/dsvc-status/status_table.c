/* SPDX-License-Identifier: MIT */
#include "status_table.h"

#include <inttypes.h>

#include "datasets.h"
#include "status_cells.h"
#include "status_jobs.h"
#include "status_peers.h"

static void
status_table_events(struct slice report, struct buf *out)
{
	struct record_items it = record_list(report, "events");
	struct slice event;
	char ago[24];
	if (!it.left)
		return;
	buf_printf(out, "\n%5s  %s\n", "AGO", "EVENT");
	while (record_next(&it, &event)) {
		status_cells_duration(record_uint(event, "ago_ms"), ago);
		buf_printf(out, "%5s  ", ago);
		status_cells_text(record_text(event, "text"), out);
		buf_byte(out, '\n');
	}
}

void
status_table_status(struct slice report, struct slice before, double seconds, bool streams, unsigned width,
		    struct buf *out)
{
	struct buf whole = { 0 };

	buf_printf(&whole, "dispatcher %.*s, %s\n\n", (int)record_text(report, "instance").n,
		   (const char *)record_text(report, "instance").p,
		   record_uint(report, "durable") ? "keeps its state" : "no --state: jobs end if it dies");
	status_peers_workers(report, streams, &whole);
	buf_byte(&whole, '\n');
	status_jobs_jobs(report, before, seconds, &whole);
	if (streams)
		status_jobs_streams(report, &whole);
	status_peers_readers(report, &whole);
	datasets_table(report, &whole);
	status_table_events(report, &whole);
	if (width)
		status_cells_cut(&whole, width, out);
	else
		buf_put(out, whole.data, whole.len);
	buf_clear(&whole);
}
