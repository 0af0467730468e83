/* SPDX-License-Identifier: MIT */
#include <stddef.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/opt.h"
#include "host/link.h"
#include "opts.h"

static const struct param rows[] = {
	OPT_SERVICE(struct status_options),
	{ .name = "json", .kind = PARAM_BOOL, .offset = offsetof(struct status_options, json),
	  .help = "print the report as one line of JSON" },
	{ .name = "audit", .arg = "JOB", .kind = PARAM_WORD, .offset = offsetof(struct status_options, audit),
	  .flags = PARAM_OPTIONAL | PARAM_NAME, .complete = "job",
	  .help = "print the delivery accounts of a job (name, number or `all`); "
	          "exit 1 if an element was lost or repeated, 65 if a pass of that job failed" },
	{ .name = "streams", .kind = PARAM_BOOL, .offset = offsetof(struct status_options, streams), .flags = PARAM_RARE,
	  .help = "with --audit: a line for each shard of a job with shards" },
	{ .name = "wanted", .arg = "WHAT", .kind = PARAM_CHOICE, .offset = offsetof(struct status_options, wanted),
	  .flags = PARAM_OPTIONAL | PARAM_BARE, .choices = "slots|workers",
	  .help = "print how many slots (or workers) the jobs that are being read could use, and nothing else" },
	{ .name = "busy", .arg = "SHARE", .kind = PARAM_FLOAT, .offset = offsetof(struct status_options, busy),
	  .def = "1", .flags = PARAM_RARE,
	  .help = "with --wanted: the share of its time that a slot is to be busy, above 0 and at most 1; 0.8 leaves room" },
	{ .name = "metrics", .arg = "WHAT", .kind = PARAM_CHOICE, .offset = offsetof(struct status_options, metrics),
	  .flags = PARAM_OPTIONAL | PARAM_BARE, .choices = "service|workers",
	  .help = "print metrics as Prometheus reads them; `workers` adds some for each worker" },
	{ .name = "names", .arg = "WHAT", .kind = PARAM_CHOICE, .offset = offsetof(struct status_options, names),
	  .flags = PARAM_OPTIONAL | PARAM_BARE | PARAM_RARE, .choices = "jobs|datasets",
	  .help = "print the names of the jobs (or ids of the datasets), one a line; a job without a name has its number" },
	{ .name = "all", .kind = PARAM_BOOL, .offset = offsetof(struct status_options, all), .flags = PARAM_RARE,
	  .help = "show all jobs, not only those that are read and the last 20 that are not" },
	{ .name = "watch", .kind = PARAM_BOOL, .offset = offsetof(struct status_options, watch),
	  .help = "refresh the report until interrupted" },
	{ .name = "interval", .arg = "DURATION", .kind = PARAM_DURATION,
	  .offset = offsetof(struct status_options, interval), .def = "1s", .min = 50000000,
	  .max = INT64_MAX, .help = "time between two refreshes of --watch" },
	OPT_LAST(struct status_options),
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
		{ "dsvc-status --watch", "watch it" },
		{ "dsvc-status --audit train", "prove that nothing was lost or repeated" },
		{ "dsvc-status --json | jq '.workers[].name'", "for other programs" },
		{ "dsvc-status --wanted=workers", "how many workers would be enough" },
		{ 0 } },
	.exits = (const struct program_exit[]){
		{ 1, "an element was lost or repeated" }, { 65, "a pass of the job given to --audit failed" },
		{ 66, "there is no such job" }, { 69, NULL },
		{ 75, NULL }, { 76, NULL }, EXITS_OF_KEYS, { 124, NULL }, { -1, NULL } },
	.versions = link_versions,
};

enum status
status_options_form(struct status_options *o, const struct opt *opt, struct err *e)
{
	bool wanted = opt_from(opt, &status_program, "wanted") != NULL;
	bool metrics = opt_from(opt, &status_program, "metrics") != NULL;
	bool names = opt_from(opt, &status_program, "names") != NULL;

	if (wanted + metrics + names + (o->json || o->audit) > 1) {
		err_set(e, ST_USAGE, "--wanted, --metrics, --names and --json or --audit print different things");
		err_help(e, "give one of them");
		return ST_USAGE;
	}
	if (o->streams && !o->audit) {
		err_set(e, ST_USAGE, "--streams goes with --audit");
		err_help(e, "-v shows the streams of running passes");
		return ST_USAGE;
	}
	if (!(o->busy > 0 && o->busy <= 1))
		return err_set(e, ST_USAGE, "--busy is a share above 0 and at most 1");
	if (opt_from(opt, &status_program, "busy") && !wanted)
		return err_set(e, ST_USAGE, "--busy goes with --wanted");
	o->form = names ? FORM_NAMES : wanted ? FORM_WANTED : metrics ? FORM_METRICS : o->json ? FORM_JSON : FORM_TABLE;
	return ST_OK;
}

unsigned
status_options_width(const struct status_options *o)
{
	struct winsize w;

	if (o->verbose)
		return 0;
	return ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) == 0 && w.ws_col > 20 ? w.ws_col : 80;
}
