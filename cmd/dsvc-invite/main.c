/* SPDX-License-Identifier: MIT */
#include <stddef.h>
#include <string.h>

#include "base/log.h"
#include "cli/endpoint.h"
#include "cli/opt.h"
#include "cli/program.h"
#include "cli/quit.h"
#include "cli/report.h"
#include "cli/stop.h"
#include "host/link.h"
#include "host/tool.h"
#include "trust/allowed.h"
#include "trust/trust_file.h"

struct invite {
	char *dispatcher, *name, *from, *address;
	int64_t connect_timeout, lasts, uses, verbose, timeout;
	bool quiet;
};

static const struct param rows[] = {
	OPT_DISPATCHER(struct invite),
	OPT_CONNECT(struct invite),
	{ .name = "for", .arg = "DURATION", .kind = PARAM_DURATION, .offset = offsetof(struct invite, lasts),
	  .def = "15m", .min = 1000000000, .max = 31536000ll * 1000000000ll,
	  .help = "time for which the invitation can be used" },
	{ .name = "uses", .arg = "N", .kind = PARAM_INT, .offset = offsetof(struct invite, uses), .def = "1", .min = 1,
	  .max = 1000, .help = "how many keys can join with it" },
	{ .name = "name", .arg = "NAME", .kind = PARAM_WORD, .offset = offsetof(struct invite, name),
	  .flags = PARAM_OPTIONAL | PARAM_ONE_WORD, .help = "name of the key that joins; default: its own" },
	{ .name = "from", .arg = "ADDRESS[/BITS]", .kind = PARAM_WORD, .offset = offsetof(struct invite, from),
	  .flags = PARAM_OPTIONAL, .help = "addresses from which it can be used" },
	{ .name = "address", .letter = 'a', .arg = "ENDPOINT", .kind = PARAM_WORD,
	  .offset = offsetof(struct invite, address), .flags = PARAM_OPTIONAL,
	  .help = "where the other end finds the dispatcher, if not where that listens" },
	OPT_TIMEOUT(struct invite),
	OPT_QUIET(struct invite),
	OPT_VERBOSE(struct invite),
	{ 0 }
};

static const struct program program = {
	.name = "dsvc-invite",
	.brief = "let somebody use a service from another machine",
	.synopsis = PROGRAM_TEXTS("[OPTION]... ROLES"),
	.doc = PROGRAM_TEXTS(
		"Prints an invitation, a line for dsvc-join or --join. It proves both sides to each other: "
		"whoever has it may add a key to the service, once and for a quarter of an hour unless "
		"told otherwise, and knows the service's key. Send it by a way that you trust.",
		"ROLES are read (read datasets that are registered), register (read any pipeline), work, "
		"admin, or user for read,register; with commas between. A key with the word exec besides may also "
		"have workers run programs, as far as they allow it; admins may anyway.",
		"It asks the dispatcher of this user on this machine, which must listen at a TCP address, "
		"or the one of -d, with a key that has the role admin."),
	.rows = rows,
	.examples = (const struct program_example[]){
		{ "dsvc-invite work | ssh b dsvc-work --join -", "a worker on the machine b" },
		{ "dsvc-invite user --name ada >ada.txt", "an invitation for a colleague" },
		{ 0 } },
	.exits = (const struct program_exit[]){
		{ 69, "there is no dispatcher, or it uses no keys" }, { 74, NULL }, { 75, NULL }, { 76, NULL },
		{ 77, "this key may not invite" }, { 78, "others can read the keys" }, { 124, NULL }, { -1, NULL } },
	.versions = link_versions,
};

static enum status
invite_check(struct invite *o, const struct opt *opt, struct err *e)
{
	unsigned may;

	if (opt->n != 1 || !roles_parse(opt->operand[0], strlen(opt->operand[0]), &may)) {
		err_set(e, ST_USAGE, opt->n == 1 ? "`%s` is not a role" : "no role given", opt->n ? opt->operand[0] : "");
		err_help(e, "roles are " ROLES_HELP ", with commas between");
		return ST_USAGE;
	}
	enum status st = trust_name_check(o->name, e);
	if (st != ST_OK)
		return st;
	if (o->from && !allowed_from_ok(o->from)) {
		err_set(e, ST_USAGE, "`%s` is not the address of a machine or a network", o->from);
		err_help(e, "for example --from 10.0.0.0/8");
		return ST_USAGE;
	}
	if (!o->address)
		return ST_OK;
	st = endpoint_bind(&o->address, "--address", e);
	return st == ST_OK && strncmp(o->address, "tcp://", 6) != 0 ?
		err_set(e, ST_USAGE, "--address must be a TCP address") : st;
}

static enum status
invite_ask(const struct invite *o, const char *roles, const struct endpoint *ep, struct err *e)
{
	struct msg reply, ask = { .type = MSG_INVITE, .invite = { .roles = (char *)(uintptr_t)roles,
		.lasts_s = (uint32_t)(o->lasts / 1000000000), .uses = (uint32_t)o->uses, .name = o->name,
		.from = o->from, .address = o->address } };
	struct buf out = { 0 };
	enum status st = tool_once(ep->address, ep->from, &ask, MSG_INVITED, &reply, e);

	if (st != ST_OK)
		return st;
	if (reply.invited.line)
		buf_printf(&out, "%s\n", reply.invited.line);
	else
		st = err_set(e, ST_PROTO, "the dispatcher answered with nothing");
	msg_clear(&reply);
	if (st == ST_OK)
		st = quit_say(&out, e);
	buf_clear(&out);
	return st;
}

int
main(int argc, char **argv)
{
	struct invite o = { 0 };
	struct opt opt;
	struct err e = { 0 };
	struct endpoint ep;
	enum status st;
	int code;

	if (!opt_start(&program, argc, argv, &o, LOG_WARN, &opt, &e, &code))
		return code;
	stop_after(o.timeout, true);
	st = invite_check(&o, &opt, &e);
	if (st == ST_OK)
		st = o.dispatcher ? endpoint_find(o.dispatcher, opt_from(&opt, &program, "dispatcher"), &ep, &e) :
			endpoint_private(&ep, &e);
	if (st == ST_OK)
		st = invite_ask(&o, opt.operand[0], &ep, &e);
	opt_clear(&program, &o, &opt);
	return st == ST_OK ? 0 : report(program.name, &e);
}
