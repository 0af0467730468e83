/* SPDX-License-Identifier: MIT */
#include "status_peers.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "status_cells.h"
#include "value/mp.h"

static void
status_peers_tags(struct slice worker, struct buf *tags)
{
	struct record_items it = record_list(worker, "tags");
	struct slice tag;
	struct mp m;

	while (record_next(&it, &tag))
		if (mp_head(tag.p, tag.end, &m) && m.kind == MP_TEXT)
			buf_printf(tags, "%s%.*s", tags->len ? "," : "", (int)m.n, (const char *)m.p);
}

/* Its tags, memory that it shares, and its address unless that is a socket of this machine. */
static void
status_peers_worker_more(struct slice w, bool all, struct buf *out)
{
	struct status_details d = { out, false };
	struct mp endpoint = record_text(w, "endpoint");
	struct buf tags = { 0 };
	char arena[64];

	status_peers_tags(w, &tags);
	status_cells_detail(&d, "tags ", (struct mp){ .p = tags.data, .n = (uint32_t)tags.len });
	snprintf(arena, sizeof arena, "arena %.1f MiB, leased %.1f", (double)record_uint(w, "arena_bytes") / 1048576,
		 (double)record_uint(w, "leased_bytes") / 1048576);
	if (record_uint(w, "arena_bytes"))
		status_cells_detail_text(&d, arena);
	if (all || (endpoint.n > 4 && !memcmp(endpoint.p, "tcp:", 4)))
		status_cells_detail(&d, "at ", endpoint);
	status_cells_details_end(&d);
	buf_clear(&tags);
}

/* The name of a peer's machine, or its id. */
static struct mp
status_peers_host(struct slice peer)
{
	struct mp name = record_text(peer, "hostname");

	return name.n ? name : record_text(peer, "host");
}

void
status_peers_workers(struct slice report, bool all, struct buf *out)
{
	struct record_items it = record_list(report, "workers");
	struct slice w;
	char age[24];
	if (!it.left) {
		buf_str(out, "no workers\n");
		return;
	}
	buf_printf(out, "%-18s  %7s  %5s  %7s  %8s  %-8s  %4s  %s\n", "WORKER", "PID", "SLOTS", "STREAMS", "KEPT MiB",
		   "STATE", "AGE", "HOST");
	while (record_next(&it, &w)) {
		status_cells_duration(record_uint(w, "age_ms"), age);
		status_cells_put(out, record_text(w, "name"), 18);
		buf_printf(out, "%7" PRIu64 "  %5" PRIu64 "  %7" PRIu64 "  %8.1f  %-8s  %4s  ", record_uint(w, "pid"),
			   record_uint(w, "slots"), record_uint(w, "streams"), (double)record_uint(w, "kept_bytes") / 1048576,
			   record_uint(w, "awaited")    ? "awaited"
			   : record_uint(w, "draining") ? "draining"
							      : "live", age);
		status_cells_put(out, status_peers_host(w), 0);
		out->len -= 2;
		buf_byte(out, '\n');
		status_peers_worker_more(w, all, out);
	}
}

/* The job of a reader. */
static void
status_peers_job_of(struct slice report, uint64_t number, unsigned width, struct buf *out)
{
	struct record_items jobs = record_list(report, "jobs");
	struct slice j;

	while (record_next(&jobs, &j))
		if (record_uint(j, "job") == number) {
			status_cells_job(j, width, out);
			return;
		}
	status_cells_put(out, (struct mp){ 0 }, width);
}

/* feed  step 117  4 cores  core 3 is last */
static void
status_peers_feed(struct slice r, struct status_details *d)
{
	uint64_t cores = record_uint(r, "cores"), last = record_uint(r, "last");
	char text[100], who[40] = "";

	if (!cores)
		return;
	if (last)
		snprintf(who, sizeof who, "  core %" PRIu64 " is last", last - 1);
	snprintf(text, sizeof text, "feed  step %" PRIu64 "  %" PRIu64 " core%s%s", record_uint(r, "step"), cores,
		 cores == 1 ? "" : "s", who);
	status_cells_detail_text(d, text);
}

/* consumer 2/4  round 118204  ahead 12; that it reads in shared memory; that it feeds cores */
static void
status_peers_reader_more(struct slice r, struct buf *out)
{
	struct status_details d = { out, false };
	char text[64];

	status_cells_detail(&d, "consumer ", record_text(r, "consumer"));
	if (d.any) {
		snprintf(text, sizeof text, "round %" PRIu64 "  ahead %" PRIu64, record_uint(r, "round"), record_uint(r, "ahead"));
		status_cells_detail_text(&d, text);
	}
	status_cells_detail(&d, "group ", record_text(r, "group"));
	if (record_is(r, "transfer", "shm"))
		status_cells_detail_text(&d, "transfer shm");
	status_peers_feed(r, &d);
	status_cells_details_end(&d);
}

void
status_peers_readers(struct slice report, struct buf *out)
{
	struct record_items it = record_list(report, "readers");
	struct slice r;
	uint32_t n = it.left;
	char age[24];
	if (!n)
		return;
	buf_printf(out, "\n%-17s  %7s  %4s  %-16s  %5s  %12s  %s\n", "READER", "PID", "AGE", "JOB", "EPOCH", "ACKNOWLEDGED",
		   "STATE");
	for (int i = 0; i < STATUS_TABLE_ROWS && record_next(&it, &r); i++) {
		status_cells_duration(record_uint(r, "age_ms"), age);
		status_cells_put(out, record_text(r, "name"), 17);
		buf_printf(out, "%7" PRIu64 "  %4s  ", record_uint(r, "pid"), age);
		status_peers_job_of(report, record_uint(r, "job"), 16, out);
		buf_printf(out, "%5" PRIu64 "  %12" PRIu64 "  %s\n", record_uint(r, "epoch"), record_uint(r, "acknowledged"),
			   record_uint(r, "waiting") ? "waiting" : record_uint(r, "job") ? "reading" : "idle");
		status_peers_reader_more(r, out);
	}
	status_cells_more(n, out);
}
