/* SPDX-License-Identifier: MIT */
#include <signal.h>
#include <stddef.h>
#include <string.h>

#include "base/log.h"
#include "cli/opt.h"
#include "cli/program.h"
#include "cli/quit.h"
#include "cli/report.h"
#include "cli/stop.h"
#include "host/link.h"
#include "host/service.h"
#include "finish.h"
#include "read.h"
#include "what.h"

/* Options that were given are stronger than what the pipeline says. */
static void
read_conf(const struct read_options *o, const struct opt *opt, struct client_conf *c)
{
	bool plan = c->job || c->epoch;
	if (!plan || opt_from(opt, &read_program, "job"))
		c->job = o->job;
	if (!plan || opt_from(opt, &read_program, "sharding"))
		c->sharding = o->sharding & 1 ? SHARD_DYNAMIC : SHARD_OFF;
	if (!plan || opt_from(opt, &read_program, "order"))
		c->order = (uint32_t)o->order;
	if (!plan || opt_from(opt, &read_program, "shards"))
		c->shards = o->shards == PARAM_AUTO ? 0 : (uint32_t)o->shards;
	if (!plan || opt_from(opt, &read_program, "window"))
		c->window = o->window == PARAM_AUTO ? 0 : (uint32_t)o->window;
	if (!plan || opt_from(opt, &read_program, "epoch"))
		c->epoch = (uint32_t)o->epoch;
	if (!plan || opt_from(opt, &read_program, "seed")) {
		c->seeded = o->seed != PARAM_AUTO;
		c->seed = c->seeded ? (uint64_t)o->seed : 0;
	}
}

static enum status
read_service(struct pour *p, const struct what *w, const struct opt *opt,
	     struct client_conf *c, struct err *e)
{
	enum status st = ST_OK;
	c->dataset = w->dataset;
	c->spec = (char *)w->spec.data;
	c->type = (char *)w->type.data;
	c->min_workers = w->min_workers;
	c->wait_ns = w->wait_ns;
	c->checkpoint = p->o->checkpoint != NULL;
	c->give_up_ns = p->o->give_up;
	c->limited = p->o->max_errors != INT64_MAX;
	c->max_errors = c->limited ? (uint64_t)p->o->max_errors : 0;
	c->position = p->saved.there ? &p->saved.position : NULL;
	read_conf(p->o, opt, c);
	for (int64_t i = 0; i < p->o->epochs && st == ST_OK && p->left; i++) {
		struct client *client;
		st = client_open(c, &client, e);
		if (st != ST_OK)
			break;
		st = pour_client(p, client, e);
		finish_pass(p, client_result(client));
		client_free(&client);
		c->epoch++;
	}
	return st;
}

/* Where the elements come from: straight from the workers, or out of a chain
 * that goes on here. */
static enum status
read_run(struct pour *p, struct what *w, const struct opt *opt, const struct endpoint *ep,
	 struct err *e)
{
	struct client_conf c = { .dispatcher = ep->address, .from = ep->from };
	const struct plan *plan = w->plan;
	if (!plan)
		return read_service(p, w, opt, &c, e);
	if (plan->local) {
		err_set(e, ST_DATA, "the pipeline reads standard input, which workers do not have");
		err_help(e, "run it with dsvc-run");
		return ST_DATA;
	}
	if (plan->remote && plan->border != plan->top) {
		if (p->o->errors || p->o->max_errors != INT64_MAX)
			return err_set(e, ST_USAGE, "--errors and --max-errors need a pipeline that runs on workers as a whole");
		if (p->o->checkpoint || p->o->ack_fd >= 0)
			return err_set(e, ST_USAGE, "--checkpoint and --ack-fd need a pipeline that runs on workers as a whole");
		return pour_plan(p, plan, ep, w->min_workers, w->wait_ns, e);
	}
	if (plan->border) {
		service_conf(plan->border, &c);
		buf_str(&w->spec, plan->border->remote_spec);
		type_print(plan->border->in[0]->type, &w->type);
	} else {
		plan_canonical(plan, CANON_ABSOLUTE, &w->spec);
		type_print(plan->type, &w->type);
	}
	return read_service(p, w, opt, &c, e);
}

int
main(int argc, char **argv)
{
	struct read_options o = { 0 };
	struct opt opt;
	struct err e = { 0 };
	struct what w = { 0 };
	struct endpoint ep;
	struct pour p = { 0 };
	enum status st = opt_parse(&read_program, argc, argv, &o, &opt, &e);
	if (st == ST_END)
		return 0;
	if (st != ST_OK)
		return report(read_program.name, &e);
	log_init(read_program.name, o.quiet ? LOG_ERROR : o.verbose > 1 ? LOG_DEBUG : o.verbose ? LOG_INFO : LOG_WARN);
	stop_install();
	stop_after(o.timeout, false);
	st = pour_init(&p, &o, &e);
	if (st == ST_OK)
		st = faults_open(o.errors, &p.faults, &e);
	if (st == ST_OK)
		st = endpoint_find(o.dispatcher, opt_from(&opt, &read_program, "dispatcher"), &ep, &e);
	if (st == ST_OK)
		st = what_wait(&w, o.wait_workers, &e);
	if (st == ST_OK)
		st = what_plan(&w, &o, &opt, &ep, &e);
	if (st == ST_OK)
		st = read_run(&p, &w, &opt, &ep, &e);
	st = finish_close(&p, st, &e);
	what_clear(&w);
	opt_clear(&read_program, &o, &opt);
	if (st == ST_AGAIN)
		quit_signal(stop_signal() ? stop_signal() : SIGPIPE);
	return st == ST_OK ? 0 : report(read_program.name, &e);
}
