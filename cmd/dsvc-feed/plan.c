/* SPDX-License-Identifier: MIT */
#include "cli/endpoint.h"
#include "plan.h"

#include <string.h>

#include "base/log.h"
#include "base/machine.h"
#include "base/pool.h"
#include "base/rng.h"
#include "base/str.h"
#include "cli/stop.h"
#include "cli/wait_workers.h"
#include "hosts.h"
#include "host/work/split_threads.h"
#include "op/facts.h"
#include "wire/msg.h"

static enum status
plan_not_one(size_t given, struct err *e)
{
	err_set(e, ST_USAGE, "%s dataset or pipeline given", given ? "more than one" : "no");
	err_help(e, "dsvc-feed ID -- CMD, or dsvc-feed -e 'range 10' -- CMD");
	return ST_USAGE;
}

/* The pipeline that is meant; a registered dataset leaves src->text and src->file NULL. */
static enum status
plan_source(struct feed_opts *o, const struct opt *opt, struct spec_src *src, const char **id, struct err *e)
{
	size_t given = (o->expression != NULL) + (o->file != NULL) + (o->file ? 0 : opt->n);

	if (given != 1)
		return plan_not_one(given, e);
	if (o->file) {
		src->file = o->file;
		src->values = opt->operand;
		src->n_values = opt->n;
		return ST_OK;
	}
	src->text = o->expression ? o->expression : opt->operand[0];
	if (!o->expression && !strcmp(src->text, "-")) {
		src->text = "msgpack -";
		o->local = true;
	} else if (!o->expression && !spec_is_whole(src->text)) {
		*id = src->text;
		src->text = NULL;
		if (strlen(*id) > PARAM_NAME_MAX)
			return err_set(e, ST_USAGE, "'%.20s...': a name has at most %d bytes", *id, PARAM_NAME_MAX);
		if (o->local) {
			err_set(e, ST_USAGE, "--local: the service has the pipeline of `%s`", *id);
			err_help(e, "give the pipeline itself, with -e");
			return ST_USAGE;
		}
	}
	src->len = src->text ? strlen(src->text) : 0;
	return ST_OK;
}

static void
plan_note(void *arg, const struct op_node *n, const struct err *e)
{
	(void)arg;
	log_say(LOG_WARN, "operator %u: %s", n->place, e->text);
	if (e->help[0])
		log_say(LOG_WARN, "  help: %s", e->help);
}

/* Fields and sizes that the plan leaves open are checked at the first element. */
static enum status
plan_expect(struct feed_plan *p, const char *text, struct err *e)
{
	p->types = types_new();
	if (!text)
		return ST_OK;
	p->expect = type_parse(p->types, text, strlen(text), e);
	if (!p->expect) {
		err_wrap(e, "--expect");
		err_help(e, "types: int, float, bool, text, bytes, any, [int], {id: int, ...}, u8[?,3], int?");
		return e->kind = ST_USAGE;
	}
	if (!p->element || type_fits(p->element, p->expect))
		return ST_OK;
	return type_expect(p->expect, p->element, "--expect ", e);
}

/* A registered dataset's type is asked of the service. */
static enum status
plan_registered(struct feed_plan *p, const char *id, struct err *e)
{
	enum status st = p->service.op.type(p->service.op.arg, id, NULL, &p->type, e);

	if (st == ST_OK && p->type.len)
		p->element = type_parse(p->types, (const char *)p->type.data, p->type.len, NULL);
	buf_reset(&p->type);
	return st;
}

static enum status
plan_here(struct feed_plan *p, const struct feed_opts *o, struct feed_host_conf *c)
{
	int64_t jobs = o->jobs ? o->jobs : p->plan->options.threads;

	pool_set_size(jobs == PARAM_AUTO || (!o->jobs && jobs == 1) ? 0 : (uint32_t)jobs);
	if (jobs == PARAM_AUTO)
		jobs = machine_cpus();
	p->threads = o->local ? split_threads_join(p->plan, jobs) : NULL;
	c->source.plan = p->plan;
	c->source.service = &p->service.op;
	c->source.note = plan_note;
	c->what.local = true;
	p->resumable = !p->plan->local && !p->plan->n_service && o->job.order != ORDER_ANY;
	return ST_OK;
}

enum status
feed_plan_make(struct feed_plan *p, struct feed_opts *o, const struct opt *opt, const struct endpoint *ep,
	       struct feed_host_conf *c, struct err *e)
{
	struct spec_src src = { .sets = &o->set, .dirs = &o->include, .service = &p->service.op };
	const char *id = NULL;
	enum status st = wait_workers(o->wait_workers, &o->job, e);

	service_init(&p->service, ep->address, ep->from);
	if (st == ST_OK)
		st = plan_source(o, opt, &src, &id, e);
	if (st != ST_OK)
		return st;
	if (o->local && (o->rounds || o->job.name))
		return err_set(e, ST_USAGE, "standard input does not go with --%s %s: others have none of it",
			       o->rounds ? "host" : "job", o->rounds ? o->host_text : o->job.name);
	if (!o->local)
		src.flags = SPEC_IF_WHOLE | SPEC_ON_WORKERS | (o->job.order == ORDER_SOURCE && o->job.shards != 1 ? SPEC_ORDERED : 0);
	if (!id) {
		st = plan_make(&src, &p->plan, e);
		if (st != ST_OK)
			return st;
		p->element = p->plan->type;
		plan_canonical(p->plan, CANON_ABSOLUTE, &p->spec);
		dataset_id((char *)p->spec.data, p->spec.len, p->dataset);
		c->what.dataset = p->dataset;
		type_print(p->plan->type, &p->type);
	}
	st = plan_expect(p, o->expect, e);
	if (st == ST_OK && id)
		st = plan_registered(p, id, e);
	if (st != ST_OK)
		return st;
	/* One seed for all passes, so that a position needs to name no other. */
	int64_t own = p->plan ? p->plan->options.seed : PARAM_AUTO;
	c->what.seed = o->job.seeded ? o->job.seed : own != PARAM_AUTO ? (uint64_t)own : rng_seed_fresh();
	c->what.order = (uint32_t)o->job.order;
	c->source.reader = (struct reader_host_conf){ .dispatcher = ep->address, .from = ep->from,
		.give_up_ns = o->give_up, .in_rounds = o->rounds, .stops = o->rounds && o->hosts > 1,
		.lag = hosts_lag(o), .job = o->job, .dataset = id,
		.spec = id ? NULL : (char *)p->spec.data, .type = id ? NULL : (char *)p->type.data };
	/* Readers of a job that others may have begun take its seed, unless they say one. */
	if (!o->job.name || o->job.seeded) {
		c->source.reader.job.seed = c->what.seed;
		c->source.reader.job.seeded = true;
	}
	c->source.stop = stop_flag();
	p->resumable = o->job.order != ORDER_ANY;
	if (p->plan && !o->local && p->plan->local) {
		err_set(e, ST_DATA, "the pipeline reads standard input, which workers do not have");
		err_help(e, "--local runs it here");
		return ST_DATA;
	}
	return p->plan && (o->local || p->plan->n_service) ? plan_here(p, o, c) : ST_OK;
}

/* Whether an operator may leave elements out because they failed. */
static bool
plan_skips(const struct op_node *n)
{
	for (; n; n = n->n_in ? n->in[0] : NULL) {
		if (n->on_error == OP_SKIP)
			return true;
		for (size_t i = 1; i < n->n_in; i++)
			if (plan_skips(n->in[i]))
				return true;
	}
	return false;
}

uint64_t
feed_plan_steps(const struct feed_plan *p, const struct feed_opts *o)
{
	int64_t n = p->plan && !plan_skips(p->plan->top) ? op_elements_of(p->plan->top) : -1;
	int64_t each = o->batched ? o->batch : o->element == 0 ? o->cores * o->hosts : o->element == 1 ? o->hosts : 1;
	bool drops = opts_tail(o) == FEED_DROP;

	/* Batches of several streams end with a smaller one each, and a smaller batch may be dropped. */
	if (n < 0 || n == INT64_MAX || o->job.tail_of || (!o->batched && (drops || (o->job.shards && o->job.shards != 1))))
		return UINT64_MAX;
	return (uint64_t)(n / each + (!drops && n % each));
}

void
feed_plan_clear(struct feed_plan *p)
{
	if (p->threads)
		split_threads_leave(&p->threads, p->plan);
	plan_free(&p->plan);
	types_free(&p->types);
	buf_clear(&p->spec);
	buf_clear(&p->type);
}
