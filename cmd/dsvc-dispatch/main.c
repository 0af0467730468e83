/* SPDX-License-Identifier: MIT */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "cli/endpoint.h"
#include "cli/opt.h"
#include "cli/program.h"
#include "cli/ready.h"
#include "cli/report.h"
#include "host/dispatch_host.h"
#include "host/link.h"
#include "store/store.h"

struct dispatch {
	struct words bind;
	bool insecure, quiet, until_stdin_eof;
	int64_t verbose, exit_when_idle, job_gc, unfinished_gc, dataset_gc, beat, loss;
	struct ready ready;
	char *state;
};

#define DISPATCH_BEAT_MIN 10000000ll
#define DISPATCH_LOSS_MAX 86400000000000ll

static const struct param rows[] = {
	{ .name = "bind", .letter = 'b', .arg = "ENDPOINT", .kind = PARAM_WORDS,
	  .offset = offsetof(struct dispatch, bind), .flags = PARAM_REPEAT,
	  .help = "listen at [tcp://]HOST:PORT or [ipc://]PATH; default: this user's private socket" },
	{ .name = "state", .arg = "DIR", .kind = PARAM_WORD, .offset = offsetof(struct dispatch, state),
	  .flags = PARAM_OPTIONAL, .complete = "dir",
	  .help = "keep the state in DIR, and resume from it when started again" },
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
	{ .name = "dataset-gc", .arg = "DURATION", .kind = PARAM_DURATION, .flags = PARAM_RARE,
	  .offset = offsetof(struct dispatch, dataset_gc), .def = "7d", .min = 1000000, .max = INT64_MAX / 2,
	  .help = "forget datasets that were registered without a name and not used for DURATION" },
	{ .name = "beat", .arg = "DURATION", .kind = PARAM_DURATION, .offset = offsetof(struct dispatch, beat),
	  .flags = PARAM_RARE | PARAM_OPTIONAL, .min = DISPATCH_BEAT_MIN, .max = DISPATCH_LOSS_MAX / 2,
	  .help = "time between heartbeats of workers and readers; default: a fifth of --loss" },
	{ .name = "loss", .arg = "DURATION", .kind = PARAM_DURATION, .offset = offsetof(struct dispatch, loss),
	  .flags = PARAM_RARE, .def = "5s", .min = 2 * DISPATCH_BEAT_MIN, .max = DISPATCH_LOSS_MAX,
	  .help = "a worker or reader that is silent for DURATION counts as lost; at least twice --beat" },
	OPT_INSECURE(struct dispatch),
	OPT_READY_FD(struct dispatch),
	OPT_READY_FILE(struct dispatch),
	OPT_UNTIL_STDIN_EOF(struct dispatch),
	OPT_QUIET(struct dispatch),
	OPT_VERBOSE(struct dispatch),
	{ 0 }
};

static const struct program program = {
	.name = "dsvc-dispatch",
	.brief = "hand out the work of a service to its workers and readers",
	.synopsis = PROGRAM_TEXTS("[OPTION]..."),
	.doc = PROGRAM_TEXTS(
		"Keeps track of the datasets, jobs and workers of a service, hands out splits of the "
		"sources, and records what was delivered. Elements never pass through it.",
		"With --state it may be killed at any moment: started again with the same folder and "
		"address it continues, workers and readers reconnect by themselves, and nothing is lost "
		"or repeated. Without --state, workers and readers end with 75 when it is killed.",
		"TERM or INT ends it. Without --state, or when --exit-when-idle ends it, the whole "
		"service ends: workers with 0, readers that are not done with 75."),
	.rows = rows,
	.examples = (const struct program_example[]){
		{ "dsvc-dispatch &", "serve this user's programs on this machine" },
		{ "dsvc-dispatch --state ~/.local/state/dsvc &", "one that may be killed and started again" },
		{ "dsvc-dispatch -b '127.0.0.1:*' --ready-file addr & dsvc-work -d @addr &", "take any free port and say which" },
		{ 0 } },
	.exits = (const struct program_exit[]){
		{ 0, "ended by a signal or by --exit-when-idle" },
		{ 65, "the state is damaged" }, { 66, "the folder for the state cannot be created" },
		{ 69, "another dispatcher uses the address or the state" },
		{ 74, NULL },
		{ 77, "other machines can reach the address and --insecure was not given, or the state is not writable" },
		{ 78, "the state was written by another version" },
		{ -1, NULL } },
	.versions = link_versions,
};

/* A fifth of the loss, so that some signs of life may get lost. */
static enum status
main_beat(struct dispatch *o, struct err *e)
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

int
main(int argc, char **argv)
{
	struct dispatch o = { 0 };
	struct opt opt;
	struct err e = { 0 };
	enum status st;
	int code;

	if (!opt_start(&program, argc, argv, &o, LOG_INFO, &opt, &e, &code))
		return code;

	struct endpoint own;
	char *first[1] = { own.address };
	struct dispatch_conf c = { .binds = o.bind.v, .n_binds = o.bind.n,
		.insecure = o.insecure, .idle_ns = o.exit_when_idle,
		.job_gc_ns = o.job_gc, .unfinished_gc_ns = o.unfinished_gc, .dataset_gc_ns = o.dataset_gc,
		.until_stdin_eof = o.until_stdin_eof, .ready = ready_told, .arg = &o.ready };
	st = main_beat(&o, &e);
	c.beat_ms = (uint32_t)(o.beat / 1000000);
	c.loss_ms = (uint32_t)(o.loss / 1000000);
	if (opt.n)
		st = err_set(&e, ST_USAGE, "unexpected argument `%s`", opt.operand[0]);
	else if (st == ST_OK && !o.bind.n) {
		st = endpoint_find(NULL, NULL, &own, &e);
		if (st == ST_OK)
			st = endpoint_prepare(&own, &e);
		c.binds = first;
		c.n_binds = 1;
	}
	for (size_t i = 0; st == ST_OK && i < o.bind.n; i++)
		st = endpoint_bind(&o.bind.v[i], "-b", &e);
	if (st == ST_OK)
		st = ready_begin(&o.ready, &e);
	if (st == ST_OK && o.state)
		st = store_open(o.state, &c.store, &e);
	if (st == ST_OK)
		st = dispatch_run(&c, &e);
	ready_end(&o.ready);
	store_close(&c.store);
	opt_clear(&program, &o, &opt);
	return st == ST_OK ? 0 : report(program.name, &e);
}
