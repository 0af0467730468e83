/* SPDX-License-Identifier: MIT */
#include "host/metrics.h"

#include <inttypes.h>
#include <string.h>

#include "base/mem.h"
#include "core/wanted.h"
#include "host/pass.h"
#include "host/wanted_report.h"
#include "wire/msg.h"

/* Where the text goes, and in which of the two formats. */
struct metrics_text {
	struct buf *out;
	bool open;
};

/* The keys of a pass that are summed up over the passes of a job, a row for each. */
struct metrics_row {
	const char *key;   /* key of a pass in the report */
	const char *name, *help;
	const char *label; /* beside dsvc_job: name="value"; NULL: none */
	double scale;      /* to the base unit */
	bool gauge;
	bool more;         /* the metric of the row before, with another label */
};
static const struct metrics_row metrics_rows[] = {
	{ "made", "dsvc_elements_made_total", "Elements that workers have made.", NULL, 1, false, false },
	{ "acknowledged", "dsvc_elements_acknowledged_total",
		"Different elements that readers have acknowledged.", NULL, 1, false, false },
	{ "made_again", "dsvc_elements_made_again_total",
		"Elements made again after a worker was lost.", NULL, 1, false, false },
	{ "suppressed", "dsvc_elements_suppressed_total",
		"Elements made again and not sent, since a reader had them.", NULL, 1, false, false },
	{ "lost", "dsvc_elements_lost_total", "Elements lost; must be 0.", NULL, 1, false, false },
	{ "repeated", "dsvc_elements_repeated_total", "Elements delivered twice; must be 0.", NULL, 1, false, false },
	{ "failed", "dsvc_elements_failed_total", "Elements that failed and that on_error skipped.", NULL, 1, false, false },
	{ "reader_work_ms", "dsvc_reader_seconds_total", "Time of readers, with elements to write or waiting for some.",
		"state=\"write\"", 1e-3, false, false },
	{ "reader_wait_ms", "dsvc_reader_seconds_total", NULL, "state=\"wait\"", 1e-3, false, true },
	{ "slot_work_ms", "dsvc_slot_seconds_total", "Time of slots, making elements or held back by readers.",
		"state=\"busy\"", 1e-3, false, false },
	{ "slot_wait_ms", "dsvc_slot_seconds_total", NULL, "state=\"stalled\"", 1e-3, false, true },
	{ "raw_bytes", "dsvc_bytes_total",
		"Bytes of elements that workers sent, and what went through sockets for them, packed or not.",
		"stage=\"raw\"", 1, false, false },
	{ "wire_bytes", "dsvc_bytes_total", NULL, "stage=\"wire\"", 1, false, true },
	{ "slots_most", "dsvc_slots_usable",
		"Slots that can have work: splits left and streams that run.", NULL, 1, true, false },
	{ "streams_known", "dsvc_streams", "Streams of passes.", "state=\"known\"", 1, true, false },
	{ "streams_ended", "dsvc_streams", NULL, "state=\"ended\"", 1, true, true },
	{ "streams_finished", "dsvc_streams", NULL, "state=\"finished\"", 1, true, true },
};
enum { METRICS_ROWS = sizeof metrics_rows / sizeof *metrics_rows };

struct metrics_job {
	struct mp name;    /* "-": anonymous */
	double v[METRICS_ROWS];
	double wait, readers; /* the wait ratio, weighted by readers */
	uint64_t splits;
	bool endless;         /* how many splits are left is not known */
};

static void
metrics_head(const struct metrics_text *t, const char *name, const char *type, const char *help)
{
	static const char total[] = "_total";
	int n = (int)strlen(name);

	if (t->open && n > (int)sizeof total && !strcmp(name + n - (sizeof total - 1), total))
		n -= (int)sizeof total - 1;
	buf_printf(t->out, "# HELP %.*s %s\n# TYPE %.*s %s\n", n, name, help, n, name, type);
}

/* A value as shortly as it can be read back. */
static void
metrics_value(struct buf *out, double v)
{
	buf_printf(out, " %.15g\n", v);
}

static void
metrics_one(const struct metrics_text *t, const char *name, const char *type, const char *help, double v)
{
	metrics_head(t, name, type, help);
	buf_str(t->out, name);
	metrics_value(t->out, v);
}

/* A label's value: a backslash, a quote or a newline in it is escaped, other control
 * characters become a question mark. */
static void
metrics_label(struct buf *out, const char *label, struct mp text)
{
	buf_printf(out, "%s=\"", label);
	for (uint32_t i = 0; i < text.n; i++) {
		uint8_t c = text.p[i];
		if (c == '\n')
			buf_str(out, "\\n");
		else if (c == '"' || c == '\\')
			buf_printf(out, "\\%c", c);
		else
			buf_byte(out, c < ' ' || c == 127 ? '?' : c);
	}
	buf_byte(out, '"');
}

static struct metrics_job *
metrics_job(struct metrics_job **v, size_t *n, size_t *cap, struct mp name)
{
	static const uint8_t anonymous[] = "-";

	if (!name.n) {
		name.p = anonymous;
		name.n = 1;
	}
	for (size_t i = 0; i < *n; i++)
		if ((*v)[i].name.n == name.n && !memcmp((*v)[i].name.p, name.p, name.n))
			return &(*v)[i];
	*v = mem_grow(*v, cap, *n + 1, sizeof **v);
	(*v)[*n] = (struct metrics_job){ .name = name };
	return &(*v)[(*n)++];
}

static void
metrics_splits(const struct metrics_text *t, const struct metrics_job *v, size_t n)
{
	metrics_head(t, "dsvc_splits_left", "gauge",
		"Splits not given out yet, as the smallest that they may be cut to; a job of which it is not known has none.");
	for (size_t k = 0; k < n; k++) {
		if (v[k].endless)
			continue;
		buf_str(t->out, "dsvc_splits_left{");
		metrics_label(t->out, "dsvc_job", v[k].name);
		buf_byte(t->out, '}');
		metrics_value(t->out, (double)v[k].splits);
	}
}

static void
metrics_pass(struct metrics_job *job, struct slice p)
{
	bool live = pass_live(p);
	uint64_t splits;

	for (size_t i = 0; i < METRICS_ROWS; i++)
		if (live || !metrics_rows[i].gauge)
			job->v[i] += (double)record_uint(p, metrics_rows[i].key) * metrics_rows[i].scale;
	job->endless |= !pass_splits(p, &splits);
	job->splits += splits;
	if (!live)
		return;
	job->wait += record_float(p, "reader_wait_ratio") * (double)record_uint(p, "readers");
	job->readers += (double)record_uint(p, "readers");
}

static void
metrics_jobs(struct slice report, const struct metrics_text *t)
{
	struct record_items jobs = record_list(report, "jobs");
	struct metrics_job *v = NULL;
	size_t n = 0, cap = 0;
	struct slice j, p;

	while (record_next(&jobs, &j)) {
		struct record_items passes = record_list(j, "iterations");
		struct metrics_job *job = metrics_job(&v, &n, &cap, record_text(j, "name"));

		while (record_next(&passes, &p))
			metrics_pass(job, p);
	}
	for (size_t i = 0; i < METRICS_ROWS; i++) {
		const struct metrics_row *row = &metrics_rows[i];

		if (!row->more)
			metrics_head(t, row->name, row->gauge ? "gauge" : "counter", row->help);
		for (size_t k = 0; k < n; k++) {
			buf_printf(t->out, "%s{", row->name);
			metrics_label(t->out, "dsvc_job", v[k].name);
			buf_printf(t->out, "%s%s}", row->label ? "," : "", row->label ? row->label : "");
			metrics_value(t->out, v[k].v[i]);
		}
	}
	metrics_head(t, "dsvc_reader_wait_ratio", "gauge",
		"Share of their time that readers waited, over the last ten seconds.");
	for (size_t k = 0; k < n; k++) {
		if (!v[k].readers)
			continue;
		buf_str(t->out, "dsvc_reader_wait_ratio{");
		metrics_label(t->out, "dsvc_job", v[k].name);
		buf_byte(t->out, '}');
		metrics_value(t->out, v[k].wait / v[k].readers);
	}
	metrics_splits(t, v, n);
	mem_free(v);
}

/* One gauge with how many items of a list are in each state. */
static void
metrics_states(const struct metrics_text *t, const char *name, const char *help, const char *const *states,
	       const uint64_t *counts, size_t n)
{
	metrics_head(t, name, "gauge", help);
	for (size_t i = 0; i < n; i++)
		buf_printf(t->out, "%s{state=\"%s\"} %" PRIu64 "\n", name, states[i], counts[i]);
}

static const char *const metrics_passes[] = { "listing", "running", "finished", "failed" };

/* The state of a job's pass; 4: it has none. */
static size_t
metrics_job_state(struct slice job)
{
	struct record_items it = record_list(job, "iterations");
	size_t best = 4, k;
	struct slice p;

	while (record_next(&it, &p)) {
		for (k = 0; k < 4 && !record_is(p, "state", metrics_passes[k]); k++)
			;
		if (k < 4 && (best != 1 || k == 1) && (best != 0 || k < 2))
			best = k;
	}
	return best;
}

/* Slots that have a stream are busy and stalled as the time of the last seconds tells. */
static void
metrics_slots(struct slice report, const struct metrics_text *t)
{
	static const char *const states[] = { "busy", "stalled", "idle" };
	uint64_t all = record_uint(report, "slots"), used = record_uint(report, "slots_used");
	struct record_items jobs = record_list(report, "jobs");
	double work = 0, wait = 0, n[3];
	struct slice j, p;

	while (record_next(&jobs, &j))
		for (struct record_items it = record_list(j, "iterations"); record_next(&it, &p);) {
			work += (double)record_uint(record_at(p, "lately"), "slot_work_ms");
			wait += (double)record_uint(record_at(p, "lately"), "slot_wait_ms");
		}
	used = used < all ? used : all;
	n[1] = wait > 0 ? (double)used * wait / (work + wait) : 0;
	n[0] = (double)used - n[1];
	n[2] = (double)(all - used);
	metrics_head(t, "dsvc_slots", "gauge",
		"Slots of all workers: those with a stream, divided as their time was in the last seconds, and those without.");
	for (size_t i = 0; i < 3; i++) {
		buf_printf(t->out, "dsvc_slots{state=\"%s\"}", states[i]);
		metrics_value(t->out, n[i]);
	}
}

static void
metrics_moves(struct slice report, const struct metrics_text *t)
{
	static const char *const causes[] = { "lost", "drained", "unreachable", "balanced" };

	metrics_head(t, "dsvc_stream_moves_total", "counter", "Streams that had to go to another worker.");
	for (size_t i = 0; i < sizeof causes / sizeof *causes; i++)
		buf_printf(t->out, "dsvc_stream_moves_total{cause=\"%s\"} %" PRIu64 "\n", causes[i],
			   record_uint(record_at(report, "moves"), causes[i]));
}

/* A service without a state has none of them. */
static void
metrics_state(struct slice report, const struct metrics_text *t)
{
	static const char name[] = "dsvc_state_commit_seconds";
	struct slice state = record_at(report, "state"), step;
	struct record_items steps = record_list(state, "within");
	uint64_t commits = record_uint(state, "commits");

	if (state.p == state.end || *state.p == 0xc0) /* nil */
		return;
	metrics_one(t, "dsvc_state_bytes", "gauge", "Size of the dispatcher's durable state.",
		(double)record_uint(state, "bytes"));
	metrics_head(t, name, "histogram", "Time of writes of the durable state, each synced to the disk.");
	while (record_next(&steps, &step)) {
		double le = record_float(step, "seconds");

		/* OpenMetrics wants a point in it; so it is one series in both formats. */
		buf_printf(t->out, "%s_bucket{le=\"%g%s\"} %" PRIu64 "\n", name, le, le < 1 ? "" : ".0",
			   record_uint(step, "commits"));
	}
	buf_printf(t->out, "%s_bucket{le=\"+Inf\"} %" PRIu64 "\n%s_sum", name, commits, name);
	metrics_value(t->out, record_float(state, "commit_seconds"));
	buf_printf(t->out, "%s_count %" PRIu64 "\n", name, commits);
}

static void
metrics_counts(struct slice report, const struct metrics_text *t)
{
	static const char *const workers[] = { "live", "draining", "awaited" };
	static const char *const readers[] = { "reading", "waiting" };
	uint64_t w[3] = { 0 }, p[4] = { 0 }, r[2] = { 0 };
	struct record_items it = record_list(report, "workers");
	struct slice x;

	while (record_next(&it, &x))
		w[record_uint(x, "awaited") ? 2 : record_uint(x, "draining") ? 1 : 0]++;
	it = record_list(report, "readers");
	while (record_next(&it, &x))
		r[record_uint(x, "waiting") ? 1 : 0]++;
	it = record_list(report, "jobs");
	while (record_next(&it, &x)) {
		size_t k = metrics_job_state(x);
		if (k < 4)
			p[k]++;
	}
	metrics_states(t, "dsvc_workers", "Workers, by what they are doing.", workers, w, 3);
	metrics_states(t, "dsvc_readers", "Readers with a job.", readers, r, 2);
	metrics_states(t, "dsvc_jobs", "Jobs, by the state of the pass that is under way, or of the last one.",
		       metrics_passes, p, 4);
	metrics_slots(report, t);
}

/* Operators by their numbers: their texts have values in them, and may be long. Datasets that no job uses are left
 * out, so that what goes with the jobs leaves with them. */
static void
metrics_ops(struct slice report, const struct metrics_text *t)
{
	static const struct { const char *key, *name, *help; } rows[] = {
		{ "busy_seconds", "dsvc_op_busy_seconds_total",
			"Time of workers in an operator, by its number in the spec, without that of those before it." },
		{ "elements", "dsvc_op_elements_total", "Elements that came out of an operator on workers." },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct record_items it = record_list(report, "datasets");
		struct slice s, op;

		metrics_head(t, rows[i].name, "counter", rows[i].help);
		while (record_next(&it, &s)) {
			struct record_items ops = record_list(s, "operators");

			while (record_uint(s, "jobs") && record_next(&ops, &op)) {
				buf_printf(t->out, "%s{", rows[i].name);
				metrics_label(t->out, "dataset", record_text(s, "id"));
				buf_printf(t->out, ",op=\"%" PRIu64 "\"}", record_uint(op, "operator"));
				metrics_value(t->out, i ? (double)record_uint(op, rows[i].key) : record_float(op, rows[i].key));
			}
		}
	}
}

/* size: one metric after another */
static void
metrics_workers(struct slice report, const struct metrics_text *t)
{
	static const struct { const char *key, *name, *help; double scale; } rows[] = {
		{ "slots", "dsvc_worker_slots", "Streams that the worker runs at once.", 1 },
		{ "streams", "dsvc_worker_streams", "Streams that the worker has.", 1 },
		{ "kept_bytes", "dsvc_kept_bytes", "Bytes of chunks that are not acknowledged yet.", 1 },
		{ "silent_ms", "dsvc_worker_silent_seconds", "Time since the worker was heard.", 1e-3 },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct record_items it = record_list(report, "workers");
		struct slice w;

		metrics_head(t, rows[i].name, "gauge", rows[i].help);
		while (record_next(&it, &w)) {
			buf_printf(t->out, "%s{", rows[i].name);
			metrics_label(t->out, "worker", record_text(w, "name"));
			buf_byte(t->out, ',');
			metrics_label(t->out, "peer", record_text(w, "peer"));
			buf_byte(t->out, '}');
			metrics_value(t->out, (double)record_uint(w, rows[i].key) * rows[i].scale);
		}
	}
}

static void
metrics_end(const struct metrics_text *t)
{
	if (t->open)
		buf_str(t->out, "# EOF\n");
}

void
metrics_print(struct slice report, const struct metrics_conf *c, struct buf *out)
{
	const struct metrics_text text = { out, c->open }, *t = &text;
	double wanted = wanted_report(report, 1);

	metrics_head(t, "dsvc_build_info", "gauge", "Always 1; the labels say what runs.");
	buf_str(out, "dsvc_build_info{");
	metrics_label(out, "version", record_text(report, "version"));
	buf_printf(out, ",protocol=\"%d\"} 1\n", WIRE_VERSION);
	metrics_one(t, "dsvc_up", "gauge", "Whether the dispatcher has answered.", 1);
	metrics_one(t, "dsvc_start_time_seconds", "gauge", "When the dispatcher began, since 1970.",
		(double)record_uint(report, "started_ms") * 1e-3);
	metrics_one(t, "dsvc_durable", "gauge", "Whether the dispatcher keeps a state.",
		(double)record_uint(report, "durable"));
	metrics_one(t, "dsvc_slots_wanted", "gauge", "Slots that the passes being read could use.", wanted);
	metrics_one(t, "dsvc_workers_wanted", "gauge", "Workers of mean size that have that many slots.",
		    (double)wanted_number(wanted, wanted_per_worker(report)));
	metrics_counts(report, t);
	metrics_moves(report, t);
	metrics_state(report, t);
	metrics_jobs(report, t);
	metrics_ops(report, t);
	if (c->workers)
		metrics_workers(report, t);
	metrics_end(t);
}

void
metrics_print_down(const struct metrics_conf *c, struct buf *out)
{
	const struct metrics_text t = { out, c->open };

	metrics_one(&t, "dsvc_up", "gauge", "Whether the dispatcher has answered.", 0);
	metrics_end(&t);
}
