/* SPDX-License-Identifier: MIT */
#include <stddef.h>

#include "base/log.h"
#include "cli/endpoint.h"
#include "cli/opt.h"
#include "cli/program.h"
#include "cli/report.h"
#include "cli/stop.h"
#include "halt.h"
#include "host/link.h"
#include "host/secure.h"
#include "remote.h"

/* By hand only: a variable of the environment ends nothing elsewhere. */
static const struct param rows[] = {
	{ .name = "dispatcher", .letter = 'd', .arg = "ENDPOINT", .kind = PARAM_WORD,
	  .offset = offsetof(struct halt, dispatcher), .flags = PARAM_OPTIONAL | PARAM_BY_HAND,
	  .help = "end the service of this dispatcher, wherever its workers are; @FILE: read it from FILE" },
	{ .name = "context", .letter = 'c', .arg = "NAME", .kind = PARAM_WORD,
	  .offset = offsetof(struct halt, context), .flags = PARAM_OPTIONAL | PARAM_RARE | PARAM_BY_HAND,
	  .complete = "context",
	  .help = "end that of the dispatcher that this context names; see dsvc-context(1)" },
	OPT_CONNECT(struct halt),
	{ .name = "drain", .kind = PARAM_BOOL, .offset = offsetof(struct halt, drain), .flags = PARAM_BY_HAND,
	  .help = "have workers deliver what they have made before the dispatcher ends" },
	{ .name = "now", .kind = PARAM_BOOL, .offset = offsetof(struct halt, now), .flags = PARAM_BY_HAND,
	  .help = "kill everything at once" },
	{ .name = "wait", .kind = PARAM_BOOL, .offset = offsetof(struct halt, wait), .flags = PARAM_BY_HAND,
	  .help = "first wait until no reader is left" },
	{ .name = "grace", .arg = "DURATION", .kind = PARAM_DURATION, .offset = offsetof(struct halt, grace), .def = "30s",
	  .max = INT64_MAX, .flags = PARAM_RARE, .help = "kill what has not ended DURATION after it was told to" },
	OPT_LAST(struct halt),
	{ 0 }
};

static const struct program program = {
	.name = "dsvc-stop",
	.brief = "end a dispatcher and its workers",
	.synopsis = PROGRAM_TEXTS("[OPTION]..."),
	.doc = PROGRAM_TEXTS(
		"Ends the dispatcher at this user's private socket, its workers and readers on this machine, "
		"whether dsvc-up started them or someone by hand, and returns when they have ended. No "
		"process, socket or lock is left. Readers that are not done end with 75.",
		"With -d it ends another service, as who may administer it: the private socket's user, the "
		"dispatcher's own key and keys with the role admin. The dispatcher tells its workers, which end "
		"with 0 wherever they are, and its readers.",
		"With --wait the passes that run are read to their end first. Positions of readers with "
		"--checkpoint stay good if the dispatcher has a state."),
	.rows = rows,
	.examples = (const struct program_example[]){
		{ "dsvc-stop", "end the service" },
		{ "dsvc-stop --wait", "end it when its readers have read everything" },
		{ "dsvc-stop -d @up --drain", "end a service on other machines, once its workers have handed over" },
		{ 0 } },
	.exits = (const struct program_exit[]){
		{ 0, "nothing runs any more" }, { 69, "nothing is there, with -d" },
		{ 75, "something could not be ended, or contact was lost" }, { 76, NULL }, EXITS_OF_KEYS,
		{ 124, NULL }, { -1, NULL } },
	.versions = link_versions,
};

static enum status
main_check(const struct halt *o, const struct opt *opt, struct err *e)
{
	if (opt_at_most(opt, 0, e) != ST_OK)
		return ST_USAGE;
	if (o->drain && o->now)
		return err_set(e, ST_USAGE, "--drain and --now exclude each other");
	if (o->now && (o->dispatcher || o->context)) {
		err_set(e, ST_USAGE, "--now kills processes, which can be done on this machine only");
		err_help(e, "without --now the service ends at once, too; only --drain and --wait are waited for");
		return ST_USAGE;
	}
	return ST_OK;
}

int
main(int argc, char **argv)
{
	struct halt o = { 0 };
	struct opt opt;
	struct err e = { 0 };
	struct endpoint ep;
	enum status st;
	int code;

	if (!opt_start(&program, argc, argv, &o, LOG_INFO, &opt, &e, &code))
		return code;
	stop_after(o.timeout, true);
	secure_say_clear(o.insecure);
	bool named = o.dispatcher || o.context;
	st = main_check(&o, &opt, &e);
	if (st == ST_OK && named)
		st = endpoint_choose(&opt, &program, o.dispatcher, o.context, &ep, &e);
	else if (st == ST_OK)
		st = endpoint_private(&ep, &e);
	if (st == ST_OK)
		st = named ? remote_run(&o, &ep, &e) : halt_run(&o, ep.address, &e);
	opt_clear(&program, &o, &opt);
	return st == ST_OK ? 0 : report(program.name, &e);
}
