/* SPDX-License-Identifier: MIT */
#include "opts.h"

#include <stddef.h>

#include "cli/program.h"
#include "host/link.h"

#define DISPATCH_BEAT_MIN 10000000ll
#define DISPATCH_LOSS_MAX 86400000000000ll

static const struct param rows[] = {
	{ .name = "bind", .letter = 'b', .arg = "ENDPOINT", .kind = PARAM_WORDS,
	  .offset = offsetof(struct dispatch, bind), .flags = PARAM_REPEAT,
	  .help = "listen at [tcp://]HOST:PORT or [ipc://]PATH; default: this user's private socket" },
	{ .name = "advertise", .arg = "ENDPOINT", .kind = PARAM_WORD,
	  .offset = offsetof(struct dispatch, advertise), .flags = PARAM_RARE | PARAM_OPTIONAL,
	  .help = "what the ready file and invitations tell others to connect to, if not the first address of -b; "
	  "HOST:* has the port that was bound" },
	{ .name = "state", .arg = "DIR", .kind = PARAM_WORD, .offset = offsetof(struct dispatch, state),
	  .flags = PARAM_OPTIONAL, .complete = "dir",
	  .help = "keep the state in DIR, and resume from it when started again" },
	{ .name = "standby", .kind = PARAM_BOOL, .offset = offsetof(struct dispatch, standby),
	  .help = "while another dispatcher uses the state, wait for its end; then serve in its place" },
	{ .name = "exit-when-idle", .arg = "DURATION", .kind = PARAM_DURATION,
	  .offset = offsetof(struct dispatch, exit_when_idle), .def = "0", .max = INT64_MAX,
	  .help = "end after being idle for DURATION; 0: never" },
	{ .name = "job-gc", .arg = "DURATION", .kind = PARAM_DURATION, .flags = PARAM_ALLOW_NEVER, .complete = "never",
	  .offset = offsetof(struct dispatch, job_gc), .def = "5m", .min = 1000000, .max = INT64_MAX / 2,
	  .help = "forget jobs that are over, or that nobody can resume, when they were not read for DURATION, or `never`" },
	{ .name = "job-gc-unfinished", .arg = "DURATION", .kind = PARAM_DURATION, .complete = "never",
	  .flags = PARAM_RARE | PARAM_ALLOW_NEVER,
	  .offset = offsetof(struct dispatch, unfinished_gc), .def = "7d", .min = 1000000, .max = INT64_MAX / 2,
	  .help = "the same for jobs with a position, and for named ones that stopped before their end" },
	{ .name = "group-gc", .arg = "DURATION", .kind = PARAM_DURATION, .complete = "never",
	  .flags = PARAM_RARE | PARAM_ALLOW_NEVER,
	  .offset = offsetof(struct dispatch, group_gc), .def = "30s", .min = 1000000, .max = INT64_MAX / 2,
	  .help = "in a shared job, keep nothing more for a group whose readers were lost, after DURATION, or `never`" },
	{ .name = "dataset-gc", .arg = "DURATION", .kind = PARAM_DURATION, .flags = PARAM_RARE,
	  .offset = offsetof(struct dispatch, dataset_gc), .def = "7d", .min = 1000000, .max = INT64_MAX / 2,
	  .help = "forget datasets that were registered without a name and not used for DURATION" },
	{ .name = "beat", .arg = "DURATION", .kind = PARAM_DURATION, .offset = offsetof(struct dispatch, beat),
	  .flags = PARAM_RARE | PARAM_OPTIONAL, .min = DISPATCH_BEAT_MIN, .max = DISPATCH_LOSS_MAX / 2,
	  .help = "time between heartbeats of workers and readers; default: a fifth of --loss" },
	{ .name = "loss", .arg = "DURATION", .kind = PARAM_DURATION, .offset = offsetof(struct dispatch, loss),
	  .flags = PARAM_RARE, .def = "5s", .min = 2 * DISPATCH_BEAT_MIN, .max = DISPATCH_LOSS_MAX,
	  .help = "a worker or reader that is silent for DURATION counts as lost; at least twice --beat" },
	{ .name = "allowed", .arg = "FILE", .kind = PARAM_WORD, .offset = offsetof(struct dispatch, allowed),
	  .flags = PARAM_OPTIONAL | PARAM_RARE | PARAM_BY_HAND, .complete = "file",
	  .help = "keys that may use the service over TCP; default: `allowed` in --state DIR, or in ~/.config/dsvc" },
	OPT_INSECURE(struct dispatch),
	OPT_READY_FD(struct dispatch),
	OPT_READY_FILE(struct dispatch),
	OPT_UNTIL_STDIN_EOF(struct dispatch),
	OPT_LOG_FORMAT(struct dispatch),
	OPT_QUIET(struct dispatch),
	OPT_VERBOSE(struct dispatch),
	{ 0 }
};

const struct program dispatch_program = {
	.name = "dsvc-dispatch",
	.brief = "hand out the work of a service to its workers and readers",
	.synopsis = PROGRAM_TEXTS("[OPTION]..."),
	.doc = PROGRAM_TEXTS(
		"Keeps track of the datasets, jobs and workers of a service, hands out splits of the "
		"sources, and records what was delivered. Elements never pass through it.",
		"With --state it may be killed at any moment: started again with the same folder and "
		"address it continues, workers and readers reconnect by themselves, and nothing is lost "
		"or repeated. Without --state, workers and readers end with 75 when it is killed.",
		"With --standby another one can wait on the same folder, also on another machine that has "
		"it, and serve when the first is gone; give programs both addresses: -d A,B.",
		"TERM or INT ends it. Without --state, or when --exit-when-idle ends it, the whole "
		"service ends: workers with 0, readers that are not done with 75."),
	.rows = rows,
	.examples = (const struct program_example[]){
		{ "dsvc-dispatch &", "serve this user's programs on this machine" },
		{ "dsvc-dispatch --state ~/.local/state/dsvc &", "one that may be killed and started again" },
		{ "dsvc-dispatch --state ~/.local/state/dsvc --standby &", "one that takes its place when it is gone" },
		{ "dsvc-dispatch --insecure -b '127.0.0.1:*' --ready-file addr & dsvc-work --insecure -d @addr &",
		  "take any free port, without keys, and say which" },
		{ 0 } },
	.exits = (const struct program_exit[]){
		{ 0, "ended by a signal or by --exit-when-idle" },
		{ 65, "the state is damaged" }, { 66, "the folder for the state cannot be created" },
		{ 69, "another dispatcher uses the address or the state" },
		{ 74, NULL },
		{ 77, "the state is not writable" },
		{ 78, "the state was written by another version, or others can read the keys" },
		{ -1, NULL } },
	.versions = link_versions,
};

/* A fifth of the loss, so that some signs of life may get lost. */
static enum status
opts_beat(struct dispatch *o, struct err *e)
{
	if (!o->beat)
		o->beat = o->loss / 5 > DISPATCH_BEAT_MIN ? o->loss / 5 : DISPATCH_BEAT_MIN;
	if (o->loss >= 2 * o->beat)
		return ST_OK;
	err_set(e, ST_USAGE, "--loss %lldms is less than twice --beat %lldms",
		(long long)(o->loss / 1000000), (long long)(o->beat / 1000000));
	err_help(e, "a single late heartbeat would count as a loss; for example: --beat %lldms --loss %lldms",
		 (long long)(o->beat / 1000000), (long long)(o->beat / 200000));
	return ST_USAGE;
}

enum status
opts_check(struct dispatch *o, const struct opt *opt, struct err *e)
{
	if (opt_at_most(opt, 0, e) != ST_OK)
		return ST_USAGE;
	if (o->standby && !o->state) {
		err_set(e, ST_USAGE, "--standby needs --state: it waits for the folder that the other dispatcher uses");
		err_help(e, "--state DIR --standby, with the DIR of the other one");
		return ST_USAGE;
	}
	return opts_beat(o, e);
}
