/* SPDX-License-Identifier: MIT */
#include <stddef.h>

#include "base/log.h"
#include "cli/opt.h"
#include "cli/report.h"
#include "cli/stop.h"
#include "host/link.h"
#include "host/secure.h"
#include "tap.h"

static const struct param rows[] = {
	OPT_SERVICE(struct tap),
	{ .name = "count", .letter = 'n', .arg = "N", .kind = PARAM_INT, .offset = offsetof(struct tap, count),
	  .def = "10", .min = 1, .max = INT64_MAX, .flags = PARAM_ALLOW_INF,
	  .help = "stop after N elements; inf: at the end of the pass" },
	{ .name = "to", .letter = 't', .arg = "FORMAT", .kind = PARAM_CHOICE, .offset = offsetof(struct tap, format),
	  .def = "auto", .choices = FORMAT_CHOICES, .complete = FORMAT_CHOICES,
	  .help = "output format; auto: text for scalars, else ndjson" },
	OPT_LAST(struct tap),
	{ 0 }
};

static const struct program program = {
	.name = "dsvc-tap",
	.brief = "show elements in the middle of a running pass",
	.synopsis = PROGRAM_TEXTS("[OPTION]... JOB [OPERATOR]"),
	.doc = PROGRAM_TEXTS(
		"Prints copies of elements that OPERATOR gives, in the pass of JOB (its name or number) that is under way. "
		"The pass goes on as if nobody looked: its readers get every element, and wait for nothing.",
		"OPERATOR is the name of an operator, or its number in the pipeline, from 1 for the source on; "
		"left out, it is the last one that runs on workers. The elements are a sample: twice a second each stream gives "
		"the next ones that come by."),
	.rows = rows,
	.examples = (const struct program_example[]){
		{ "dsvc-tap train", "ten elements as readers of `train` get them" },
		{ "dsvc-tap -n 3 train filter", "three of those that `filter` lets through" },
		{ "dsvc-tap -n inf train 1 | dsvc-run 'ndjson - | filter .status == 503'", "look for something at the source" },
		{ 0 } },
	.exits = (const struct program_exit[]){
		{ 64, NULL }, { 66, "there is no such job, or no element came before its pass was over" }, { 69, NULL },
		{ 74, NULL }, { 75, NULL }, { 76, NULL }, EXITS_OF_KEYS, { 124, NULL }, { -1, NULL } },
	.operand_name = "job",
	.versions = link_versions,
};

int
main(int argc, char **argv)
{
	struct tap o = { 0 };
	struct opt opt;
	struct err e = { 0 };
	struct endpoint ep;
	enum status st;
	int code;

	if (!opt_start(&program, argc, argv, &o, LOG_WARN, &opt, &e, &code))
		return code;
	stop_after(o.timeout, true);
	secure_say_clear(o.insecure);
	st = opt_at_most(&opt, 2, &e);
	if (st == ST_OK && !opt.n) {
		st = err_set(&e, ST_USAGE, "which job?");
		err_help(&e, "dsvc-status lists them");
	}
	if (st == ST_OK)
		st = endpoint_choose(&opt, &program, o.dispatcher, o.context, &ep, &e);
	if (st == ST_OK)
		st = tap_run(&o, &ep, opt.operand[0], opt.n > 1 ? opt.operand[1] : NULL, &e);
	opt_clear(&program, &o, &opt);
	return st == ST_OK ? 0 : report(program.name, &e);
}
