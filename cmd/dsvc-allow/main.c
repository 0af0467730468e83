/* SPDX-License-Identifier: MIT */
#include <stddef.h>
#include <string.h>
#include <time.h>

#include "base/log.h"
#include "cli/opt.h"
#include "cli/program.h"
#include "cli/quit.h"
#include "cli/report.h"
#include "host/link.h"
#include "trust/allowed.h"
#include "trust/trust_file.h"

struct allow {
	char *allowed, *state;
	struct words remove;
	bool list, add, quiet;
	int64_t verbose;
};

static const struct param rows[] = {
	{ .name = "list", .kind = PARAM_BOOL, .offset = offsetof(struct allow, list),
	  .help = "print the keys with what they may; this is also done when nothing is asked for" },
	{ .name = "add", .kind = PARAM_BOOL, .offset = offsetof(struct allow, add), .flags = PARAM_BY_HAND,
	  .help = "add KEY with ROLES, or change what it may" },
	{ .name = "remove", .arg = "NAME|KEY", .kind = PARAM_WORDS, .offset = offsetof(struct allow, remove),
	  .flags = PARAM_REPEAT | PARAM_NAME | PARAM_BY_HAND, .help = "strike out this key" },
	{ .name = "state", .arg = "DIR", .kind = PARAM_WORD, .offset = offsetof(struct allow, state),
	  .flags = PARAM_OPTIONAL, .complete = "dir", .help = "of the dispatcher with this state" },
	{ .name = "allowed", .arg = "FILE", .kind = PARAM_WORD, .offset = offsetof(struct allow, allowed),
	  .flags = PARAM_OPTIONAL, .complete = "file", .help = "of the dispatcher with this file" },
	OPT_QUIET(struct allow),
	OPT_VERBOSE(struct allow),
	{ 0 }
};

static const struct program program = {
	.name = "dsvc-allow",
	.brief = "show and change which keys may use a service",
	.synopsis = PROGRAM_TEXTS("[OPTION]...", "[OPTION]... --add KEY ROLES[,OPTION...] [NAME]",
		"[OPTION]... --remove NAME|KEY"),
	.doc = PROGRAM_TEXTS(
		"Edits the file of keys that a dispatcher allows: `allowed` in its --state DIR, or in "
		"~/.config/dsvc. A running dispatcher notices within a second. What a key that was struck out "
		"was reading or making then goes to others.",
		"ROLES are as in dsvc-invite, exec included; further options are from=ADDRESS[/BITS], until=DATE and "
		"jobs=GLOB. The file may be edited by hand, too."),
	.rows = rows,
	.examples = (const struct program_example[]){
		{ "dsvc-allow", "list the keys" },
		{ "dsvc-allow --remove ada", "strike out the key of that name" },
		{ 0 } },
	.exits = (const struct program_exit[]){
		{ 66, "there is no such key" }, { 74, NULL }, { 75, "another program is writing the file" },
		{ 77, "the file is not writable" }, { 78, "a line of the file is none, or others can read it" }, { -1, NULL } },
	.versions = link_versions,
};

static enum status
allow_path(const struct allow *o, struct buf *out, struct err *e)
{
	if (o->allowed)
		buf_str(out, o->allowed);
	else if (o->state)
		buf_printf(out, "%s/allowed", o->state);
	else
		return trust_path("allowed", out, e);
	return ST_OK;
}

static enum status
allow_add(const char *path, const struct opt *opt, struct err *e)
{
	struct allowed_entry add;
	struct buf line = { 0 };
	const char *why = "KEY and ROLES are missing";

	if (opt->n == 2 || opt->n == 3)
		buf_printf(&line, "%s %s %s", opt->operand[1], opt->operand[0], opt->n == 3 ? opt->operand[2] : "");
	int is = line.len ? allowed_line((char *)line.data, line.len, &add, &why) : -1;
	buf_clear(&line);
	if (is == 1 && (opt->n == 2 || trust_name_ok(opt->operand[2], strlen(opt->operand[2]))))
		return allowed_add(path, &add, e);
	err_set(e, ST_USAGE, "cannot add this: %s", is == 1 ? "the name has characters that names may not have" : why);
	err_help(e, "--add KEY ROLES [NAME]; dsvc-keygen --show prints a key, roles are " ROLES_HELP);
	return ST_USAGE;
}

static enum status
allow_remove(const char *path, const struct words *names, struct err *e)
{
	enum status st = ST_OK;
	size_t n;

	for (size_t i = 0; i < names->n && st == ST_OK; i++) {
		st = allowed_strike(path, names->v[i], &n, e);
		if (st == ST_OK && !n) {
			st = err_set(e, ST_NOINPUT, "no key is called `%s` in %s", names->v[i], path);
			err_help(e, "dsvc-allow lists them");
		}
	}
	return st;
}

static enum status
allow_list(const char *path, struct err *e)
{
	struct allowed all;
	struct buf out = { 0 };
	enum status st = allowed_read(path, &all, e);

	if (st != ST_OK)
		return st;
	for (size_t i = 0; i < all.n; i++)
		allowed_print(&all.v[i], &out);
	allowed_clear(&all);
	st = quit_say(&out, e);
	buf_clear(&out);
	return st;
}

int
main(int argc, char **argv)
{
	struct allow o = { 0 };
	struct opt opt;
	struct err e = { 0 };
	struct buf path = { 0 };
	enum status st = ST_OK;
	int code;

	if (!opt_start(&program, argc, argv, &o, LOG_WARN, &opt, &e, &code))
		return code;
	if (!o.add)
		st = opt_at_most(&opt, 0, &e);
	if (st == ST_OK)
		st = allow_path(&o, &path, &e);
	if (st == ST_OK && o.add)
		st = allow_add((char *)path.data, &opt, &e);
	if (st == ST_OK)
		st = allow_remove((char *)path.data, &o.remove, &e);
	if (st == ST_OK && (o.list || (!o.add && !o.remove.n)))
		st = allow_list((char *)path.data, &e);
	buf_clear(&path);
	opt_clear(&program, &o, &opt);
	return st == ST_OK ? 0 : report(program.name, &e);
}
