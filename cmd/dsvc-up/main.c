/* SPDX-License-Identifier: MIT */
#include <stddef.h>

#include "base/log.h"
#include "cli/endpoint.h"
#include "cli/opt.h"
#include "cli/program.h"
#include "cli/report.h"
#include "cli/stop.h"
#include "host/link.h"
#include "host/work/worker_host.h"
#include "up.h"
#include "wire/msg.h"

static const struct param rows[] = {
	{ .name = "workers", .arg = "N", .kind = PARAM_INT, .offset = offsetof(struct up, workers), .def = "1",
	  .min = 1, .max = 1000, .help = "have at least N workers" },
	{ .name = "slots", .letter = 'j', .arg = "N", .kind = PARAM_INT, .offset = offsetof(struct up, slots),
	  .def = "auto", .min = 1, .max = WIRE_SLOTS_MAX, .flags = PARAM_ALLOW_AUTO | PARAM_PROCESSORS,
	  .help = "streams that each worker runs at once; auto or 0: one per processor; 50%: half as many; -1: one less" },
	{ .name = "state", .kind = PARAM_BOOL, .offset = offsetof(struct up, state),
	  .help = "keep the dispatcher's state in ~/.local/state/dsvc, so that it may be killed" },
	OPT_TIMEOUT(struct up),
	OPT_QUIET(struct up),
	OPT_VERBOSE(struct up),
	{ 0 }
};

static const struct program program = {
	.name = "dsvc-up",
	.brief = "start a dispatcher and workers for this user in the background",
	.synopsis = PROGRAM_TEXTS("[OPTION]..."),
	.doc = PROGRAM_TEXTS(
		"Starts a dispatcher at this user's private socket and workers for it, and returns when they "
		"are ready; dsvc-stop ends them. What runs already is left as it is; only what is missing "
		"is started.",
		"What they print is in dispatch.log and work-N.log in $XDG_STATE_HOME/dsvc, or ~/.local/state/dsvc."),
	.rows = rows,
	.examples = (const struct program_example[]){
		{ "dsvc-up", "a service with one worker, which uses all processors" },
		{ "dsvc-up --workers 4 -j 1 --state", "four workers of one stream each, and a state" },
		{ 0 } },
	.exits = (const struct program_exit[]){
		{ 69, "a program did not become ready" }, { 74, NULL },
		{ 75, "a dispatcher runs without the state that is asked for" }, { 77, NULL },
		{ 78, "there is no folder for logs" }, { 124, NULL }, { -1, NULL } },
	.versions = link_versions,
};

int
main(int argc, char **argv)
{
	struct up o = { 0 };
	struct opt opt;
	struct err e = { 0 };
	struct endpoint ep;
	enum status st;
	int code;

	if (!opt_start(&program, argc, argv, &o, LOG_INFO, &opt, &e, &code))
		return code;
	stop_after(o.timeout, true);
	st = opt_at_most(&opt, 0, &e);
	if (st == ST_OK)
		st = endpoint_private(&ep, &e);
	if (st == ST_OK)
		st = endpoint_prepare(&ep, &e);
	if (st == ST_OK)
		st = up_run(&o, ep.address, &e);
	opt_clear(&program, &o, &opt);
	return st == ST_OK ? 0 : report(program.name, &e);
}
