/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/log.h"
#include "base/str.h"
#include "host/service.h"
#include "host/tool.h"
#include "op/intake.h"
#include "op/program_row.h"
#include "op/remote/remote.h"
#include "pass_on.h"
#include "what.h"

/* Options of the planner mean nothing to a dataset that was planned when it was registered. */
static enum status
what_without_plan(const struct opt *opt, struct err *e)
{
	const char *set = opt_from(opt, &read_program, "set");

	if (!set || *set != '-')
		return ST_OK;
	err_set(e, ST_USAGE, "%s: the parameters of a registered dataset are already set", set);
	err_help(e, "dsvc-register %s NAME=VALUE registers it with another value", set);
	return ST_USAGE;
}

/* The checks that the pipeline needs. */
static unsigned
what_flags(const struct read_options *o)
{
	unsigned flags = SPEC_IF_WHOLE | (job_in_parts(o->job.sharding) ? SPEC_SHARDED : SPEC_ON_WORKERS) |
			 (o->joblog ? SPEC_LOGGED : 0) | (o->halt ? SPEC_HALTED : 0) | (o->tag ? SPEC_TAGGED : 0);

	if (o->job.sharding != SHARD_HINT)
		flags |= SPEC_NO_SHARES;
	if (o->job.order == ORDER_SOURCE && o->job.sharding == SHARD_DYNAMIC && o->job.shards != 1)
		flags |= SPEC_ORDERED | (o->job.seeded ? SPEC_SEEDED : 0);
	return flags;
}

/* The type that the elements of a registered dataset have. */
static enum status
what_type(const struct what *w, const struct service *s, struct types *arena, const struct type **out,
	  struct err *e)
{
	struct buf text = { 0 };
	enum status st = s->op.type(s->op.arg, w->dataset, NULL, &text, e);

	if (st == ST_OK) {
		*out = type_parse(arena, (const char *)text.data, text.len, e);
		st = *out ? ST_OK : ST_PROTO;
	}
	buf_clear(&text);
	return st;
}

/* --type: the type of what is written must be that or narrower. */
static enum status
what_expect(const struct what *w, const char *want, const struct service *s, struct err *e)
{
	struct types *arena = types_new();
	const struct type *type = type_parse(arena, want, strlen(want), e), *has = NULL;
	enum status st = ST_OK;

	if (!type) {
		err_wrap(e, "--type");
		err_help(e, "types: int, float, bool, text, bytes, any, [int], {id: int, ...}, u8[?,3], int?");
		st = e->kind = ST_USAGE;
	} else if (w->plan) {
		has = w->plan->type;
	} else {
		st = what_type(w, s, arena, &has, e);
	}
	if (st == ST_OK)
		st = type_expect(type, has, "--type ", e);
	types_free(&arena);
	return st;
}

/* A registered dataset. Options that have to be put into its pipeline make another dataset of it. */
static enum status
what_registered(struct what *w, const struct read_options *o, const struct opt *opt, struct service *s,
		struct spec_src *src, struct err *e)
{
	const char *dataset = opt->operand[0];

	if (strlen(dataset) > PARAM_NAME_MAX)
		return err_set(e, ST_USAGE, "'%.20s...': a name has at most %d bytes", dataset, PARAM_NAME_MAX);
	enum status st = what_without_plan(opt, e);
	if (st != ST_OK || !(read_records(o) || o->tag)) {
		w->dataset = dataset;
		return st;
	}
	st = tool_dataset(s->dispatcher, s->from, dataset, &w->text, NULL, e);
	if (st != ST_OK)
		return st;
	buf_byte(&w->text, '\0');
	src->text = (const char *)w->text.data;
	src->flags |= SPEC_NO_CHECK; /* its files may be on workers only */
	return ST_OK;
}

static enum status
what_find(struct what *w, const struct read_options *o, const struct opt *opt,
	  struct service *s, struct err *e)
{
	struct spec_src src = { .sets = &o->set, .dirs = &o->include, .json = o->json, .service = &s->op };
	int given = (o->expression != NULL) + (o->file != NULL) + (opt->n > 0 && !o->file);

	if (given != 1) {
		err_set(e, ST_USAGE, "%s dataset or pipeline given", given ? "more than one" : "no");
		err_help(e, "dsvc-read ID, or dsvc-read -e 'range 10 | map x*x'");
		return ST_USAGE;
	}
	src.flags = what_flags(o);
	enum status st = ST_OK;
	if (opt->n == 1 && !o->file && !spec_is_whole(opt->operand[0]))
		st = what_registered(w, o, opt, s, &src, e);
	else if (o->file)
		src.file = o->file, src.values = opt->operand, src.n_values = opt->n;
	else if (opt->n > 1)
		src.argv = opt->operand, src.argc = opt->n;
	else
		src.text = o->expression ? o->expression : opt->operand[0];
	if (st != ST_OK || w->dataset)
		return st;
	if (src.text)
		src.len = strlen(src.text);
	struct words carried = { 0 };
	pass_on_words(&read_program, o, opt, &carried);
	src.carried = &carried;
	st = plan_make(&src, &w->plan, e); /* once: what it is read from may be a pipe */
	words_clear(&carried);
	return st == ST_OK && w->plan->service ? pass_on_check(w->plan, &read_program, o, opt, e) : st;
}

enum status
what_plan(struct what *w, const struct read_options *o, const struct opt *opt,
	  const struct endpoint *ep, struct err *e)
{
	struct service s;

	service_init(&s, ep->address, ep->from);
	enum status st = what_find(w, o, opt, &s, e);
	return st == ST_OK && o->type ? what_expect(w, o->type, &s, e) : st;
}

/* Whether the planner has made workers give records. */
static struct op_logged
what_records(const struct what *w)
{
	const struct op_node *service = w->plan ? w->plan->service : NULL;

	return service ? service->logged : w->plan ? w->plan->logged : (struct op_logged){ 0 };
}

bool
what_is_strict(const struct what *w)
{
	return what_records(w).strict;
}

enum status
what_logged(const struct what *w, const struct read_options *o, const struct job_opts *job, struct err *e)
{
	const struct op_node *service = w->plan->service;

	if (!what_records(w).is && !(service && remote_of(service)->dataset)) {
		err_set(e, ST_USAGE, "%s: no operator gives elements to programs here", read_records(o));
		err_help(e, "it is for exec and sh");
		return ST_USAGE;
	}
	if (job->consumer && *job->consumer) {
		err_set(e, ST_USAGE, "%s is not for a job that is read in rounds: a round has as many elements for each "
			"consumer, and a program may give any number", read_records(o));
		err_help(e, "log=true of exec gives one record for each element, with its answers");
		return ST_USAGE;
	}
	return ST_OK;
}

void
what_spec(struct what *w)
{
	const struct plan *plan = w->plan;
	const struct op_node *service = plan ? plan->service : NULL;

	if (service && service->remote_spec)
		buf_str(&w->spec, service->remote_spec);
	else if (plan && !service)
		plan_canonical(plan, CANON_ABSOLUTE, &w->spec);
	if (!w->spec.len)
		return;
	program_row_print_type(plan->type, what_records(w).is, &w->type);
}

void
what_clear(struct what *w)
{
	plan_free(&w->plan);
	buf_clear(&w->text);
	buf_clear(&w->spec);
	buf_clear(&w->type);
}

uint64_t
what_elements(const struct what *w, const struct read_options *o)
{
	const struct job_opts *job = w->plan && w->plan->service ? &remote_of(w->plan->service)->job : &o->job;
	uint64_t all = w->plan ? intake_elements(w->plan->top) : 0, epochs = (uint64_t)o->epochs;

	if (all > UINT64_MAX / epochs || (job->name && *job->name) || job->sharding == SHARD_OFF ||
	    job->sharding == SHARD_HINT || (job->shard && *job->shard) || (job->consumer && *job->consumer))
		return 0;
	return all * epochs;
}
