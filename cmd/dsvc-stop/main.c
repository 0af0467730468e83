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

static const struct param rows[] = {
	{ .name = "drain", .kind = PARAM_BOOL, .offset = offsetof(struct halt, drain), .flags = PARAM_BY_HAND,
	  .help = "have workers deliver what they have made before the dispatcher ends" },
	{ .name = "now", .kind = PARAM_BOOL, .offset = offsetof(struct halt, now), .flags = PARAM_BY_HAND,
	  .help = "kill everything at once" },
	{ .name = "wait", .kind = PARAM_BOOL, .offset = offsetof(struct halt, wait), .flags = PARAM_BY_HAND,
	  .help = "first wait until no reader is left" },
	{ .name = "grace", .arg = "DURATION", .kind = PARAM_DURATION, .offset = offsetof(struct halt, grace), .def = "30s",
	  .max = INT64_MAX, .flags = PARAM_RARE, .help = "kill what has not ended DURATION after it was told to" },
	OPT_TIMEOUT(struct halt),
	OPT_QUIET(struct halt),
	OPT_VERBOSE(struct halt),
	{ 0 }
};

static const struct program program = {
	.name = "dsvc-stop",
	.brief = "end this user's dispatcher and workers",
	.synopsis = PROGRAM_TEXTS("[OPTION]..."),
	.doc = PROGRAM_TEXTS(
		"Ends the dispatcher at this user's private socket, its workers and readers on this machine, "
		"whether dsvc-up started them or someone by hand, and returns when they have ended. No "
		"process, socket or lock is left. Readers that are not done end with 75.",
		"With --wait the passes that run are read to their end first. Positions of readers with "
		"--checkpoint stay good if the dispatcher has a state."),
	.rows = rows,
	.examples = (const struct program_example[]){
		{ "dsvc-stop", "end the service" },
		{ "dsvc-stop --wait", "end it when its readers have read everything" },
		{ 0 } },
	.exits = (const struct program_exit[]){
		{ 0, "nothing runs any more" }, { 75, "something could not be ended" }, { 77, NULL },
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
	st = main_check(&o, &opt, &e);
	if (st == ST_OK)
		st = endpoint_private(&ep, &e);
	if (st == ST_OK)
		st = halt_run(&o, ep.address, &e);
	opt_clear(&program, &o, &opt);
	return st == ST_OK ? 0 : report(program.name, &e);
}
