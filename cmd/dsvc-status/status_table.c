/* SPDX-License-Identifier: MIT */
#include "status_table.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "datasets.h"
#include "cells.h"
#include "value/format/format.h"
#include "value/mp.h"

/* A duration in the largest unit of which there are two. */
static void
status_table_duration(uint64_t ms, char out[24])
{
	static const struct {
		uint64_t s;
		char unit;
	} units[] = { { 86400, 'd' }, { 3600, 'h' }, { 60, 'm' }, { 1, 's' } };
	uint64_t s = ms / 1000;
	size_t i = 0;

	while (units[i].s > 1 && s < 2 * units[i].s)
		i++;
	snprintf(out, 24, "%" PRIu64 "%c", s / units[i].s, units[i].unit);
}

static void
status_table_tags(struct slice worker, struct buf *tags)
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
status_table_worker_more(struct slice w, bool all, struct buf *out)
{
	struct cells_details d = { out, false };
	struct mp endpoint = record_text(w, "endpoint");
	struct buf tags = { 0 };
	char arena[64];

	status_table_tags(w, &tags);
	cells_detail(&d, "tags ", (struct mp){ .p = tags.data, .n = (uint32_t)tags.len });
	snprintf(arena, sizeof arena, "arena %.1f MiB, leased %.1f", (double)record_uint(w, "arena_bytes") / 1048576,
		 (double)record_uint(w, "leased_bytes") / 1048576);
	if (record_uint(w, "arena_bytes"))
		cells_detail_text(&d, arena);
	if (all || (endpoint.n > 4 && !memcmp(endpoint.p, "tcp:", 4)))
		cells_detail(&d, "at ", endpoint);
	cells_details_end(&d);
	buf_clear(&tags);
}

static void
status_table_workers(struct slice report, bool all, struct buf *out)
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
		status_table_duration(record_uint(w, "age_ms"), age);
		cells_put(out, record_text(w, "name"), 18);
		buf_printf(out, "%7" PRIu64 "  %5" PRIu64 "  %7" PRIu64 "  %8.1f  %-8s  %4s  ", record_uint(w, "pid"),
			   record_uint(w, "slots"), record_uint(w, "streams"), (double)record_uint(w, "kept_bytes") / 1048576,
			   record_uint(w, "awaited")    ? "awaited"
			   : record_uint(w, "draining") ? "draining"
							      : "live", age);
		cells_put(out, record_text(w, "host"), 0);
		out->len -= 2;
		buf_byte(out, '\n');
		status_table_worker_more(w, all, out);
	}
}

/* Elements of the pass in the previous report. */
static uint64_t
status_table_before(struct slice before, uint64_t job, uint64_t epoch)
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

enum { STATUS_TABLE_ROWS = 40 }; /* rows shown of readers, and of a pass's streams; JSON has all */

static void
status_table_more(uint32_t n, struct buf *out)
{
	if (n > STATUS_TABLE_ROWS)
		buf_printf(out, "... and %" PRIu32 " more, see --json\n", n - STATUS_TABLE_ROWS);
}

/* A job by its name or, without one, by its number: what --audit and dsvc-forget take, too. */
static void
status_table_job(struct slice j, unsigned width, struct buf *out)
{
	struct mp name = record_text(j, "name");
	char number[24];

	snprintf(number, sizeof number, "%" PRIu64, record_uint(j, "job"));
	if (!name.n)
		name = (struct mp){ .p = (const uint8_t *)number, .n = (uint32_t)strlen(number) };
	cells_put(out, name, width);
}

/* The job of a reader. */
static void
status_table_job_of(struct slice report, uint64_t number, unsigned width, struct buf *out)
{
	struct record_items jobs = record_list(report, "jobs");
	struct slice j;

	while (record_next(&jobs, &j))
		if (record_uint(j, "job") == number) {
			status_table_job(j, width, out);
			return;
		}
	cells_put(out, (struct mp){ 0 }, width);
}

/* feed  step 117  4 cores  core 3 is last */
static void
status_table_feed(struct slice r, struct cells_details *d)
{
	uint64_t cores = record_uint(r, "cores"), last = record_uint(r, "last");
	char text[100], who[40] = "";

	if (!cores)
		return;
	if (last)
		snprintf(who, sizeof who, "  core %" PRIu64 " is last", last - 1);
	snprintf(text, sizeof text, "feed  step %" PRIu64 "  %" PRIu64 " core%s%s", record_uint(r, "step"), cores,
		 cores == 1 ? "" : "s", who);
	cells_detail_text(d, text);
}

/* consumer 2/4  round 118204  ahead 12; that it reads in shared memory; that it feeds cores */
static void
status_table_reader_more(struct slice r, struct buf *out)
{
	struct cells_details d = { out, false };
	char text[64];

	cells_detail(&d, "consumer ", record_text(r, "consumer"));
	if (d.any) {
		snprintf(text, sizeof text, "round %" PRIu64 "  ahead %" PRIu64, record_uint(r, "round"), record_uint(r, "ahead"));
		cells_detail_text(&d, text);
	}
	cells_detail(&d, "group ", record_text(r, "group"));
	if (record_is(r, "transfer", "shm"))
		cells_detail_text(&d, "transfer shm");
	status_table_feed(r, &d);
	cells_details_end(&d);
}

static void
status_table_readers(struct slice report, struct buf *out)
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
		status_table_duration(record_uint(r, "age_ms"), age);
		cells_put(out, record_text(r, "name"), 17);
		buf_printf(out, "%7" PRIu64 "  %4s  ", record_uint(r, "pid"), age);
		status_table_job_of(report, record_uint(r, "job"), 16, out);
		buf_printf(out, "%5" PRIu64 "  %12" PRIu64 "  %s\n", record_uint(r, "epoch"), record_uint(r, "acknowledged"),
			   record_uint(r, "waiting") ? "waiting" : record_uint(r, "job") ? "reading" : "idle");
		status_table_reader_more(r, out);
	}
	status_table_more(n, out);
}

/* A number, and of how many unless that is 0. */
static void
status_table_of(char *out, size_t room, const char *between, uint64_t n, uint64_t all)
{
	if (all)
		snprintf(out, room, "%" PRIu64 "%s%" PRIu64, n, between, all);
	else
		snprintf(out, room, "%" PRIu64, n);
}

static void
status_table_pass_streams(struct slice j, struct slice p, struct buf *out)
{
	struct record_items it = record_list(p, "streams");
	struct slice s;
	uint32_t n = it.left;
	char of[50];

	if (!record_is(p, "state", "running")) /* the shards of others are for audits */
		return;
	for (int i = 0; i < STATUS_TABLE_ROWS && record_next(&it, &s); i++) {
		status_table_of(of, sizeof of, "/", record_uint(s, "stream"), record_uint(s, "shards"));
		status_table_job(j, 9, out);
		buf_printf(out, "%6s  %3" PRIu64 "  ", of, record_uint(s, "generation"));
		cells_put(out, record_text(s, "state"), 10);
		cells_put(out, record_text(s, "worker"), 11);
		status_table_of(of, sizeof of, " of ", record_uint(s, "splits"), record_uint(s, "files"));
		buf_printf(out, "%7s  %8" PRIu64 "  %12" PRIu64 "\n", of, record_uint(s, "restart_point"),
			   record_uint(s, "acknowledged"));
	}
	status_table_more(n, out);
}

static void
status_table_streams(struct slice report, struct buf *out)
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
			status_table_pass_streams(j, p, out);
	}
	if (out->len == begin)
		out->len = head;
}

/* When a job without readers is forgotten. */
static void
status_table_forgotten(struct slice j, struct cells_details *d)
{
	struct slice v = record_at(j, "forgotten_in_ms");
	char text[24];
	struct mp m;

	if (v.p && mp_head(v.p, v.end, &m) && m.kind == MP_INT) {
		status_table_duration(record_uint(j, "forgotten_in_ms"), text);
		cells_detail(d, "forgotten in ", (struct mp){ .p = (const uint8_t *)text, .n = (uint32_t)strlen(text) });
	} else if (!record_uint(j, "users")) {
		cells_detail_text(d, "never forgotten");
	}
}

/* The job's dataset, and what it has that is not usual. */
static void
status_table_job_more(struct slice j, struct buf *out)
{
	struct cells_details d = { out, false };
	char text[80];

	cells_detail(&d, "of ", record_text(j, "dataset"));
	if (record_text(j, "where").n || !record_is(j, "target", "auto"))
		cells_detail(&d, "target ", record_text(j, "target"));
	cells_detail(&d, "where ", record_text(j, "where"));
	if (record_uint(j, "shards")) {
		struct mp policy = record_text(j, "sharding");
		snprintf(text, sizeof text, "sharding=%.*s shards=%" PRIu64, policy.n > 20 ? 20 : (int)policy.n,
			 (const char *)policy.p, record_uint(j, "shards"));
		cells_detail_text(&d, text);
	}
	if (record_uint(j, "consumers")) {
		snprintf(text, sizeof text, "consumers=%" PRIu64, record_uint(j, "consumers"));
		cells_detail_text(&d, text);
	}
	status_table_forgotten(j, &d);
	cells_details_end(&d);
}

/* The groups of a shared job, each on a line of its own; in an audit with their books. */
static void
status_table_groups(struct slice pass, bool audit, struct buf *out)
{
	struct record_items it = record_list(pass, "groups");
	struct slice g;
	while (record_next(&it, &g)) {
		buf_str(out, "    group ");
		cells_text(record_text(g, "group"), out);
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

static void
status_table_saved(struct slice p, struct buf *out)
{
	if (record_uint(p, "chunks"))
		buf_printf(out, "    saved %" PRIu64 " chunks  %" PRIu64 " elements  %.1f MiB\n", record_uint(p, "chunks"),
			   record_uint(p, "saved"), (double)record_uint(p, "bytes") / 1048576);
}

/* The lines below a pass: whom it waits for, the reason of its failure, its groups. */
static void
status_table_pass_more(struct slice p, struct buf *out)
{
	struct cells_details d = { out, false };

	status_table_saved(p, out);
	cells_detail(&d, "waits for consumer ", record_text(p, "waits_for"));
	if (record_is(p, "state", "failed"))
		cells_detail(&d, "failed: ", record_text(p, "error"));
	cells_details_end(&d);
	if (record_text(p, "stands_still").n) {
		buf_str(out, "    stands still: ");
		cells_text(record_text(p, "stands_still"), out);
		buf_byte(out, '\n');
	}
	status_table_groups(p, false, out);
}

static void
status_table_passes(struct slice j, struct slice before, double seconds, struct buf *out)
{
	struct record_items it = record_list(j, "iterations");
	struct slice p;
	char streams[50];
	while (record_next(&it, &p)) {
		uint64_t acked = record_uint(p, "acknowledged");
		uint64_t was = status_table_before(before, record_uint(j, "job"), record_uint(p, "epoch"));
		status_table_job(j, 16, out);
		buf_printf(out, "%5" PRIu64 "  ", record_uint(p, "epoch"));
		cells_put(out, record_text(p, "state"), 8);
		snprintf(streams, sizeof streams, "%" PRIu64 "/%" PRIu64, record_uint(p, "streams_finished"),
			 record_uint(p, "streams_known"));
		buf_printf(out, "%7" PRIu64 "  %9s  %12" PRIu64, record_uint(p, "readers"), streams, acked);
		if (was != UINT64_MAX && seconds > 0 && acked >= was)
			buf_printf(out, "  %10.0f\n", (double)(acked - was) / seconds);
		else
			buf_printf(out, "  %10" PRIu64 "\n", record_uint(p, "per_second"));
		status_table_pass_more(p, out);
	}
	status_table_job_more(j, out);
}

static void
status_table_jobs(struct slice report, struct slice before, double seconds, struct buf *out)
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
		status_table_passes(j, before, seconds, out);
	if (record_uint(report, "jobs_more"))
		buf_printf(out, "and %" PRIu64 " more (--all)\n", record_uint(report, "jobs_more"));
}

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
		status_table_duration(record_uint(event, "ago_ms"), ago);
		buf_printf(out, "%5s  ", ago);
		cells_text(record_text(event, "text"), out);
		buf_byte(out, '\n');
	}
}

/* Each line clipped to the width. */
static void
status_table_cut(const struct buf *text, unsigned width, struct buf *out)
{
	const uint8_t *p = text->data, *end = p + text->len;

	while (p < end) {
		const uint8_t *stop = memchr(p, '\n', (size_t)(end - p));

		cells_clip(p, (size_t)(stop - p), width, out);
		buf_byte(out, '\n');
		p = stop + 1;
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
	status_table_workers(report, streams, &whole);
	buf_byte(&whole, '\n');
	status_table_jobs(report, before, seconds, &whole);
	if (streams)
		status_table_streams(report, &whole);
	status_table_readers(report, &whole);
	datasets_table(report, &whole);
	status_table_events(report, &whole);
	if (width)
		status_table_cut(&whole, width, out);
	else
		buf_put(out, whole.data, whole.len);
	buf_clear(&whole);
}

/* The shards of a pass; streams that depend on who makes them are left out. */
static void
status_table_shards(struct slice pass, struct buf *out)
{
	struct record_items it = record_list(pass, "streams");
	struct slice s;
	char of[50];
	while (record_next(&it, &s)) {
		if (!record_uint(s, "shards"))
			continue;
		status_table_of(of, sizeof of, "/", record_uint(s, "stream"), record_uint(s, "shards"));
		buf_printf(out, "%13s  shard %s  acknowledged %" PRIu64, "", of, record_uint(s, "acknowledged"));
		if (record_uint(s, "files"))
			buf_printf(out, "  files %" PRIu64, record_uint(s, "files"));
		buf_str(out, "  ");
		cells_put(out, record_text(s, "state"), 0);
		buf_byte(out, '\n');
	}
}

static enum audit
status_table_books(struct slice p, struct buf *out)
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
			cells_put(out, record_text(j, "name"), 16);
			buf_printf(out, "%5" PRIu64 "  ", record_uint(p, "epoch"));
			cells_put(out, record_text(p, "state"), 8);
			for (int i = 0; i < COLUMNS; i++)
				buf_printf(out, "  %12" PRIu64, record_uint(p, columns[i]));
			enum audit is = status_table_books(p, out);
			status_table_saved(p, out);
			status_table_groups(p, true, out);
			if (streams)
				status_table_shards(p, out);
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
