/* SPDX-License-Identifier: MIT */
#include "names.h"

#include <inttypes.h>

void
names_print(struct slice report, int of, struct buf *out)
{
	bool jobs = of == NAMES_JOBS;
	struct record_items items = record_list(report, jobs ? "jobs" : "datasets");
	struct slice one;

	while (record_next(&items, &one)) {
		struct mp name = record_text(one, jobs ? "name" : "id");

		if (name.n)
			buf_plain(out, name.p, name.n, '?');
		else
			buf_printf(out, "%" PRIu64, record_uint(one, "job"));
		buf_byte(out, '\n');
	}
}
