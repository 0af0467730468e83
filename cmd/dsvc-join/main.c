/* SPDX-License-Identifier: MIT */
#include <stddef.h>
#include <string.h>

#include "base/log.h"
#include "cli/opt.h"
#include "cli/program.h"
#include "cli/report.h"
#include "host/join.h"
#include "host/link.h"
#include "trust/trust_file.h"

struct join_options {
	char *name;
	bool quiet;
	int64_t connect_timeout, verbose;
};

static const struct param rows[] = {
	{ .name = "name", .arg = "NAME", .kind = PARAM_WORD, .offset = offsetof(struct join_options, name),
	  .flags = PARAM_OPTIONAL | PARAM_ONE_WORD,
	  .help = "name by which the service is to know this key, unless the invitation says one" },
	OPT_CONNECT(struct join_options),
	OPT_QUIET(struct join_options),
	OPT_VERBOSE(struct join_options),
	{ 0 }
};

static const struct program program = {
	.name = "dsvc-join",
	.brief = "use an invitation to a service on another machine",
	.synopsis = PROGRAM_TEXTS("[OPTION]... [FILE]"),
	.doc = PROGRAM_TEXTS(
		"Reads a line that dsvc-invite printed, from FILE or standard input. The service learns this "
		"user's key, which is made if there is none, and the service's key is kept here: from then on "
		"programs speak with that address and key, and with no other, when nothing else is said.",
		"An invitation is a secret as long as it is not used: it cannot be given as an argument, which "
		"others see. If another key was known for the address, it is replaced."),
	.rows = rows,
	.examples = (const struct program_example[]){
		{ "dsvc-join <invitation.txt", "join the service that it names" },
		{ 0 } },
	.exits = (const struct program_exit[]){
		{ 65, "this is not an invitation" }, { 66, "there is no such file" }, { 69, NULL }, { 74, NULL },
		{ 77, "the invitation was used, has ended, or is not for this machine, or the service has another key" },
		{ 78, "others can read the keys" }, { -1, NULL } },
	.versions = link_versions,
};

int
main(int argc, char **argv)
{
	struct join_options o = { 0 };
	struct opt opt;
	struct err e = { 0 };
	struct joined j;
	enum status st = ST_OK;
	int code;

	if (!opt_start(&program, argc, argv, &o, LOG_INFO, &opt, &e, &code))
		return code;
	if (opt.n > 1)
		st = opt_at_most(&opt, 1, &e);
	else if (opt.n && !strncmp(opt.operand[0], "dsvc-invitation", 15)) {
		st = err_set(&e, ST_USAGE, "an invitation is a secret, and others see the arguments of programs");
		err_help(&e, "put it into a file, or give it on standard input; and ask for another one");
	} else {
		st = trust_name_check(o.name, &e);
	}
	if (st == ST_OK)
		st = join_with(opt.n ? opt.operand[0] : "-", o.name, true, &j, &e);
	if (st == ST_OK)
		log_say(LOG_INFO, "joined %s as %s (key %s), may: %s", j.address, j.name[0] ? j.name : "somebody", j.key,
			j.roles);
	opt_clear(&program, &o, &opt);
	return st == ST_OK ? 0 : report(program.name, &e);
}
