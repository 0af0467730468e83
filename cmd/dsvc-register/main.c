/* SPDX-License-Identifier: MIT */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "cli/endpoint.h"
#include "cli/opt.h"
#include "cli/program.h"
#include "cli/quit.h"
#include "cli/report.h"
#include "host/link.h"
#include "host/tool.h"
#include "lang/spec.h"

struct reg {
	char *dispatcher, *expression, *file, *id;
	struct words set, include;
	bool check, explain, quiet;
	int64_t verbose;
};

static const struct param rows[] = {
	OPT_DISPATCHER(struct reg),
	{ .name = "expression", .letter = 'e', .arg = "SPEC", .kind = PARAM_WORD,
	  .offset = offsetof(struct reg, expression), .flags = PARAM_OPTIONAL,
	  .help = "the pipeline" },
	{ .name = "file", .letter = 'f', .arg = "FILE", .kind = PARAM_WORD,
	  .offset = offsetof(struct reg, file), .flags = PARAM_OPTIONAL, .complete = "file",
	  .help = "read the pipeline from FILE, `-`: standard input" },
	{ .name = "set", .letter = 's', .arg = "NAME=VALUE", .kind = PARAM_WORDS,
	  .offset = offsetof(struct reg, set), .flags = PARAM_REPEAT,
	  .help = "set a parameter of the pipeline" },
	{ .name = "include-dir", .letter = 'I', .arg = "DIR", .kind = PARAM_WORDS,
	  .offset = offsetof(struct reg, include), .flags = PARAM_REPEAT, .complete = "dir",
	  .help = "look here for included files" },
	{ .name = "id", .arg = "NAME", .kind = PARAM_WORD, .offset = offsetof(struct reg, id),
	  .flags = PARAM_OPTIONAL, .help = "register under this id; default: a hash of the pipeline" },
	{ .name = "check", .kind = PARAM_BOOL, .offset = offsetof(struct reg, check),
	  .help = "only check the pipeline; needs no service" },
	{ .name = "explain", .kind = PARAM_BOOL, .offset = offsetof(struct reg, explain),
	  .help = "print the checked plan instead of registering; needs no service" },
	OPT_QUIET(struct reg),
	OPT_VERBOSE(struct reg),
	{ 0 }
};

static const struct program program = {
	.name = "dsvc-register",
	.brief = "check a pipeline, register it as a dataset and print its id",
	.synopsis = PROGRAM_TEXTS("[OPTION]... SPEC", "[OPTION]... -f FILE",
				  "[OPTION]... WORD... [then WORD...]..."),
	.doc = PROGRAM_TEXTS(
		"The same pipeline always has the same id, however it is laid out; registering it "
		"again prints that id again. File names are made absolute."),
	.rows = rows,
	.examples = (const struct program_example[]){
		{ "id=$(dsvc-register 'range 10 | map x*x')", "register, keep the id" },
		{ "dsvc-register --check -f web.dsvc", "look for mistakes only" },
		{ 0 } },
	.exits = (const struct program_exit[]){
		{ 65, "the pipeline is wrong, or the id belongs to another one" },
		{ 66, "a file of the pipeline does not exist" },
		{ 69, NULL }, { 75, NULL }, { 76, NULL }, { -1, NULL } },
	.versions = link_versions,
	.flags = PROGRAM_STOP_AT_OPERAND,
};

static enum status
reg_source(const struct reg *o, const struct opt *opt, struct spec_src *src, struct err *e)
{
	*src = (struct spec_src){ .sets = &o->set, .dirs = &o->include, .flags = SPEC_SHARDED };
	if ((o->expression != NULL) + (o->file != NULL) + (opt->n > 0) != 1) {
		err_set(e, ST_USAGE, "one pipeline is needed: as words, with -e or with -f");
		err_help(e, "dsvc-register 'range 10 | map x*x'");
		return ST_USAGE;
	}
	if (o->file)
		src->file = o->file;
	else if (opt->n > 1)
		src->argv = opt->operand, src->argc = opt->n;
	else
		src->text = o->expression ? o->expression : opt->operand[0];
	if (src->text)
		src->len = strlen(src->text);
	return ST_OK;
}

static enum status
reg_send(const struct reg *o, const struct endpoint *ep, const struct plan *p, struct buf *out,
	 struct err *e)
{
	struct buf spec = { 0 }, type = { 0 };
	struct tool *t;
	struct msg reply;
	plan_canonical(p, CANON_ABSOLUTE, &spec);
	type_print(p->type, &type);
	struct msg ask = { .type = MSG_REGISTER, .reg = { .id = o->id,
		.spec = (char *)spec.data, .type = (char *)type.data } };
	enum status st = tool_open(ep->address, ep->from, &t, e);
	if (st == ST_OK) {
		st = tool_ask(t, &ask, &reply, e);
		tool_close(&t);
	}
	if (st == ST_OK) {
		buf_printf(out, "%s\n", reply.type == MSG_DATASET ? reply.dataset.id : "");
		if (o->verbose && reply.type == MSG_DATASET && reply.dataset.known)
			log_say(LOG_INFO, "it was registered before");
		msg_clear(&reply);
	}
	buf_clear(&spec);
	buf_clear(&type);
	return st;
}

static enum status
reg_refuse(const struct plan *p, struct err *e)
{
	if (p->local) {
		err_set(e, ST_DATA, "the pipeline reads standard input, which workers do not have");
		err_help(e, "run it with dsvc-run, or read a file");
	} else if (p->remote) {
		err_set(e, ST_DATA, "`dataset` and `distribute` stand in what readers run, not in a dataset");
		err_help(e, "register what stands before `distribute`");
	} else {
		return ST_OK;
	}
	return ST_DATA;
}

int
main(int argc, char **argv)
{
	struct reg o = { 0 };
	struct opt opt;
	struct err e = { 0 };
	enum status st = opt_parse(&program, argc, argv, &o, &opt, &e);
	if (st == ST_END)
		return 0;
	if (st != ST_OK)
		return report(program.name, &e);
	log_init(program.name, o.quiet ? LOG_ERROR : o.verbose > 1 ? LOG_DEBUG : o.verbose ? LOG_INFO : LOG_WARN);

	struct spec_src src;
	struct plan *p = NULL;
	struct endpoint ep;
	struct buf out = { 0 };
	st = reg_source(&o, &opt, &src, &e);
	if (st == ST_OK)
		st = plan_make(&src, &p, &e);
	if (st == ST_OK)
		st = reg_refuse(p, &e);
	if (st == ST_OK && o.explain) {
		plan_print(p, &out);
	} else if (st == ST_OK && !o.check) {
		st = endpoint_find(o.dispatcher, opt_from(&opt, &program, "dispatcher"), &ep, &e);
		if (st == ST_OK)
			st = reg_send(&o, &ep, p, &out, &e);
	}
	plan_free(&p);
	if (st == ST_OK)
		st = quit_write(&out, &e);
	if (st == ST_OK)
		st = quit_flush(&e);
	buf_clear(&out);
	opt_clear(&program, &o, &opt);
	return st == ST_OK ? 0 : report(program.name, &e);
}
