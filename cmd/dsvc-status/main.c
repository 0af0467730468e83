/* SPDX-License-Identifier: MIT */
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "cli/endpoint.h"
#include "cli/opt.h"
#include "cli/program.h"
#include "cli/quit.h"
#include "cli/report.h"
#include "cli/stop.h"
#include "core/dispatcher.h"
#include "host/link.h"
#include "host/tool.h"
#include "table.h"
#include "value/format.h"
#include "value/mp.h"

struct status_options {
	char *dispatcher, *audit;
	bool json, watch, quiet;
	int64_t interval, verbose;
};

static const struct param rows[] = {
	OPT_DISPATCHER(struct status_options),
	{ .name = "json", .kind = PARAM_BOOL, .offset = offsetof(struct status_options, json),
	  .help = "print the report as one line of JSON" },
	{ .name = "audit", .arg = "JOB", .kind = PARAM_WORD, .offset = offsetof(struct status_options, audit),
	  .flags = PARAM_OPTIONAL,
	  .help = "print the books of a job (name or number, `all`: of every one), and end with 1 if they do not balance" },
	{ .name = "watch", .kind = PARAM_BOOL, .offset = offsetof(struct status_options, watch),
	  .help = "show it again and again, until INT" },
	{ .name = "interval", .arg = "DURATION", .kind = PARAM_DURATION,
	  .offset = offsetof(struct status_options, interval), .def = "1s", .min = 50000000,
	  .max = INT64_MAX, .help = "time between two looks of --watch" },
	OPT_QUIET(struct status_options),
	OPT_VERBOSE(struct status_options),
	{ 0 }
};

static const struct program program = {
	.name = "dsvc-status",
	.brief = "show what a service is doing",
	.synopsis = PROGRAM_TEXTS("[OPTION]..."),
	.doc = PROGRAM_TEXTS(
		"Workers, jobs and their passes, streams, readers and datasets. Nothing is changed by "
		"looking.",
		"The audit tells of each pass how many elements were made, delivered and acknowledged, "
		"made again after a worker was lost, and suppressed because someone had them: none may be "
		"lost and none repeated."),
	.rows = rows,
	.examples = (const struct program_example[]){
		{ "dsvc-status --watch", "look on" },
		{ "dsvc-status --audit train", "prove that nothing was lost or repeated" },
		{ "dsvc-status --json | jq '.workers[].name'", "for other programs" },
		{ 0 } },
	.exits = (const struct program_exit[]){
		{ 1, "the books do not balance" }, { 66, "there is no such job" }, { 69, NULL },
		{ 75, NULL }, { 76, NULL }, { -1, NULL } },
	.versions = link_versions,
};

/* One look: the report is left in *reply. */
static enum status
status_ask(struct tool *t, const struct status_options *o, struct msg *reply, struct err *e)
{
	const char *job = o->audit && strcmp(o->audit, "all") != 0 ? o->audit : "";
	struct msg ask = { .type = MSG_STATUS, .status = {
		.what = o->audit ? REPORT_AUDIT : REPORT_ALL, .job = (char *)job } };
	enum status st = tool_ask(t, &ask, reply, e);
	if (st == ST_OK && (reply->type != MSG_REPORT ||
			    !mp_check(reply->report.value.p, reply->report.value.n)))
		st = err_set(e, ST_PROTO, "the dispatcher answered with something else");
	return st;
}

static enum status
status_show(const struct status_options *o, const struct msg *now, const struct msg *before,
	    double seconds, struct err *e)
{
	struct buf out = { 0 }, table = { 0 };
	const struct bytes *b = &now->report.value, *was = &before->report.value;
	struct slice report = { b->p, b->p + b->n }, past = { was->p, was->p ? was->p + was->n : NULL };
	enum status st = ST_OK;
	if (o->audit && !table_audit(report, &table))
		st = ST_NO;
	else if (!o->audit)
		table_status(report, past, seconds, &table);
	if (o->json) {
		json_print(b->p, b->n, &out);
		buf_byte(&out, '\n');
	} else {
		if (o->watch && isatty(STDOUT_FILENO))
			buf_str(&out, "\033[H\033[J");
		buf_put(&out, table.data, table.len);
	}
	enum status written = quit_write(&out, e);
	if (written == ST_OK)
		written = quit_flush(e);
	buf_clear(&out);
	buf_clear(&table);
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
		return st;
	for (;;) {
		st = status_ask(t, o, &now, e);
		last = at;
		at = clock_mono_ns();
		if (st == ST_OK)
			st = status_show(o, &now, &before, last ? (double)(at - last) / 1e9 : 0, e);
		msg_clear(&before);
		before = now;
		memset(&now, 0, sizeof now);
		if (!o->watch || (st != ST_OK && st != ST_NO))
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
	enum status st = opt_parse(&program, argc, argv, &o, &opt, &e);
	if (st == ST_END)
		return 0;
	if (st != ST_OK)
		return report(program.name, &e);
	log_init(program.name, o.quiet ? LOG_ERROR : o.verbose > 1 ? LOG_DEBUG : o.verbose ? LOG_INFO : LOG_WARN);
	if (o.watch)
		stop_install();
	if (opt.n)
		st = err_set(&e, ST_USAGE, "`%s` is one word too many", opt.operand[0]);
	else
		st = endpoint_find(o.dispatcher, opt_from(&opt, &program, "dispatcher"), &ep, &e);
	if (st == ST_OK)
		st = status_run(&o, &ep, &e);
	opt_clear(&program, &o, &opt);
	return st == ST_OK ? 0 : st == ST_NO ? 1 : report(program.name, &e);
}
