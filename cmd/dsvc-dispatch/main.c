/* SPDX-License-Identifier: MIT */
#include <stddef.h>
#include <string.h>

#include "base/log.h"
#include "cli/endpoint.h"
#include "cli/program.h"
#include "cli/report.h"
#include "host/dispatch_host.h"
#include "net/notify.h"
#include "opts.h"
#include "standby.h"

/* The private socket: bound if no address is given, or if keys are used at it. */
static enum status
main_own(const struct dispatch *o, struct endpoint *own, struct dispatch_conf *c, struct err *e)
{
	bool tcp = false;

	for (size_t i = 0; i < o->bind.n; i++)
		tcp |= !strncmp(o->bind.v[i], "tcp://", 6) || !strchr(o->bind.v[i], '/');
	if (o->bind.n && (!tcp || o->insecure))
		return ST_OK;
	enum status st = endpoint_private(own, e);
	if (st == ST_OK)
		st = endpoint_prepare(own, e);
	c->own = own->address;
	return st;
}

int
main(int argc, char **argv)
{
	struct dispatch o = { 0 };
	struct opt opt;
	struct err e = { 0 };
	enum status st;
	int code;

	if (!opt_start(&dispatch_program, argc, argv, &o, LOG_INFO, &opt, &e, &code))
		return code;

	notify_open();
	struct endpoint own;
	char *first[1] = { own.address };
	struct dispatch_conf c = { .binds = o.bind.v, .n_binds = o.bind.n,
		.insecure = o.insecure, .allowed = o.allowed, .state = o.state, .idle_ns = o.exit_when_idle,
		.job_gc_ns = o.job_gc, .unfinished_gc_ns = o.unfinished_gc,
		.group_gc_ns = o.group_gc, .dataset_gc_ns = o.dataset_gc,
		.until_stdin_eof = o.until_stdin_eof, .ready = ready_told_with, .arg = &o.ready };
	st = opts_check(&o, &opt, &e);
	c.beat_ms = (uint32_t)(o.beat / 1000000);
	c.loss_ms = (uint32_t)(o.loss / 1000000);
	if (st == ST_OK)
		st = main_own(&o, &own, &c, &e);
	if (st == ST_OK && !o.bind.n) {
		c.binds = first;
		c.n_binds = 1;
	}
	for (size_t i = 0; st == ST_OK && i < o.bind.n; i++)
		st = endpoint_bind(&o.bind.v[i], "-b", &e);
	if (st == ST_OK && o.advertise)
		st = endpoint_bind(&o.advertise, "--advertise", &e);
	c.advertise = o.advertise;
	if (st == ST_OK)
		st = ready_begin(&o.ready, &e);
	if (st == ST_OK && o.state)
		st = standby_open(o.state, o.standby, o.until_stdin_eof, &c.store, &e);
	if (st == ST_OK)
		st = dispatch_run(&c, &e);
	ready_end(&o.ready);
	store_close(&c.store);
	opt_clear(&dispatch_program, &o, &opt);
	return st == ST_OK || st == ST_END ? 0 : report(dispatch_program.name, &e);
}
