/* SPDX-License-Identifier: MIT */
#include <stddef.h>
#include <string.h>

#include "base/log.h"
#include "base/str.h"
#include "cli/endpoint.h"
#include "cli/opt.h"
#include "cli/program.h"
#include "cli/report.h"
#include "cli/stop.h"
#include "host/link.h"
#include "host/secure.h"
#include "host/tool.h"

struct forget {
	char *dispatcher, *context;
	struct words datasets;
	bool force, quiet, insecure;
	int64_t connect_timeout, verbose, timeout;
};

static const struct param rows[] = {
	OPT_SERVICE(struct forget),
	{ .name = "dataset", .arg = "ID", .kind = PARAM_WORDS, .offset = offsetof(struct forget, datasets),
	  .flags = PARAM_REPEAT | PARAM_NAME | PARAM_BY_HAND, .complete = "dataset",
	  .help = "forget this dataset, with the jobs that are only kept for audits" },
	{ .name = "force", .kind = PARAM_BOOL, .offset = offsetof(struct forget, force), .flags = PARAM_BY_HAND,
	  .help = "forget jobs that have readers and datasets that are in use; the readers end with 66" },
	OPT_LAST(struct forget),
	{ 0 }
};

static const struct program program = {
	.name = "dsvc-forget",
	.brief = "have a service forget jobs and datasets",
	.synopsis = PROGRAM_TEXTS("[OPTION]... JOB...", "[OPTION]... --dataset ID"),
	.doc = PROGRAM_TEXTS(
		"Removes jobs (by name or number) and datasets at once; without it they go when the "
		"dispatcher's --job-gc, --job-gc-unfinished or --dataset-gc has passed. Positions in a "
		"job that was forgotten cannot be resumed, unless the job kept an order.",
		"Either all that is named is forgotten, or nothing."),
	.rows = rows,
	.examples = (const struct program_example[]){
		{ "dsvc-forget train", "begin the job `train` anew when it is read next" },
		{ "dsvc-forget --dataset web-errors", "free the name for another pipeline" },
		{ 0 } },
	.exits = (const struct program_exit[]){
		{ 66, "there is no such job or dataset" }, { 69, NULL }, { 74, "the dispatcher cannot record anything" },
		{ 75, "a job has readers, a dataset is in use, or contact was lost" },
		{ 76, NULL }, EXITS_OF_KEYS, { 124, NULL }, { -1, NULL } },
	.operand_name = "job",
	.versions = link_versions,
};

static enum status
forget_check(const struct forget *o, const struct opt *opt, struct err *e)
{
	if (!opt->n && !o->datasets.n) {
		err_set(e, ST_USAGE, "no job or dataset named");
		err_help(e, "name a job, or give --dataset ID; dsvc-status shows both");
		return ST_USAGE;
	}
	if (opt->n > WIRE_FORGET_MAX || o->datasets.n > WIRE_FORGET_MAX)
		return err_set(e, ST_USAGE, "more than %d names", WIRE_FORGET_MAX);
	for (size_t i = 0; i < opt->n; i++)
		if (!*opt->operand[i] || strlen(opt->operand[i]) > WIRE_NAME_MAX)
			return err_set(e, ST_USAGE, "the name of a job has 1 to %d bytes", WIRE_NAME_MAX);
	return ST_OK;
}

static enum status
forget_ask(const struct forget *o, const struct opt *opt, const struct endpoint *ep, struct err *e)
{
	struct msg reply, ask = { .type = MSG_FORGET, .forget = { .jobs = { opt->operand, opt->n },
		.datasets = o->datasets, .force = o->force } };
	enum status st = tool_once(ep->address, ep->from, &ask, MSG_FORGOTTEN, &reply, e);

	if (st != ST_OK)
		return st;
	log_say(LOG_INFO, "forgot %u job%s, %u dataset%s; %u reader%s told", reply.forgotten.jobs,
		str_s(reply.forgotten.jobs), reply.forgotten.datasets, str_s(reply.forgotten.datasets),
		reply.forgotten.readers, reply.forgotten.readers == 1 ? " was" : "s were");
	msg_clear(&reply);
	return ST_OK;
}

int
main(int argc, char **argv)
{
	struct forget o = { 0 };
	struct opt opt;
	struct err e = { 0 };
	struct endpoint ep;
	enum status st;
	int code;

	if (!opt_start(&program, argc, argv, &o, LOG_WARN, &opt, &e, &code))
		return code;
	stop_after(o.timeout, true);
	secure_say_clear(o.insecure);
	st = forget_check(&o, &opt, &e);
	if (st == ST_OK)
		st = endpoint_choose(&opt, &program, o.dispatcher, o.context, &ep, &e);
	if (st == ST_OK)
		st = forget_ask(&o, &opt, &ep, &e);
	opt_clear(&program, &o, &opt);
	return st == ST_OK ? 0 : report(program.name, &e);
}
