/* SPDX-License-Identifier: MIT */
#include "status_table.h"

#include <inttypes.h>

#include "status_cells.h"
#include "status_jobs.h"

/* The shards of a pass; streams that depend on who makes them are left out. */
static void
status_audit_shards(struct slice pass, struct buf *out)
{
	struct record_items it = record_list(pass, "streams");
	struct slice s;
	char of[50];
	while (record_next(&it, &s)) {
		if (!record_uint(s, "shards"))
			continue;
		status_cells_of(of, sizeof of, "/", record_uint(s, "stream"), record_uint(s, "shards"));
		buf_printf(out, "%13s  shard %s  acknowledged %" PRIu64, "", of, record_uint(s, "acknowledged"));
		if (record_uint(s, "files"))
			buf_printf(out, "  files %" PRIu64, record_uint(s, "files"));
		buf_str(out, "  ");
		status_cells_put(out, record_text(s, "state"), 0);
		buf_byte(out, '\n');
	}
}

static enum audit
status_audit_books(struct slice p, struct buf *out)
{
	if (record_is(p, "books", "balanced")) {
		buf_str(out, "  balanced\n");
		return AUDIT_GOOD;
	}
	if (record_is(p, "books", "open")) {
		buf_str(out, "  open\n");
		return AUDIT_GOOD;
	}
	if (record_is(p, "books", "failed")) {
		buf_str(out, "  failed\n");
		return AUDIT_FAILED;
	}
	buf_str(out, "  DOES NOT BALANCE\n");
	return AUDIT_UNBALANCED;
}

enum audit
status_table_audit(struct slice report, bool streams, struct buf *out, struct buf *why)
{
	static const char *const columns[] = { "made", "elements", "delivered", "acknowledged",
		"made_again", "suppressed", "lost", "repeated", "failed", "rounds", "dropped" };
	enum { COLUMNS = sizeof columns / sizeof *columns };
	struct record_items jobs = record_list(report, "jobs");
	struct slice j, p;
	enum audit all = AUDIT_GOOD;
	buf_printf(out, "%13s  %-16s  %5s  %-8s", "JOB", "NAME", "EPOCH", "STATE");
	for (int i = 0; i < COLUMNS; i++)
		buf_printf(out, "  %12s", columns[i]);
	buf_byte(out, '\n');
	while (record_next(&jobs, &j)) {
		struct record_items passes = record_list(j, "iterations");
		while (record_next(&passes, &p)) {
			buf_printf(out, "%13" PRIu64 "  ", record_uint(j, "job"));
			status_cells_put(out, record_text(j, "name"), 16);
			buf_printf(out, "%5" PRIu64 "  ", record_uint(p, "epoch"));
			status_cells_put(out, record_text(p, "state"), 8);
			for (int i = 0; i < COLUMNS; i++)
				buf_printf(out, "  %12" PRIu64, record_uint(p, columns[i]));
			enum audit is = status_audit_books(p, out);
			status_jobs_saved(p, out);
			status_jobs_groups(p, true, out);
			if (streams)
				status_audit_shards(p, out);
			if (is == AUDIT_FAILED && !why->len) {
				struct mp m = record_text(p, "error");
				buf_printf(why, "pass %" PRIu64 " failed: ", record_uint(p, "epoch"));
				buf_put(why, m.p, m.n);
			}
			all = is > all ? is : all;
		}
	}
	return all;
}
