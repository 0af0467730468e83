/* SPDX-License-Identifier: MIT */
#include <stddef.h>

#include "base/log.h"
#include "cli/opt.h"
#include "cli/report.h"
#include "cli/stop.h"
#include "host/link.h"
#include "host/secure.h"
#include "why.h"

static const struct param rows[] = {
	OPT_SERVICE(struct why),
	{ .name = "json", .kind = PARAM_BOOL, .offset = offsetof(struct why, json),
	  .help = "print the answer and its figures as one line of JSON" },
	OPT_LAST(struct why),
	{ 0 }
};

static const struct program program = {
	.name = "dsvc-why",
	.brief = "say what limits a job, and what to change",
	.synopsis = PROGRAM_TEXTS("[OPTION]... [JOB]"),
	.doc = PROGRAM_TEXTS(
		"Prints one line about the pass of JOB (its name or number) that is under way: whether it waits "
		"for its source, an operator, more workers, the network, its reader, the reader's output, or "
		"a reader at all, with figures of the last seconds, and what would make it faster. "
		"JOB may be left out when only one is under way; when none is, the one that was read last is meant."),
	.rows = rows,
	.examples = (const struct program_example[]){
		{ "dsvc-why train", "what limits the job `train`" },
		{ "dsvc-why --json train | jq -r .limit", "in a word, for other programs" },
		{ 0 } },
	.exits = (const struct program_exit[]){
		{ 66, "there is no such job" }, { 69, NULL }, { 75, NULL }, { 76, NULL },
		EXITS_OF_KEYS, { 124, NULL }, { -1, NULL } },
	.operand_name = "job",
	.versions = link_versions,
};

int
main(int argc, char **argv)
{
	struct why o = { 0 };
	struct opt opt;
	struct err e = { 0 };
	struct endpoint ep;
	enum status st;
	int code;

	if (!opt_start(&program, argc, argv, &o, LOG_WARN, &opt, &e, &code))
		return code;
	stop_after(o.timeout, true);
	secure_say_clear(o.insecure);
	st = opt_at_most(&opt, 1, &e);
	if (st == ST_OK)
		st = endpoint_choose(&opt, &program, o.dispatcher, o.context, &ep, &e);
	if (st == ST_OK)
		st = why_run(&o, &ep, opt.n ? opt.operand[0] : NULL, &e);
	opt_clear(&program, &o, &opt);
	return st == ST_OK ? 0 : report(program.name, &e);
}
