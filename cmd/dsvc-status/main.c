/* SPDX-License-Identifier: MIT */
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "cli/endpoint.h"
#include "cli/opt.h"
#include "cli/quit.h"
#include "cli/report.h"
#include "cli/stop.h"
#include "host/secure.h"
#include "core/disp/dispatcher.h"
#include "core/wanted.h"
#include "host/metrics.h"
#include "host/tool.h"
#include "host/wanted_report.h"
#include "names.h"
#include "opts.h"
#include "status_table.h"
#include "value/format/format.h"
#include "value/mp.h"

/* One look: the report is left in *reply. */
static enum status
status_ask(struct tool *t, const struct status_options *o, struct msg *reply, struct err *e)
{
	static const uint32_t recent[] = { [FORM_TABLE] = 20, [FORM_WANTED] = 1, [FORM_NAMES] = 0 };
	bool brief = o->form == FORM_WANTED || o->form == FORM_METRICS;
	const char *job = o->audit && strcmp(o->audit, "all") != 0 ? o->audit : "";
	struct msg_status ask = {
		.what = o->audit ? REPORT_AUDIT : brief ? REPORT_BRIEF : REPORT_ALL,
		.job = (char *)job, .recent = o->all || o->audit ? 0 : recent[o->form] };
	return tool_report(t, &ask, reply, e);
}

/* The status with which an audit ends. For `all`, a failed job is no error. */
static enum status
status_audit(const struct status_options *o, struct slice report, struct buf *table, struct err *e)
{
	struct buf why = { 0 };
	enum audit is = status_table_audit(report, o->streams, table, &why);
	enum status st = is == AUDIT_UNBALANCED ? ST_NO : ST_OK;
	if (is == AUDIT_FAILED && strcmp(o->audit, "all") != 0)
		st = err_set(e, ST_DATA, "%.*s", (int)why.len, (const char *)why.data);
	buf_clear(&why);
	return st;
}

static enum status
status_show(const struct status_options *o, const struct msg *now, const struct msg *before,
	    double seconds, struct err *e)
{
	struct buf out = { 0 }, table = { 0 };
	struct slice report = tool_record(now), past = tool_record(before);
	enum status st = ST_OK;
	if (o->audit)
		st = status_audit(o, report, &table, e);
	else if (o->form == FORM_WANTED)
		buf_printf(&table, "%llu\n", (unsigned long long)wanted_number(wanted_report(report, o->busy),
			o->wanted == WANTED_WORKERS ? wanted_per_worker(report) : 1));
	else if (o->form == FORM_NAMES)
		names_print(report, o->names, &table);
	else if (o->form == FORM_METRICS)
		metrics_print(report, &(struct metrics_conf){ .workers = o->metrics == METRICS_WORKERS }, &table);
	else if (o->form == FORM_TABLE)
		status_table_status(report, past, seconds, o->verbose > 0, status_options_width(o), &table);
	if (o->form == FORM_JSON) {
		json_print(report.p, (size_t)(report.end - report.p), &out);
		buf_byte(&out, '\n');
	} else {
		if (o->watch && isatty(STDOUT_FILENO))
			buf_str(&out, "\033[H\033[J");
		buf_put(&out, table.data, table.len);
	}
	struct err lost;
	enum status written = quit_say(&out, &lost);
	buf_clear(&out);
	buf_clear(&table);
	if (written != ST_OK)
		*e = lost;
	return written == ST_OK ? st : written;
}

static enum status
status_run(const struct status_options *o, const struct endpoint *ep, struct err *e)
{
	struct tool *t;
	struct msg now = { 0 }, before = { 0 };
	int64_t at = 0, last = 0;
	enum status st = tool_open(ep->address, ep->from, &t, e);
	if (st != ST_OK)
		return st == ST_AGAIN ? ST_OK : st;
	if (o->watch)
		tool_stop_on(t, stop_fd());
	for (;;) {
		st = status_ask(t, o, &now, e);
		if (st == ST_AGAIN) { /* told to stop */
			st = ST_OK;
			break;
		}
		last = at;
		at = clock_mono_ns();
		if (st == ST_OK)
			st = status_show(o, &now, &before, last ? (double)(at - last) / 1e9 : 0, e);
		msg_clear(&before);
		before = now;
		memset(&now, 0, sizeof now);
		bool looked = st == ST_OK || st == ST_NO || (st == ST_DATA && o->audit);
		if (!o->watch || !looked)
			break;
		struct pollfd p = { stop_fd(), POLLIN, 0 };
		if (poll(&p, 1, (int)(o->interval / 1000000)) > 0)
			break;
	}
	msg_clear(&before);
	tool_close(&t);
	return st;
}

int
main(int argc, char **argv)
{
	struct status_options o = { 0 };
	struct opt opt;
	struct err e = { 0 };
	struct endpoint ep;
	enum status st;
	int code;

	if (!opt_start(&status_program, argc, argv, &o, LOG_WARN, &opt, &e, &code))
		return code;
	stop_after(o.timeout, true);
	secure_say_clear(o.insecure);
	if (o.watch)
		stop_install();
	st = opt_at_most(&opt, 0, &e);
	if (st == ST_OK)
		st = status_options_form(&o, &opt, &e);
	if (st == ST_OK)
		st = endpoint_choose(&opt, &status_program, o.dispatcher, o.context, &ep, &e);
	st = st == ST_OK ? status_run(&o, &ep, &e) : st;
	opt_clear(&status_program, &o, &opt);
	return st == ST_OK ? 0 : st == ST_NO ? 1 : report(status_program.name, &e);
}
