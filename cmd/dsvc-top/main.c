/* SPDX-License-Identifier: MIT */
#include <signal.h>
#include <stddef.h>

#include "base/caught.h"
#include "base/log.h"
#include "cli/opt.h"
#include "cli/quit.h"
#include "cli/report.h"
#include "cli/stop.h"
#include "host/link.h"
#include "host/secure.h"
#include "top.h"

static const struct param rows[] = {
	OPT_SERVICE(struct top),
	{ .name = "interval", .arg = "DURATION", .kind = PARAM_DURATION, .offset = offsetof(struct top, interval),
	  .def = "1s", .min = 50000000, .max = INT64_MAX, .help = "time between two looks" },
	{ .name = "count", .letter = 'n', .arg = "N", .kind = PARAM_INT, .offset = offsetof(struct top, count),
	  .def = "inf", .min = 1, .max = INT64_MAX, .flags = PARAM_ALLOW_INF, .help = "end after N looks" },
	{ .name = "json", .kind = PARAM_BOOL, .offset = offsetof(struct top, json),
	  .help = "print one line of JSON for each look" },
	OPT_LAST(struct top),
	{ 0 }
};

static const struct program program = {
	.name = "dsvc-top",
	.brief = "watch a service: rates, and who waits for whom",
	.synopsis = PROGRAM_TEXTS("[OPTION]..."),
	.doc = PROGRAM_TEXTS(
		"Shows the jobs that are read with their rates, now and lately, and what each waits for; of the job "
		"that is selected, what to change; and the workers, with the operator that one is in for long.",
		"Keys: q quits, j and k or the arrows select a job, s sorts by rate, name or readers, p pauses, h helps. "
		"Where standard output is no terminal, each look is printed below the one before."),
	.rows = rows,
	.examples = (const struct program_example[]){
		{ "dsvc-top", "until q is pressed" },
		{ "dsvc-top -n 1", "one look, as text" },
		{ "dsvc-top --json | jq -c '[.per_second, .jobs[].limit]'", "for other programs" },
		{ 0 } },
	.exits = (const struct program_exit[]){
		{ 69, NULL }, { 75, NULL }, { 76, NULL }, EXITS_OF_KEYS, { 124, NULL }, { -1, NULL } },
	.versions = link_versions,
};

/* Ends the loop, which gives the terminal back; so a second signal does no more than the first. */
static void
top_caught(int sig, int first)
{
	(void)sig, (void)first;
}

int
main(int argc, char **argv)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
	struct top o = { 0 };
	struct opt opt;
	struct err e = { 0 };
	struct endpoint ep;
	enum status st;
	int code;

	if (!opt_start(&program, argc, argv, &o, LOG_WARN, &opt, &e, &code))
		return code;
	caught_open();
	for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
		caught_take(signals[i], top_caught);
	stop_after(o.timeout, false);
	secure_say_clear(o.insecure);
	st = opt_at_most(&opt, 0, &e);
	if (st == ST_OK)
		st = endpoint_choose(&opt, &program, o.dispatcher, o.context, &ep, &e);
	if (st == ST_OK)
		st = top_run(&o, &ep, &e);
	opt_clear(&program, &o, &opt);
	if (st == ST_OK && caught_first() == SIGALRM)
		quit_signal(SIGALRM);
	return st == ST_OK ? 0 : report(program.name, &e);
}
