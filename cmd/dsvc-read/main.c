/* SPDX-License-Identifier: MIT */
#include <signal.h>
#include <stddef.h>
#include <string.h>

#include "base/log.h"
#include "base/tmp_room.h"
#include "base/trace.h"
#include "cli/opt.h"
#include "cli/program.h"
#include "cli/quit.h"
#include "cli/report.h"
#include "cli/stop.h"
#include "cli/wait_workers.h"
#include "host/link.h"
#include "host/join.h"
#include "host/secure.h"
#include "host/service.h"
#include "op/remote/remote.h"
#include "finish.h"
#include "read.h"
#include "what.h"

static enum status
read_service(struct delivery *p, const struct what *w, struct reader_host_conf *c, struct err *e)
{
	enum status st = ST_OK;
	c->spec = (char *)w->spec.data;
	c->type = (char *)w->type.data;
	c->give_up_ns = p->o->give_up;
	c->in_place = !p->o->nul && !read_records(p->o) && (format_is_blind((enum format_kind)p->o->format) ||
				     format_is_verbatim((enum format_kind)p->o->format));
	c->position = p->saved.there ? &p->saved.position : NULL;
	c->given = p->given.positions;
	c->n_given = p->given.n;
	if (c->job.checkpoint_rounds)
		job_opts_seed_by_name(&c->job);
	for (int64_t i = 0; i < p->o->epochs && st == ST_OK && p->left; i++) {
		struct reader_host *reader;
		st = reader_host_open(c, &reader, e);
		if (st != ST_OK)
			break;
		st = delivery_take_all(p, reader, e);
		if (st == ST_OK && p->left)
			finish_empty(p, reader, c, i + 1 == p->o->epochs);
		finish_pass(p, reader);
		reader_host_free(&reader);
		c->job.epoch++;
	}
	return st;
}

/* Where the elements come from: straight from the workers, or out of a chain
 * that goes on here. */
static enum status
read_run(struct delivery *p, struct what *w, const struct endpoint *ep, struct err *e)
{
	struct reader_host_conf c = { .dispatcher = ep->address, .from = ep->from, .dataset = w->dataset,
		.job = p->o->job, .blocked = &p->blocked };
	const struct plan *plan = w->plan;
	const struct op_node *service = plan ? plan->service : NULL;
	if (plan && plan->local) {
		err_set(e, ST_DATA, "the pipeline reads standard input, which workers do not have");
		err_help(e, "run it with dsvc-run");
		return ST_DATA;
	}
	p->job = service ? remote_of(service)->job.name : p->o->job.name;
	p->what = w;
	if (service && service != plan->top) {
		if (p->o->on_missed)
			return err_set(e, ST_USAGE, "--on-missed needs a pipeline that runs on workers as a whole");
		if (p->o->errors || p->o->job.limited)
			return err_set(e, ST_USAGE, "--errors and --max-errors need a pipeline that runs on workers as a whole");
		if (p->o->checkpoint || p->o->ack_fd >= 0)
			return err_set(e, ST_USAGE, "--checkpoint and --ack-fd need a pipeline that runs on workers as a whole");
		if (read_records(p->o)) {
			err_set(e, ST_USAGE, "--joblog and --halt need a pipeline that runs on workers as a whole");
			err_help(e, "dsvc-run has them, too, and takes this one");
			return ST_USAGE;
		}
		return delivery_plan(p, plan, ep, e);
	}
	if (service) {
		service_conf(service, 0, &c);
		c.dataset = remote_of(service)->dataset;
	}
	if (p->o->on_missed && !c.job.share) {
		err_set(e, ST_USAGE, "--on-missed is for a job that is shared, where a group may miss something");
		err_help(e, "--share lossless shares the job with other groups");
		return ST_USAGE;
	}
	enum status st = read_records(p->o) ? what_logged(w, p->o, &c.job, e) : ST_OK;
	what_spec(w);
	return st == ST_OK ? read_service(p, w, &c, e) : st;
}

int
main(int argc, char **argv)
{
	struct read_options o = { 0 };
	struct opt opt;
	struct err e = { 0 };
	struct what w = { 0 };
	struct endpoint ep;
	struct delivery p = { 0 };
	enum status st;
	int code;

	if (!opt_start(&read_program, argc, argv, &o, LOG_WARN, &opt, &e, &code))
		return code;
	stop_after(o.timeout, false);
	secure_say_clear(o.insecure);
	tmp_room_limit(o.tmp_max);
	o.checkpoint = o.checkpoints.n ? o.checkpoints.v[0] : NULL;
	o.job.checkpoint = o.checkpoint != NULL;
	st = trace_start(o.trace, o.trace_max, NULL, &e);
	if (st != ST_OK) {
		opt_clear(&read_program, &o, &opt);
		return report(read_program.name, &e);
	}
	st = delivery_init(&p, &o, &e);
	if (st == ST_OK)
		st = faults_open(o.errors, &p.faults, &e);
	if (st == ST_OK)
		st = join_first(o.join, &o.dispatcher, &e);
	if (st == ST_OK)
		st = endpoint_choose(&opt, &read_program, o.dispatcher, o.context, &ep, &e);
	if (st == ST_OK)
		endpoint_export(&ep);
	if (st == ST_OK)
		st = wait_workers(o.wait_workers, &o.job, &e);
	if (st == ST_OK)
		st = what_plan(&w, &o, &opt, &ep, &e);
	stop_install();
	if (st == ST_OK)
		st = read_run(&p, &w, &ep, &e);
	st = finish_close(&p, st, &e);
	what_clear(&w);
	opt_clear(&read_program, &o, &opt);
	trace_end();
	if (st == ST_AGAIN)
		quit_signal(stop_signal() ? stop_signal() : SIGPIPE);
	return st == ST_OK ? 0 : report(read_program.name, &e);
}
