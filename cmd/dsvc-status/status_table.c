/* SPDX-License-Identifier: MIT */
#include "status_table.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "value/format/format.h"
#include "value/mp.h"

/* Text of others: nothing in it may move the cursor. */
static void
status_table_put(struct buf *out, struct mp m, int width)
{
	int n = 0;
	for (uint32_t i = 0; i < m.n && n < 60; i++, n++)
		buf_byte(out, m.p[i] < ' ' || m.p[i] == 127 ? '?' : m.p[i]);
	if (n == 0)
		buf_byte(out, '-'), n = 1;
	for (; n < width; n++)
		buf_byte(out, ' ');
	buf_str(out, "  ");
}

static void
status_table_tags(struct slice worker, struct buf *out)
{
	struct record_items it = record_list(worker, "tags");
	struct buf b = { 0 };
	struct slice tag;
	struct mp m;

	while (record_next(&it, &tag))
		if (mp_head(tag.p, tag.end, &m) && m.kind == MP_TEXT)
			buf_printf(&b, "%s%.*s", b.len ? "," : "", (int)m.n, (const char *)m.p);
	status_table_put(out, (struct mp){ .kind = MP_TEXT, .p = b.data, .n = (uint32_t)b.len }, 12);
	buf_clear(&b);
}

static void
status_table_workers(struct slice report, struct buf *out)
{
	struct record_items it = record_list(report, "workers");
	struct slice w;
	if (!it.left) {
		buf_str(out, "no workers\n");
		return;
	}
	buf_printf(out, "%-24s  %5s  %7s  %9s  %-9s  %-16s  %-12s  %s\n", "WORKER", "SLOTS", "STREAMS", "KEPT MiB",
		   "STATE", "HOST", "TAGS", "ENDPOINT");
	while (record_next(&it, &w)) {
		status_table_put(out, record_text(w, "name"), 24);
		buf_printf(out, "%5" PRIu64 "  %7" PRIu64 "  %9.1f  %-9s  ",
			   record_uint(w, "slots"), record_uint(w, "streams"),
			   (double)record_uint(w, "kept_bytes") / 1048576,
			   record_uint(w, "awaited")    ? "awaited"
			   : record_uint(w, "draining") ? "draining"
							      : "live");
		status_table_put(out, record_text(w, "host"), 16);
		status_table_tags(w, out);
		status_table_put(out, record_text(w, "endpoint"), 0);
		if (record_uint(w, "arena_bytes"))
			buf_printf(out, "arena %.1f MiB, leased %.1f", (double)record_uint(w, "arena_bytes") / 1048576,
				   (double)record_uint(w, "leased_bytes") / 1048576);
		buf_byte(out, '\n');
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

/* consumer 2/4  round 118204  ahead 12; nothing of other readers */
static void
status_table_consumer(struct slice r, struct buf *out)
{
	struct mp places = record_text(r, "consumer");
	if (places.n) {
		buf_str(out, "  consumer ");
		buf_put(out, places.p, places.n);
		buf_printf(out, "  round %" PRIu64 "  ahead %" PRIu64, record_uint(r, "round"), record_uint(r, "ahead"));
	}
	buf_byte(out, '\n');
}

static void
status_table_readers(struct slice report, struct buf *out)
{
	struct record_items it = record_list(report, "readers");
	struct slice r;
	uint32_t n = it.left;
	if (!n)
		return;
	buf_printf(out, "\n%-24s  %13s  %5s  %14s  %-8s  %s\n", "READER", "JOB", "EPOCH", "ACKNOWLEDGED", "TRANSFER", "STATE");
	for (int i = 0; i < STATUS_TABLE_ROWS && record_next(&it, &r); i++) {
		status_table_put(out, record_text(r, "name"), 24);
		buf_printf(out, "%13" PRIu64 "  %5" PRIu64 "  %14" PRIu64 "  %-8s  %s", record_uint(r, "job"),
			   record_uint(r, "epoch"), record_uint(r, "acknowledged"),
			   record_is(r, "transfer", "shm") ? "shm" : "copy",
			   record_uint(r, "waiting") ? "waiting" : record_uint(r, "job") ? "reading" : "idle");
		status_table_consumer(r, out);
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
		buf_printf(out, "%13" PRIu64 "  %5" PRIu64 "  %6s  %10" PRIu64 "  ",
			   record_uint(j, "job"), record_uint(p, "epoch"), of, record_uint(s, "generation"));
		status_table_put(out, record_text(s, "state"), 10);
		status_table_put(out, record_text(s, "worker"), 16);
		status_table_of(of, sizeof of, " of ", record_uint(s, "splits"), record_uint(s, "files"));
		buf_printf(out, "%10s  %13" PRIu64 "  %14" PRIu64 "\n", of, record_uint(s, "restart_point"),
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
	buf_printf(out, "\n%13s  %5s  %6s  %10s  %-10s  %-16s  %10s  %13s  %14s\n", "JOB", "EPOCH", "STREAM",
		   "GENERATION", "STATE", "WORKER", "SPLITS", "RESTART POINT", "ACKNOWLEDGED");
	begin = out->len;
	while (record_next(&jobs, &j)) {
		struct record_items passes = record_list(j, "iterations");
		while (record_next(&passes, &p))
			status_table_pass_streams(j, p, out);
	}
	if (out->len == begin)
		out->len = head;
}

/* When a job without readers is forgotten, in the largest unit of which there are two. */
static void
status_table_forgotten(struct slice j, struct buf *out)
{
	static const struct {
		uint64_t s;
		char unit;
	} units[] = { { 86400, 'd' }, { 3600, 'h' }, { 60, 'm' }, { 1, 's' } };
	struct slice v = record_at(j, "forgotten_in_ms");
	uint64_t s = record_uint(j, "forgotten_in_ms") / 1000;
	struct mp m;
	size_t i = 0;
	if (!v.p || !mp_head(v.p, v.end, &m) || m.kind != MP_INT) {
		buf_printf(out, "  %12s", record_uint(j, "users") ? "-" : "never");
		return;
	}
	while (units[i].s > 1 && s < 2 * units[i].s)
		i++;
	buf_printf(out, "  %11" PRIu64 "%c", s / units[i].s, units[i].unit);
}

/* sharding=file shards=5; nothing of the usual one */
static void
status_table_sharding(struct slice j, struct buf *out)
{
	struct mp policy = record_text(j, "sharding");
	if (record_uint(j, "shards")) {
		buf_str(out, "  sharding=");
		buf_put(out, policy.p, policy.n);
		buf_printf(out, " shards=%" PRIu64, record_uint(j, "shards"));
	}
}

/* consumers=4  waits for consumer 1/4; nothing of other jobs */
static void
status_table_rounds(struct slice j, struct slice p, struct buf *out)
{
	struct mp waits = record_text(p, "waits_for");
	if (record_uint(j, "consumers"))
		buf_printf(out, "  consumers=%" PRIu64, record_uint(j, "consumers"));
	if (waits.n) {
		buf_str(out, "  waits for consumer ");
		buf_put(out, waits.p, waits.n);
	}
	buf_byte(out, '\n');
}

/* The groups of a shared job, each on a line of its own. */
static void
status_table_groups(struct slice pass, struct buf *out)
{
	struct record_items it = record_list(pass, "groups");
	struct slice g;
	while (record_next(&it, &g)) {
		struct mp name = record_text(g, "group");
		buf_printf(out, "%13s  group ", "");
		buf_put(out, name.p, name.n);
		buf_printf(out, "  readers %" PRIu64 "  acknowledged %" PRIu64 "  missed %" PRIu64, record_uint(g, "readers"),
			   record_uint(g, "acknowledged"), record_uint(g, "missed"));
		if (record_uint(g, "ended"))
			buf_str(out, "  ended\n");
		else
			buf_printf(out, "  behind %" PRIu64 "\n", record_uint(g, "behind"));
	}
}

static void
status_table_passes(struct slice j, struct slice before, double seconds, struct buf *out)
{
	struct record_items it = record_list(j, "iterations");
	struct slice p;
	while (record_next(&it, &p)) {
		uint64_t acked = record_uint(p, "acknowledged");
		uint64_t was = status_table_before(before, record_uint(j, "job"),
						   record_uint(p, "epoch"));
		buf_printf(out, "%13" PRIu64 "  ", record_uint(j, "job"));
		status_table_put(out, record_text(j, "name"), 16);
		status_table_put(out, record_text(j, "dataset"), 16);
		buf_printf(out, "%5" PRIu64 "  ", record_uint(p, "epoch"));
		status_table_put(out, record_text(p, "state"), 8);
		buf_printf(out, "%7" PRIu64 "  %7" PRIu64 "/%-7" PRIu64 "  %14" PRIu64, record_uint(p, "readers"),
			   record_uint(p, "streams_finished"), record_uint(p, "streams_known"), acked);
		if (was != UINT64_MAX && seconds > 0 && acked >= was)
			buf_printf(out, "  %12.0f", (double)(acked - was) / seconds);
		else
			buf_printf(out, "  %12" PRIu64, record_uint(p, "per_second"));
		buf_str(out, "  ");
		status_table_put(out, record_text(j, "target"), 6);
		status_table_put(out, record_text(j, "where"), 12);
		out->len -= 2; /* the next column brings its own gap */
		status_table_forgotten(j, out);
		status_table_sharding(j, out);
		status_table_rounds(j, p, out);
		status_table_groups(p, out);
	}
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
	buf_printf(out, "%13s  %-16s  %-16s  %5s  %-8s  %7s  %15s  %14s  %12s  %-6s  %-12s  %12s\n", "JOB", "NAME", "DATASET",
		   "EPOCH", "STATE", "READERS", "STREAMS DONE", "ACKNOWLEDGED", "PER SECOND", "TARGET", "WHERE",
		   "FORGOTTEN IN");
	while (record_next(&it, &j))
		status_table_passes(j, before, seconds, out);
	if (record_uint(report, "jobs_more"))
		buf_printf(out, "%13s  and %" PRIu64 " more (--all)\n", "", record_uint(report, "jobs_more"));
}

void
status_table_status(struct slice report, struct slice before, double seconds, bool streams, struct buf *out)
{
	struct record_items it = record_list(report, "datasets");
	struct slice d;
	buf_printf(out, "dispatcher %.*s, %s\n\n", (int)record_text(report, "instance").n,
		   (const char *)record_text(report, "instance").p,
		   record_uint(report, "durable") ? "keeps its state" : "no --state: jobs end if it dies");
	status_table_workers(report, out);
	buf_byte(out, '\n');
	status_table_jobs(report, before, seconds, out);
	if (streams)
		status_table_streams(report, out);
	status_table_readers(report, out);
	if (!it.left)
		return;
	buf_printf(out, "\n%-16s  %-24s  %s\n", "DATASET", "TYPE", "PIPELINE");
	while (record_next(&it, &d)) {
		status_table_put(out, record_text(d, "id"), 16);
		status_table_put(out, record_text(d, "type"), 24);
		status_table_put(out, record_text(d, "spec"), 0);
		buf_byte(out, '\n');
	}
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
		status_table_put(out, record_text(s, "state"), 0);
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
			status_table_put(out, record_text(j, "name"), 16);
			buf_printf(out, "%5" PRIu64 "  ", record_uint(p, "epoch"));
			status_table_put(out, record_text(p, "state"), 8);
			for (int i = 0; i < COLUMNS; i++)
				buf_printf(out, "  %12" PRIu64, record_uint(p, columns[i]));
			enum audit is = status_table_books(p, out);
			status_table_groups(p, out);
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
