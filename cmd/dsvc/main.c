/* SPDX-License-Identifier: MIT */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "cli/opt.h"
#include "cli/program.h"
#include "cli/quit.h"
#include "cli/report.h"
#include "help.h"
#include "verbs.h"

struct door {
	bool list;
};

static const struct param rows[] = {
	{ .name = "list", .kind = PARAM_BOOL, .offset = offsetof(struct door, list), .flags = PARAM_BY_HAND,
	  .help = "print the verbs there are, one a line" },
	{ 0 }
};

static const struct program program = {
	.name = "dsvc",
	.brief = "run the programs of dsvc as verbs",
	.synopsis = PROGRAM_TEXTS("VERB [ARG]...", "help [VERB | OPERATOR | FUNCTION]", "help -k WORD", "[OPTION]..."),
	.doc = PROGRAM_TEXTS(
		"`dsvc VERB` runs dsvc-VERB, from the folder of dsvc itself or from PATH; any program of "
		"that name is a verb. Without a verb it shows those there are.",
		"`dsvc help` shows the manual of a verb, or what an operator or a function does; with -k, "
		"all that has to do with a word."),
	.rows = rows,
	.examples = (const struct program_example[]){
		{ "dsvc up", "start a dispatcher and a worker in the background" },
		{ "dsvc run 'range 5 | map x*x'", "the same as dsvc-run" },
		{ "dsvc help -k window", "verbs, operators and functions that have to do with windows" },
		{ 0 } },
	.exits = (const struct program_exit[]){ { 1, "`help -k` found nothing" }, { -1, NULL } },
	.flags = PROGRAM_STOP_AT_OPERAND,
};

/* Runs dsvc-VERB, whose argv is ours from the verb on. */
static enum status
main_verb(char **argv, struct err *e)
{
	struct buf file = { 0 };
	char near[128];

	if (!verb_find(argv[0], &file)) {
		err_set(e, ST_USAGE, "there is no verb `%.60s`", argv[0]);
		if (verb_suggest(argv[0], near, sizeof near))
			err_help(e, "did you mean %s? `dsvc --list` shows all", near);
		else
			err_help(e, "`dsvc --list` shows all; a program dsvc-%.60s on PATH would be one", argv[0]);
		buf_clear(&file);
		return ST_USAGE;
	}
	argv[0] = (char *)file.data;
	enum status st = verb_exec(argv[0], (const char *const *)argv, e);
	buf_clear(&file);
	return st;
}

int
main(int argc, char **argv)
{
	struct door o = { 0 };
	struct opt opt;
	struct err e = { 0 };
	struct buf out = { 0 };
	enum status st;
	int code;

	if (!opt_start(&program, argc, argv, &o, LOG_WARN, &opt, &e, &code))
		return code;
	if (o.list) {
		verb_list(VERB_NAMES, &out);
		st = quit_say(&out, &e);
	} else if (opt.n == 0) {
		help_overview(&out);
		st = quit_say(&out, &e);
	} else if (!strcmp(opt.operand[0], "help")) {
		st = help_verb(opt.operand + 1, opt.n - 1, &e);
	} else {
		st = main_verb(opt.operand, &e);
	}
	buf_clear(&out);
	opt_clear(&program, &o, &opt);
	return st == ST_OK ? 0 : st == ST_NO ? 1 : report(program.name, &e);
}
