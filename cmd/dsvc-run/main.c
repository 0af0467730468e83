/* SPDX-License-Identifier: MIT */
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/tmp_room.h"
#include "base/trace.h"
#include "cli/endpoint.h"
#include "cli/locale.h"
#include "cli/opt.h"
#include "cli/quit.h"
#include "cli/report.h"
#include "cli/stop.h"
#include "host/secure.h"
#include "host/service.h"
#include "lang/graph.h"
#include "lang/spec.h"
#include "dry.h"
#include "files.h"
#include "ops.h"
#include "opts.h"
#include "run_plan.h"
#include "try.h"

static unsigned
run_flags(const struct run_opts *o)
{
	unsigned flags = format_is_blind((enum format_kind)o->format) ? SPEC_DISCARD : 0;

	flags |= (o->joblog ? SPEC_LOGGED : 0) | (o->halt ? SPEC_HALTED : 0) | (o->tag ? SPEC_TAGGED : 0);
	return flags | (o->print ? SPEC_NO_CHECK : 0);
}

static enum status
run_source(const struct run_opts *o, const struct opt *opt, struct spec_src *src, struct err *e)
{
	bool words = opt->n > 0 && !o->file;
	int given = (o->expression != NULL) + (o->file != NULL) + words;

	if (given != 1) {
		err_set(e, ST_USAGE, "%s pipeline given: pass it as an argument, with -e or with -f",
			given ? "more than one" : "no");
		err_help(e, "dsvc-run 'range 10 | map x*x'");
		return ST_USAGE;
	}
	src->file = o->file;
	src->text = o->expression;
	src->len = o->expression ? strlen(o->expression) : 0;
	src->argv = words ? opt->operand : NULL;
	src->argc = words ? opt->n : 0;
	src->values = opt->operand;
	src->n_values = o->file ? opt->n : 0;
	return ST_OK;
}

static enum status
run_or_show(const struct run_opts *o, const struct spec_src *src, struct buf *out, struct err *e)
{
	enum format_kind format = o->nul ? FORMAT_NUL : (enum format_kind)o->format;
	struct run_plan_conf conf = { .format = format, .form = o->form, .path = o->output, .count = o->count,
		.seed = o->seed, .jobs = o->jobs, .stats = o->stats, .verbose = o->verbose > 0,
		.max_errors = o->max_errors == INT64_MAX ? UINT64_MAX : (uint64_t)o->max_errors,
		.errors = o->errors, .quiet = o->quiet, .progress = o->progress,
		.fail_empty = o->fail_empty, .service = src->service,
		.programs = { .joblog = o->joblog, .halt = o->halt, .resume = o->resume, .failed = o->resume_failed,
			      .quiet = o->quiet, .format = format, .path = o->output } };
	struct try_conf trial = { .count = o->count == INT64_MAX ? TRY_USUAL : o->count,
				    .seed = o->seed, .service = src->service };
	struct plan *p;
	enum status st = plan_make(src, &p, e);

	if (!st && o->explain)
		st = plan_explain(p, src->service, out, e);
	else if (!st && o->graph)
		st = plan_graph(p, (enum graph_form)(o->graph - 1), locale_is_utf8(), src->service, out, e);
	else if (!st && o->print == PRINT_PLAN)
		plan_print(p, out);
	else if (!st && o->print == PRINT_CANONICAL)
		plan_canonical(p, 0, out), buf_byte(out, '\n');
	else if (!st && o->try)
		st = try_run(p, &trial, out, e);
	else if (!st && !o->check) {
		if (p->local && isatty(STDIN_FILENO))
			log_say(LOG_WARN, "reading elements from the terminal; end with ^D");
		st = o->dry_run ? dry_run(p, &conf, e) : run_plan(p, &conf, e);
	}
	plan_free(&p);
	return st;
}

int
main(int argc, char **argv)
{
	struct run_opts o = { 0 };
	struct opt opt;
	struct err e = { 0 };
	struct buf out = { 0 };
	struct service service;
	struct endpoint ep = { 0 };
	enum status st;
	int code;

	if (!opt_start(&run_program, argc, argv, &o, LOG_WARN, &opt, &e, &code))
		return code;
	stop_after(o.timeout, o.test || o.fmt || o.check || o.explain || o.graph);
	secure_say_clear(o.insecure);
	tmp_room_limit(o.tmp_max);
	st = trace_start(o.trace, o.trace_max, NULL, &e);
	if (st) {
		opt_clear(&run_program, &o, &opt);
		return report(run_program.name, &e);
	}
	st = endpoint_choose(&opt, &run_program, o.dispatcher, o.context, &ep, &e);
	service_init(&service, ep.address, ep.from); /* speaks to it only when asked */
	if (!st)
		endpoint_export(&ep);
	/* A fault of the private socket's folder matters only to pipelines that need a service. */
	struct err lacking = e;
	if (st && ep.own)
		service.lacking = &lacking, st = ST_OK;
	struct spec_src src = { .sets = &o.set, .with = &o.with, .dirs = &o.include, .json = o.json,
				.service = &service.op, .flags = run_flags(&o) };
	if (!st && o.ops)
		ops_list(&out);
	else if (!st && o.functions)
		ops_functions(&out);
	else if (!st && o.help_op)
		st = ops_help(o.help_op, &out, &e);
	else if (!st && o.test)
		st = files_test(&o, &opt, &out, &e);
	else if (!st && o.fmt)
		st = files_fmt(&o, &opt, &src, &out, &e);
	else if (!st && !(st = run_source(&o, &opt, &src, &e)))
		st = o.print == PRINT_TOKENS ? spec_print_tokens(&src, &out, &e) :
		     o.print == PRINT_TREE ? spec_print_tree(&src, &out, &e) :
					     run_or_show(&o, &src, &out, &e);
	/* Output of --try is shown even when the run fails. */
	if ((!st || o.try) && out.len) {
		struct err last;
		enum status wrote = quit_say(&out, &last);
		if (wrote && !st)
			st = wrote, e = last;
	}
	if (o.try && stop_signal())
		quit_signal(stop_signal());
	buf_clear(&out);
	opt_clear(&run_program, &o, &opt);
	return st ? report(run_program.name, &e) : 0;
}
