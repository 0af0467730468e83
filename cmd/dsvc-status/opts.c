/* SPDX-License-Identifier: MIT */
#include <stddef.h>

#include "cli/opt.h"
#include "host/link.h"
#include "opts.h"

static const struct param rows[] = {
	OPT_DISPATCHER(struct status_options),
	{ .name = "json", .kind = PARAM_BOOL, .offset = offsetof(struct status_options, json),
	  .help = "print the report as one line of JSON" },
	{ .name = "audit", .arg = "JOB", .kind = PARAM_WORD, .offset = offsetof(struct status_options, audit),
	  .flags = PARAM_OPTIONAL | PARAM_NAME,
	  .help = "print the books of a job (name or number, `all`: of every one), and end with 1 if they do not balance, with 65 if a pass of that job failed" },
	{ .name = "watch", .kind = PARAM_BOOL, .offset = offsetof(struct status_options, watch),
	  .help = "show it again and again, until INT" },
	{ .name = "interval", .arg = "DURATION", .kind = PARAM_DURATION,
	  .offset = offsetof(struct status_options, interval), .def = "1s", .min = 50000000,
	  .max = INT64_MAX, .help = "time between two looks of --watch" },
	OPT_TIMEOUT(struct status_options),
	OPT_QUIET(struct status_options),
	OPT_VERBOSE(struct status_options),
	{ 0 }
};

const struct program status_program = {
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
		{ 1, "the books do not balance" }, { 65, "a pass of the job that --audit names has failed" }, { 66, "there is no such job" }, { 69, NULL },
		{ 75, NULL }, { 76, NULL }, { 124, NULL }, { -1, NULL } },
	.versions = link_versions,
};
