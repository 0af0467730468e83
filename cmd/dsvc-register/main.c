/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "cli/endpoint.h"
#include "cli/opt.h"
#include "cli/program.h"
#include "cli/quit.h"
#include "cli/report.h"
#include "cli/stop.h"
#include "host/join.h"
#include "host/secure.h"
#include "host/tool.h"
#include "lang/spec.h"
#include "opts.h"

static enum status
reg_source(const struct reg_opts *o, const struct opt *opt, struct spec_src *src, struct err *e)
{
	/* With --explain, a pipeline that cannot be shared is explained rather than refused. */
	*src = (struct spec_src){ .sets = &o->set, .dirs = &o->include,
				  .flags = o->explain ? 0 : SPEC_ON_WORKERS };
	int given = (o->expression != NULL) + (o->file != NULL) + (opt->n > 0 && !o->file);

	if (given != 1) {
		err_set(e, ST_USAGE, "%s pipeline given: pass it as an argument, with -e or with -f",
			given ? "more than one" : "no");
		err_help(e, "dsvc-register 'range 10 | map x*x'");
		return ST_USAGE;
	}
	if (o->file)
		src->file = o->file, src->values = opt->operand, src->n_values = opt->n;
	else if (opt->n > 1)
		src->argv = opt->operand, src->argc = opt->n;
	else
		src->text = o->expression ? o->expression : opt->operand[0];
	if (src->text)
		src->len = strlen(src->text);
	return ST_OK;
}

static enum status
reg_send(const struct reg_opts *o, const struct endpoint *ep, const struct plan *p, struct buf *out,
	 struct err *e)
{
	struct buf spec = { 0 }, type = { 0 };
	struct msg reply;
	plan_canonical(p, CANON_ABSOLUTE, &spec);
	type_print(p->type, &type);
	struct msg ask = { .type = MSG_REGISTER, .reg = { .id = o->id,
		.spec = (char *)spec.data, .type = (char *)type.data } };
	enum status st = tool_once(ep->address, ep->from, &ask, MSG_DATASET, &reply, e);
	if (st == ST_OK) {
		buf_printf(out, "%s\n", reply.dataset.id ? reply.dataset.id : "");
		if (o->verbose && reply.dataset.known)
			log_say(LOG_INFO, "it was registered before");
		msg_clear(&reply);
	}
	buf_clear(&spec);
	buf_clear(&type);
	return st;
}

static void
reg_hash(const struct plan *p, struct buf *out)
{
	char hash[DATASET_HASH_LEN + 1];
	struct buf spec = { 0 };

	plan_canonical(p, CANON_ABSOLUTE, &spec);
	dataset_hash((char *)spec.data, spec.len, hash);
	buf_printf(out, "%s\n", hash);
	buf_clear(&spec);
}

static enum status
reg_refuse(const struct plan *p, struct err *e)
{
	if (p->local) {
		err_set(e, ST_DATA, "the pipeline reads standard input, which workers do not have");
		err_help(e, "run it with dsvc-run, or read a file");
	} else if (p->n_own || p->border) {
		err_set(e, ST_DATA, "`dataset` and `distribute` belong in the pipeline of a reader, not in a dataset");
		err_help(e, "register the part before `distribute`");
	} else {
		return ST_OK;
	}
	return ST_DATA;
}

/* It can be read, but not as dsvc-read does of itself. */
static void
reg_warn(const struct plan *p)
{
	if (p->by_share)
		log_say(LOG_WARN, "`%s` takes its share from the job: read it with --sharding hint", op_text(p->by_share));
	else if (p->global)
		log_say(LOG_WARN, "`%s` must see all elements: read it with --sharding off",
			p->global->desc->name);
}

int
main(int argc, char **argv)
{
	struct reg_opts o = { 0 };
	struct opt opt;
	struct err e = { 0 };
	enum status st;
	int code;

	if (!opt_start(&reg_program, argc, argv, &o, LOG_WARN, &opt, &e, &code))
		return code;

	stop_after(o.timeout, true);
	secure_say_clear(o.insecure);
	struct spec_src src;
	struct plan *p = NULL;
	struct endpoint ep;
	struct buf out = { 0 };
	st = reg_source(&o, &opt, &src, &e);
	if (st == ST_OK)
		st = plan_make(&src, &p, &e);
	if (st == ST_OK && !o.explain)
		st = reg_refuse(p, &e);
	if (st == ST_OK && !o.explain)
		reg_warn(p);
	if (st == ST_OK && o.explain) {
		st = plan_explain(p, NULL, &out, &e);
	} else if (st == ST_OK && o.hash) {
		reg_hash(p, &out);
	} else if (st == ST_OK && !o.check) {
		st = join_first(o.join, &o.dispatcher, &e);
		if (st == ST_OK)
			st = endpoint_choose(&opt, &reg_program, o.dispatcher, o.context, &ep, &e);
		if (st == ST_OK)
			st = reg_send(&o, &ep, p, &out, &e);
	}
	plan_free(&p);
	st = st == ST_OK ? quit_say(&out, &e) : st;
	buf_clear(&out);
	opt_clear(&reg_program, &o, &opt);
	return st == ST_OK ? 0 : report(reg_program.name, &e);
}
