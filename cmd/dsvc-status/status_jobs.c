/* SPDX-License-Identifier: MIT */
#include "status_jobs.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "status_cells.h"
#include "status_pace.h"
#include "value/mp.h"

/* Elements of the pass in the previous report. */
static uint64_t
status_jobs_before(struct slice before, uint64_t job, uint64_t epoch)
{
	struct record_items jobs = record_list(before, "jobs");
	struct slice j, p;
	while (record_next(&jobs, &j)) {
		struct record_items passes = record_list(j, "iterations");
		while (record_uint(j, "job") == job && record_next(&passes, &p))
			if (record_uint(p, "epoch") == epoch)
				return record_uint(p, "acknowledged");
	}
	return UINT64_MAX;
}

static void
status_jobs_pass_streams(struct slice j, struct slice p, struct buf *out)
{
	struct record_items it = record_list(p, "streams");
	struct slice s;
	uint32_t n = it.left;
	char of[50];

	if (!record_is(p, "state", "running")) /* the shards of others are for audits */
		return;
	for (int i = 0; i < STATUS_TABLE_ROWS && record_next(&it, &s); i++) {
		status_cells_of(of, sizeof of, "/", record_uint(s, "stream"), record_uint(s, "shards"));
		status_cells_job(j, 9, out);
		buf_printf(out, "%6s  %3" PRIu64 "  ", of, record_uint(s, "generation"));
		status_cells_put(out, record_text(s, "state"), 10);
		status_cells_put(out, record_text(s, "worker"), 11);
		status_cells_of(of, sizeof of, " of ", record_uint(s, "splits"), record_uint(s, "files"));
		buf_printf(out, "%7s  %8" PRIu64 "  %12" PRIu64 "\n", of, record_uint(s, "restart_point"),
			   record_uint(s, "acknowledged"));
	}
	status_cells_more(n, out);
}

void
status_jobs_streams(struct slice report, struct buf *out)
{
	struct record_items jobs = record_list(report, "jobs");
	struct slice j, p;
	size_t head = out->len, begin;
	buf_printf(out, "\n%-9s  %6s  %3s  %-10s  %-11s  %7s  %8s  %12s\n", "JOB", "STREAM", "GEN", "STATE", "WORKER",
		   "SPLITS", "RESTART", "ACKNOWLEDGED");
	begin = out->len;
	while (record_next(&jobs, &j)) {
		struct record_items passes = record_list(j, "iterations");
		while (record_next(&passes, &p))
			status_jobs_pass_streams(j, p, out);
	}
	if (out->len == begin)
		out->len = head;
}

/* When a job without readers is forgotten. */
static void
status_jobs_forgotten(struct slice j, struct status_details *d)
{
	char text[24];
	int64_t ms;

	if (record_int(j, "forgotten_in_ms", &ms)) {
		status_cells_duration((uint64_t)ms, text);
		status_cells_detail(d, "forgotten in ", (struct mp){ .p = (const uint8_t *)text, .n = (uint32_t)strlen(text) });
	} else if (!record_uint(j, "users")) {
		status_cells_detail_text(d, "never forgotten");
	}
}

/* The job's dataset, and what it has that is not usual. */
static void
status_jobs_job_more(struct slice j, struct buf *out)
{
	struct status_details d = { out, false };
	char text[80];

	status_cells_detail(&d, "of ", record_text(j, "dataset"));
	if (record_text(j, "where").n || !record_is(j, "target", "auto"))
		status_cells_detail(&d, "target ", record_text(j, "target"));
	status_cells_detail(&d, "where ", record_text(j, "where"));
	if (record_uint(j, "shards")) {
		struct mp policy = record_text(j, "sharding");
		snprintf(text, sizeof text, "sharding=%.*s shards=%" PRIu64, policy.n > 20 ? 20 : (int)policy.n,
			 (const char *)policy.p, record_uint(j, "shards"));
		status_cells_detail_text(&d, text);
	}
	if (record_uint(j, "consumers")) {
		snprintf(text, sizeof text, "consumers=%" PRIu64, record_uint(j, "consumers"));
		status_cells_detail_text(&d, text);
	}
	status_jobs_forgotten(j, &d);
	status_cells_details_end(&d);
}

void
status_jobs_groups(struct slice pass, bool audit, struct buf *out)
{
	struct record_items it = record_list(pass, "groups");
	struct slice g;
	while (record_next(&it, &g)) {
		buf_str(out, "    group ");
		status_cells_text(record_text(g, "group"), out);
		buf_printf(out, "  readers %" PRIu64, record_uint(g, "readers"));
		if (audit)
			buf_printf(out, "  elements %" PRIu64, record_uint(g, "elements"));
		buf_printf(out, "  acknowledged %" PRIu64 "  missed %" PRIu64, record_uint(g, "acknowledged"),
			   record_uint(g, "missed"));
		if (audit)
			buf_printf(out, "  lost %" PRIu64 "  repeated %" PRIu64, record_uint(g, "lost"), record_uint(g, "repeated"));
		if (record_uint(g, "ended"))
			buf_str(out, "  ended\n");
		else
			buf_printf(out, "  behind %" PRIu64 "\n", record_uint(g, "behind"));
	}
}

void
status_jobs_saved(struct slice p, struct buf *out)
{
	if (record_uint(p, "chunks"))
		buf_printf(out, "    saved %" PRIu64 " chunk%s  %" PRIu64 " element%s  %.1f MiB\n", record_uint(p, "chunks"),
			   str_s(record_uint(p, "chunks")), record_uint(p, "saved"), str_s(record_uint(p, "saved")),
			   (double)record_uint(p, "bytes") / 1048576);
}

/* The lines below a pass: whom it waits for, the reason of its failure, its groups. */
static void
status_jobs_pass_more(struct slice p, struct buf *out)
{
	struct status_details d = { out, false };

	status_jobs_saved(p, out);
	status_cells_detail(&d, "waits for consumer ", record_text(p, "waits_for"));
	if (record_is(p, "state", "failed"))
		status_cells_detail(&d, "failed: ", record_text(p, "error"));
	status_cells_details_end(&d);
	if (record_text(p, "stands_still").n) {
		buf_str(out, "    stands still: ");
		status_cells_text(record_text(p, "stands_still"), out);
		buf_byte(out, '\n');
	}
	status_jobs_groups(p, false, out);
}

static void
status_jobs_passes(struct slice report, struct slice j, struct slice before, double seconds, struct buf *out)
{
	struct record_items it = record_list(j, "iterations");
	struct slice p;
	char streams[50];
	while (record_next(&it, &p)) {
		uint64_t acked = record_uint(p, "acknowledged");
		uint64_t was = status_jobs_before(before, record_uint(j, "job"), record_uint(p, "epoch"));
		status_cells_job(j, 16, out);
		buf_printf(out, "%5" PRIu64 "  ", record_uint(p, "epoch"));
		status_cells_put(out, record_text(p, "state"), 8);
		snprintf(streams, sizeof streams, "%" PRIu64 "/%" PRIu64, record_uint(p, "streams_finished"),
			 record_uint(p, "streams_known"));
		buf_printf(out, "%7" PRIu64 "  %9s  %12" PRIu64, record_uint(p, "readers"), streams, acked);
		if (was != UINT64_MAX && seconds > 0 && acked >= was)
			buf_printf(out, "  %10.0f\n", (double)(acked - was) / seconds);
		else
			buf_printf(out, "  %10" PRIu64 "\n", record_uint(p, "per_second"));
		status_jobs_pass_more(p, out);
		status_pace(report, j, p, out);
	}
	status_jobs_job_more(j, out);
}

void
status_jobs_jobs(struct slice report, struct slice before, double seconds, struct buf *out)
{
	struct record_items it = record_list(report, "jobs");
	struct slice j;
	if (!it.left) {
		buf_str(out, "no jobs\n");
		return;
	}
	buf_printf(out, "%-16s  %5s  %-8s  %7s  %9s  %12s  %10s\n", "JOB", "EPOCH", "STATE", "READERS", "STREAMS",
		   "ACKNOWLEDGED", "PER SECOND");
	while (record_next(&it, &j))
		status_jobs_passes(report, j, before, seconds, out);
	if (record_uint(report, "jobs_more"))
		buf_printf(out, "and %" PRIu64 " more (--all)\n", record_uint(report, "jobs_more"));
}
