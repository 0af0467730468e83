/* SPDX-License-Identifier: MIT */
#include <stddef.h>

#include "base/log.h"
#include "cli/endpoint.h"
#include "cli/opt.h"
#include "cli/program.h"
#include "cli/quit.h"
#include "cli/report.h"
#include "host/link.h"
#include "settings.h"

static const struct param rows[] = {
	OPT_SERVICE(struct config),
	{ .name = "json", .kind = PARAM_BOOL, .offset = offsetof(struct config, json), .help = "print it as JSON" },
	OPT_QUIET(struct config),
	OPT_VERBOSE(struct config),
	{ 0 }
};

static const struct program program = {
	.name = "dsvc-config",
	.brief = "show the settings, and where they come from",
	.synopsis = PROGRAM_TEXTS("[OPTION]..."),
	.doc = PROGRAM_TEXTS(
		"Prints each setting with its value and its origin: the address of the dispatcher that would "
		"be used, the folders and files, and every variable DSVC_... of the environment with the "
		"verbs that heed it. A variable that no verb heeds is probably misspelt, and is said so."),
	.rows = rows,
	.examples = (const struct program_example[]){
		{ "dsvc-config", "what is set" },
		{ "dsvc-config -c lab", "what would be if this context were used" },
		{ 0 } },
	.exits = (const struct program_exit[]){ { 66, "there is no such context" }, { 77, NULL }, { 78, NULL }, { -1, NULL } },
	.versions = link_versions,
};

int
main(int argc, char **argv)
{
	struct config o = { 0 };
	struct opt opt;
	struct err e = { 0 };
	struct endpoint ep;
	struct buf out = { 0 };
	enum status st;
	int code;

	if (!opt_start(&program, argc, argv, &o, LOG_WARN, &opt, &e, &code))
		return code;
	st = opt_at_most(&opt, 0, &e);
	if (st == ST_OK)
		st = endpoint_choose(&opt, &program, o.dispatcher, o.context, &ep, &e);
	if (st == ST_OK) {
		settings_print(&ep, o.json, &out);
		st = quit_say(&out, &e);
	}
	buf_clear(&out);
	opt_clear(&program, &o, &opt);
	return st == ST_OK ? 0 : report(program.name, &e);
}
