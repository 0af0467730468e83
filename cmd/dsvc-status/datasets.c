/* SPDX-License-Identifier: MIT */
#include "datasets.h"

#include <inttypes.h>
#include <stdio.h>

#include "status_cells.h"
#include "value/dataset_facts.h"

/* How many elements it has: nothing if nobody could tell, or nobody has looked yet. */
static void
datasets_count(struct slice dataset, struct status_details *d)
{
	int64_t n;
	char text[40];

	if (!record_int(dataset, "cardinality", &n))
		return;
	if (n == FACTS_SAID_ENDLESS)
		status_cells_detail_text(d, "endless");
	if (n < 0)
		return;
	snprintf(text, sizeof text, "%" PRId64 " element%s", n, n == 1 ? "" : "s");
	status_cells_detail_text(d, text);
}

static void
datasets_facts(struct slice d, struct buf *out)
{
	struct status_details lines = { out, false };

	datasets_count(d, &lines);
	status_cells_detail(&lines, "must see all: ", record_text(d, "global"));
	if (record_uint(d, "hint"))
		status_cells_detail_text(&lines, "takes its share from the job");
	if (record_at(d, "repeats").p && !record_uint(d, "repeats"))
		status_cells_detail_text(&lines, "comes out otherwise each time");
	if (record_uint(d, "programs"))
		status_cells_detail_text(&lines, "runs programs");
	status_cells_details_end(&lines);
}

void
datasets_table(struct slice report, struct buf *out)
{
	struct record_items it = record_list(report, "datasets");
	struct slice d;

	if (!it.left)
		return;
	buf_printf(out, "\n%-16s  %-20s  %s\n", "DATASET", "TYPE", "PIPELINE");
	while (record_next(&it, &d)) {
		status_cells_put(out, record_text(d, "id"), 16);
		status_cells_put(out, record_text(d, "type"), 20);
		status_cells_text(record_text(d, "spec"), out);
		buf_byte(out, '\n');
		datasets_facts(d, out);
	}
}
