/* SPDX-License-Identifier: MIT */
#include <stddef.h>
#include <string.h>

#include "base/log.h"
#include "cli/opt.h"
#include "cli/program.h"
#include "cli/quit.h"
#include "cli/report.h"
#include "host/link.h"
#include "net/key.h"
#include "trust/key_file.h"
#include "trust/trust_file.h"

struct keygen {
	char *output, *name;
	bool show, quiet;
	int64_t verbose;
};

static const struct param rows[] = {
	{ .name = "output", .letter = 'o', .arg = "FILE", .kind = PARAM_WORD, .offset = offsetof(struct keygen, output),
	  .flags = PARAM_OPTIONAL, .complete = "file", .help = "the file of the key; default: ~/.config/dsvc/key" },
	{ .name = "name", .arg = "NAME", .kind = PARAM_WORD, .offset = offsetof(struct keygen, name),
	  .flags = PARAM_OPTIONAL | PARAM_ONE_WORD, .help = "name of the key; default: that of the machine" },
	{ .name = "show", .kind = PARAM_BOOL, .offset = offsetof(struct keygen, show),
	  .help = "make nothing, print the public key that is there" },
	OPT_QUIET(struct keygen),
	OPT_VERBOSE(struct keygen),
	{ 0 }
};

static const struct program program = {
	.name = "dsvc-keygen",
	.brief = "make a key pair for services on other machines",
	.synopsis = PROGRAM_TEXTS("[OPTION]..."),
	.doc = PROGRAM_TEXTS(
		"Makes a pair of keys, and prints the public one. The file is a certificate of czmq; only "
		"its user can read it, and a key that is there already stays.",
		"Other programs make the key by themselves when they need one."),
	.rows = rows,
	.examples = (const struct program_example[]){
		{ "dsvc-keygen --show", "print this user's public key" },
		{ "dsvc-keygen -o robot.key --name robot", "make a key for a program that runs elsewhere" },
		{ 0 } },
	.exits = (const struct program_exit[]){
		{ 66, "there is no key (--show)" }, { 74, NULL }, { 77, "the folder is not writable" },
		{ 78, "there is a key already, or others can read it" }, { -1, NULL } },
	.versions = link_versions,
};

int
main(int argc, char **argv)
{
	struct keygen o = { 0 };
	struct opt opt;
	struct err e = { 0 };
	struct key_pair pair = { 0 };
	char text[KEY_TEXT + 1];
	enum status st = ST_OK;
	int code;

	if (!opt_start(&program, argc, argv, &o, LOG_WARN, &opt, &e, &code))
		return code;
	st = opt_at_most(&opt, 0, &e);
	if (st == ST_OK)
		st = trust_name_check(o.name, &e);
	if (st == ST_OK && o.show)
		st = key_file_read(o.output, false, &pair, NULL, &e);
	else if (st == ST_OK)
		st = key_file_make(o.output, o.name, &pair, &e);
	if (st == ST_OK) {
		struct buf out = { 0 };
		key_print(&pair.public, text);
		buf_printf(&out, "%s\n", text);
		st = quit_say(&out, &e);
		buf_clear(&out);
	}
	key_pair_wipe(&pair);
	opt_clear(&program, &o, &opt);
	return st == ST_OK ? 0 : report(program.name, &e);
}
