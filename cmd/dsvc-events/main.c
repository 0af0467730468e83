/* SPDX-License-Identifier: MIT */
#include <stddef.h>

#include "base/log.h"
#include "cli/endpoint.h"
#include "cli/opt.h"
#include "cli/program.h"
#include "cli/report.h"
#include "cli/stop.h"
#include "follow.h"
#include "host/link.h"
#include "host/secure.h"

static const struct param rows[] = {
	OPT_SERVICE(struct follow),
	{ .name = "follow", .letter = 'f', .kind = PARAM_BOOL, .offset = offsetof(struct follow, on),
	  .help = "go on with what happens from now, until interrupted" },
	{ .name = "count", .letter = 'n', .arg = "N", .kind = PARAM_INT, .offset = offsetof(struct follow, last),
	  .def = "20", .max = 500, .help = "begin with the last N events; the dispatcher keeps 500" },
	{ .name = "json", .kind = PARAM_BOOL, .offset = offsetof(struct follow, json),
	  .help = "print each event as one line of JSON" },
	OPT_LAST(struct follow),
	{ 0 }
};

static const struct program program = {
	.name = "dsvc-events",
	.brief = "tell what happened in a service",
	.synopsis = PROGRAM_TEXTS("[OPTION]..."),
	.doc = PROGRAM_TEXTS(
		"Prints a line for each thing that happened lately: workers that joined, left or were lost and "
		"what became of their streams, passes that began, finished or failed, elements that were left "
		"out, jobs that were forgotten. The dispatcher keeps the last 500 in memory.",
		"Of jobs, those with a key without the role admin are told only what happened to their own."),
	.rows = rows,
	.examples = (const struct program_example[]){
		{ "dsvc-events", "what happened lately" },
		{ "dsvc-events -f", "and what happens from now" },
		{ "dsvc-events -n 500 --json | jq -r .text", "for other programs" },
		{ 0 } },
	.exits = (const struct program_exit[]){
		{ 69, NULL }, { 75, NULL }, { 76, NULL }, EXITS_OF_KEYS, { 124, NULL }, { -1, NULL } },
	.versions = link_versions,
};

int
main(int argc, char **argv)
{
	struct follow o = { 0 };
	struct opt opt;
	struct err e = { 0 };
	struct endpoint ep;
	enum status st;
	int code;

	if (!opt_start(&program, argc, argv, &o, LOG_WARN, &opt, &e, &code))
		return code;
	stop_after(o.timeout, true);
	secure_say_clear(o.insecure);
	if (o.on)
		stop_install();
	st = opt_at_most(&opt, 0, &e);
	if (st == ST_OK)
		st = endpoint_choose(&opt, &program, o.dispatcher, o.context, &ep, &e);
	if (st == ST_OK)
		st = follow_run(&o, &ep, &e);
	opt_clear(&program, &o, &opt);
	return st == ST_OK ? 0 : report(program.name, &e);
}
