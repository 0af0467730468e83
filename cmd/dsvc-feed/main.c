/* SPDX-License-Identifier: MIT */
#include <signal.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/tmp_room.h"
#include "axes.h"
#include "cli/endpoint.h"
#include "cli/report.h"
#include "cli/quit.h"
#include "cli/stop.h"
#include "host/join.h"
#include "host/secure.h"
#include "hosts.h"
#include "opts.h"
#include "plan.h"
#include "run.h"

static uint64_t
main_limit(int64_t v)
{
	return v == INT64_MAX ? UINT64_MAX : (uint64_t)v;
}

static void
main_machine(const struct feed_opts *o, struct feed_conf *m)
{
	*m = (struct feed_conf){ .cores = (uint32_t)o->cores, .prefetch = (uint32_t)o->prefetch,
		.slots = (uint32_t)o->prefetch + 2, .rows = o->batched ? (uint64_t)o->batch : 1, .copy = o->element == 3,
		.ours = o->command != NULL, .blind = o->as != FEED_AS_MEMORY && !o->results,
		.tail = opts_tail(o),
		.results = (enum feed_results)o->results, .until = UINT64_MAX, .loop = (uint64_t)o->loop,
		.loop_ns = o->loop_ns, .each_loop = o->each_loop,
		.wait_cores_ns = o->wait_cores, .slow_ns = o->slow, .core_timeout_ns = o->core_timeout, .grace_ns = o->grace };
}

static void
main_conf(const struct feed_opts *o, const struct feed_plan *p, struct feed_host_conf *c)
{
	static const enum feed_element elements[] = { FEED_PER_CORE, FEED_CUT, FEED_CUT, FEED_COPIED };
	static const char *const tails[] = { "pad", "drop", "short", "error" };

	main_machine(o, &c->machine);
	c->fill = (struct feed_fill_conf){ .element = o->batched ? FEED_ROWS : elements[o->element],
		.batch = (uint64_t)o->batch, .cores = (uint32_t)o->cores, .prefetch = (uint32_t)o->prefetch,
		.epochs = (uint32_t)(o->job.epoch + (uint64_t)o->epochs - 1), .tail = c->machine.tail, .pad_last = o->pad,
		.axes = { o->axes, o->n_axes }, .mask = o->mask, .type = p->element,
		.expect = p->expect, .arrays = o->as == FEED_AS_NPY, .slot_max = (size_t)o->slot_max, .resumable = p->resumable };
	hosts_conf(o, c);
	c->steps = main_limit(o->steps);
	c->until = o->until_given ? main_limit(o->until) : UINT64_MAX;
	c->each = feed_plan_steps(p, o);
	c->epoch = (uint32_t)o->job.epoch;
	c->as = (enum feed_as)o->as;
	c->argv = o->command;
	c->listen = o->listen;
	c->tail_word = tails[c->machine.tail];
	c->type_text = (char *)p->type.data;
	c->stop_fd = stop_fd();
}

/* Without a command, cores come to the private folder, beside the dispatcher's socket. */
static enum status
main_listen(struct feed_opts *o, const struct endpoint *ep, struct err *e)
{
	struct endpoint own = { 0 };
	char *slash;

	if (o->listen || o->command)
		return ST_OK;
	(void)ep;
	enum status st = endpoint_private(&own, e);
	if (st == ST_OK)
		st = endpoint_prepare(&own, e);
	slash = st == ST_OK ? strrchr(own.address, '/') : NULL;
	if (!slash || strncmp(own.address, "ipc://", 6)) {
		if (st == ST_OK)
			st = err_set(e, ST_USAGE, "there is no folder for the socket: give --listen PATH");
		return st;
	}
	o->listen = mem_printf("%.*s/feed", (int)(slash - own.address) - 6, own.address + 6);
	return ST_OK;
}

static enum status
main_prepare(struct feed_opts *o, struct opt *opt, struct feed_plan *p, struct endpoint *ep, struct feed_host_conf *c,
	     struct err *e)
{
	enum status st = opts_check(o, e);

	if (st == ST_OK)
		st = join_first(o->join, &o->dispatcher, e);
	if (st == ST_OK)
		st = endpoint_choose(opt, &feed_program, o->dispatcher, o->context, ep, e);
	if (st != ST_OK && ep->own && o->local)
		st = ST_OK; /* it is not needed */
	if (st == ST_OK)
		endpoint_export(ep);
	if (st == ST_OK)
		st = main_listen(o, ep, e);
	if (st == ST_OK)
		st = feed_plan_make(p, o, opt, ep, c, e);
	return st == ST_OK ? ready_begin(&o->ready, e) : st;
}

int
main(int argc, char **argv)
{
	struct feed_opts o = { 0 };
	struct opt opt;
	struct err e = { 0 };
	struct endpoint ep = { 0 };
	struct feed_plan plan = { 0 };
	struct feed_host_conf c = { 0 };
	struct feed_run run = { 0 };
	int code;

	argc = opts_cut(argc, argv, &o.command);
	char **command = o.command;
	if (!opt_start(&feed_program, argc, argv, &o, LOG_WARN, &opt, &e, &code))
		return code;
	o.command = command;
	o.batched = o.batch > 0;
	signal(SIGPIPE, SIG_IGN); /* a core may close its stdin, or end, while a step is written */
	stop_after(o.timeout, false);
	secure_say_clear(o.insecure);
	tmp_room_limit(o.tmp_max);
	enum status st = main_prepare(&o, &opt, &plan, &ep, &c, &e);
	stop_install();
	if (st == ST_OK) {
		main_conf(&o, &plan, &c);
		st = feed_run_open(&run, &o, &c, &e);
	}
	if (st == ST_AGAIN && stop_signal())
		quit_signal(stop_signal());
	code = st == ST_OK ? feed_run(&run, &c) : report(feed_program.name, &e);
	ready_end(&o.ready);
	feed_place_clear(&c.begin);
	feed_run_clear(&run);
	feed_plan_clear(&plan);
	mem_free(o.consumer);
	axes_clear(&o);
	opt_clear(&feed_program, &o, &opt);
	return code;
}
