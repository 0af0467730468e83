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
	  .help = "print the delivery accounts of a job (name, number or `all`); exit 1 if an element was lost or repeated, 65 if a pass of that job failed" },
	{ .name = "watch", .kind = PARAM_BOOL, .offset = offsetof(struct status_options, watch),
	  .help = "refresh the report until interrupted" },
	{ .name = "interval", .arg = "DURATION", .kind = PARAM_DURATION,
	  .offset = offsetof(struct status_options, interval), .def = "1s", .min = 50000000,
	  .max = INT64_MAX, .help = "time between two refreshes of --watch" },
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
		"Shows workers, jobs and their passes, streams, readers and datasets. It changes "
		"nothing.",
		"The audit prints for each pass how many elements were made, delivered and "
		"acknowledged, how many were made again after a worker was lost, and how many of those "
		"were not sent because a reader already had them. None may be lost or repeated."),
	.rows = rows,
	.examples = (const struct program_example[]){
		{ "dsvc-status --watch", "look on" },
		{ "dsvc-status --audit train", "prove that nothing was lost or repeated" },
		{ "dsvc-status --json | jq '.workers[].name'", "for other programs" },
		{ 0 } },
	.exits = (const struct program_exit[]){
		{ 1, "an element was lost or repeated" }, { 65, "a pass of the job given to --audit failed" }, { 66, "there is no such job" }, { 69, NULL },
		{ 75, NULL }, { 76, NULL }, { 124, NULL }, { -1, NULL } },
	.versions = link_versions,
};
