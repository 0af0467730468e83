/* SPDX-License-Identifier: MIT */
#include <stddef.h>

#include "base/log.h"
#include "checkup.h"
#include "cli/opt.h"
#include "cli/quit.h"
#include "cli/report.h"
#include "cli/stop.h"
#include "host/link.h"
#include "host/secure.h"

static const struct param rows[] = {
	OPT_SERVICE(struct doctor),
	{ .name = "shared", .arg = "DIR", .kind = PARAM_WORDS, .offset = offsetof(struct doctor, shared),
	  .flags = PARAM_REPEAT, .complete = "dir",
	  .help = "check that each worker sees the files of this folder, too; may be given again" },
	{ .name = "stuck", .arg = "DURATION", .kind = PARAM_DURATION, .offset = offsetof(struct doctor, stuck),
	  .def = "30s", .help = "a worker is stuck when one call of an operator lasts longer" },
	{ .name = "json", .kind = PARAM_BOOL, .offset = offsetof(struct doctor, json),
	  .help = "print each check as one line of JSON" },
	OPT_LAST(struct doctor),
	{ 0 }
};

static const struct program program = {
	.name = "dsvc-doctor",
	.brief = "check this machine and a service, and say how to cure what is wrong",
	.synopsis = PROGRAM_TEXTS("[OPTION]..."),
	.doc = PROGRAM_TEXTS(
		"Prints a line for each check: `ok`, or `WRONG` and how to cure it. Of this machine: the folder of "
		"sockets, who can read the keys, limits, shared memory, room for temporary files, the clock, and "
		"whether all programs have one version. Of the service: whether the dispatcher answers, its "
		"clock, workers and readers that are silent or stuck, and jobs that wait for a consumer.",
		"With -q only what is wrong is printed. The exit status is 1 if something is."),
	.rows = rows,
	.examples = (const struct program_example[]){
		{ "dsvc-doctor", "this machine and the usual service" },
		{ "dsvc-doctor --shared /data", "and whether all workers see /data" },
		{ "dsvc-doctor --json | jq -r 'select(.ok | not) | .help'", "the cures alone" },
		{ 0 } },
	.exits = (const struct program_exit[]){
		{ 1, "something is wrong" }, { 66, "there is no such context" }, { 77, "not allowed" },
		{ 78, "others can read the keys or contexts" }, { 124, NULL }, { -1, NULL } },
	.versions = link_versions,
};

int
main(int argc, char **argv)
{
	struct doctor o = { 0 };
	struct opt opt;
	struct err e = { 0 }, no = { 0 };
	struct endpoint ep;
	enum status st;
	int code;

	if (!opt_start(&program, argc, argv, &o, LOG_WARN, &opt, &e, &code))
		return code;
	stop_after(o.timeout, true);
	secure_say_clear(o.insecure);
	struct checkup c = { .json = o.json, .quiet = o.quiet };
	st = opt_at_most(&opt, 0, &e);
	if (st == ST_OK) {
		enum status found = endpoint_choose(&opt, &program, o.dispatcher, o.context, &ep, &no);
		if (found == ST_USAGE || found == ST_NOINPUT)
			st = (e = no, found);
		else
			machine_check(&c);
		if (st == ST_OK)
			versions_check(&c, program.name);
		if (st == ST_OK && found == ST_OK)
			service_check(&c, &ep, o.stuck);
		else if (st == ST_OK)
			check_error(&c, "dispatcher", &no);
		for (size_t i = 0; st == ST_OK && found == ST_OK && i < o.shared.n; i++)
			shared_check(&c, &ep, o.shared.v[i]);
	}
	if (st == ST_OK)
		st = quit_say(&c.out, &e);
	buf_clear(&c.out);
	opt_clear(&program, &o, &opt);
	return st != ST_OK ? report(program.name, &e) : c.wrong ? 1 : 0;
}
