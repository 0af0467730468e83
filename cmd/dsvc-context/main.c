/* SPDX-License-Identifier: MIT */
#include <stddef.h>
#include <string.h>

#include "base/log.h"
#include "cli/context.h"
#include "cli/opt.h"
#include "cli/program.h"
#include "cli/quit.h"
#include "cli/report.h"
#include "host/link.h"

struct contexts {
	bool names, quiet;
	int64_t verbose;
};

static const struct param rows[] = {
	{ .name = "names", .kind = PARAM_BOOL, .offset = offsetof(struct contexts, names), .flags = PARAM_BY_HAND,
	  .help = "list the names alone, one a line" },
	OPT_QUIET(struct contexts),
	OPT_VERBOSE(struct contexts),
	{ 0 }
};

static const struct program program = {
	.name = "dsvc-context",
	.brief = "name services, and choose the one that is used",
	.synopsis = PROGRAM_TEXTS("[list]", "set NAME ENDPOINT", "use NAME", "use -", "remove NAME..."),
	.doc = PROGRAM_TEXTS(
		"A context is a name for the address of a dispatcher. The programs take it with -c NAME or "
		"DSVC_CONTEXT; the one that is in use is taken where nothing else is said.",
		"Without arguments it lists the contexts; the one in use has a star."),
	.rows = rows,
	.examples = (const struct program_example[]){
		{ "dsvc-context set lab tcp://lab.example.org:5050", "give the service a name" },
		{ "dsvc-context use lab", "use it from now on" },
		{ "dsvc-context use -", "use none" },
		{ 0 } },
	.exits = (const struct program_exit[]){
		{ 66, "there is no such context" }, { 74, NULL }, { 77, "the files cannot be written" },
		{ 78, "others can write the files" }, { -1, NULL } },
	.operand = "list|set|use|remove",
	.versions = link_versions,
};

struct listing {
	bool names;
	char current[CONTEXT_NAME + 1];
	struct buf out;
};

static void
contexts_row(void *arg, const char *name, const char *address)
{
	struct listing *l = arg;
	if (l->names)
		buf_printf(&l->out, "%s\n", name);
	else
		buf_printf(&l->out, "%s %-16s  %s\n", strcmp(name, l->current) ? " " : "*", name, address);
}

static enum status
contexts_list(bool names, struct err *e)
{
	struct listing l = { .names = names };
	enum status st = context_current(l.current, e);

	if (st == ST_OK)
		st = context_each(contexts_row, &l, e);
	if (st == ST_OK)
		st = quit_say(&l.out, e);
	buf_clear(&l.out);
	return st;
}

static enum status
contexts_do(bool names, char **word, size_t n, struct err *e)
{
	enum status st = ST_OK;

	if (n == 0 || (n == 1 && !strcmp(word[0], "list")))
		return contexts_list(names, e);
	if (n == 3 && !strcmp(word[0], "set"))
		return context_set(word[1], word[2], e);
	if (n == 2 && !strcmp(word[0], "use"))
		return context_use(strcmp(word[1], "-") ? word[1] : "", e);
	if (n < 2 || strcmp(word[0], "remove")) {
		err_set(e, ST_USAGE, "unexpected arguments: %.60s%s", word[0], n > 1 ? " ..." : "");
		err_help(e, "dsvc-context [list], set NAME ENDPOINT, use NAME, use -, remove NAME...");
		return ST_USAGE;
	}
	for (size_t i = 1; st == ST_OK && i < n; i++)
		st = context_remove(word[i], e);
	return st;
}

int
main(int argc, char **argv)
{
	struct contexts o = { 0 };
	struct opt opt;
	struct err e = { 0 };
	enum status st;
	int code;

	if (!opt_start(&program, argc, argv, &o, LOG_WARN, &opt, &e, &code))
		return code;
	st = contexts_do(o.names, opt.operand, opt.n, &e);
	opt_clear(&program, &o, &opt);
	return st == ST_OK ? 0 : report(program.name, &e);
}
