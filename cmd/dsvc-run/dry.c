/* SPDX-License-Identifier: MIT */
#include "dry.h"

#include <pthread.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/rng.h"
#include "cli/output.h"
#include "cli/quit.h"
#include "cli/stop.h"
#include "op/facts.h"
#include "op/programs.h"
#include "op/pull.h"
#include "value/mp.h"

struct dry {
	struct output *out;
	pthread_mutex_t lock;    /* guards all below: several operators may tell at once */
	struct run run;          /* the command that is told, as an element */
	int64_t left;            /* commands that may still be told */
	enum status st;
	struct err err;          /* the error of the output */
	uint64_t seed;
	bool quiet;
};

/* Operators that are found: one that runs programs, and one that writes files. */
struct dry_found {
	const struct op_node *runs, *writes;
};

struct dry_borders {
	const struct op_node **v;
	size_t n, cap;
};

static bool
dry_would(void *arg, const struct op_node *n, const char *command, size_t len)
{
	struct dry *d = arg;

	(void)n;
	pthread_mutex_lock(&d->lock);
	if (d->left > 0 && !d->st) {
		run_reset(&d->run);
		uint8_t *p = run_room(&d->run, len + MP_HEAD_MAX), *end = mp_put_text(p, command, (uint32_t)len);
		run_done(&d->run, end, 0);
		d->st = output_run(d->out, &d->run, &d->err);
		d->left--;
	}
	bool more = d->left > 0 && !d->st;
	pthread_mutex_unlock(&d->lock);
	return more;
}

static void
dry_look(void *arg, struct op_node *n)
{
	struct dry_found *p = arg;
	const struct param *r = n->desc->params;

	if (op_programs_run(n))
		p->runs = n;
	for (size_t i = 0; n->desc->flags & OP_WRITES && r[i].kind != PARAM_NONE; i++)
		if (r[i].flags & PARAM_PATH && n->given >> i & 1)
			p->writes = n;
}

static void
dry_find(void *arg, struct op_node *n)
{
	if (op_programs_run(n))
		*(const struct op_node **)arg = n;
}

/* Tells of operators whose elements would be answers of other programs. */
static void
dry_behind(void *arg, struct op_node *n)
{
	const struct op_node *before = NULL;

	(void)arg;
	for (size_t k = 0; op_programs_run(n) && k < n->n_in; k++)
		op_each_here(n->in[k], dry_find, &before);
	if (before)
		log_say(LOG_WARN, "the commands of operator %u `%s` are not known: it gets the answers of operator %u",
			n->place, op_text(n), before->place);
}

static bool
dry_border(void *arg, const struct op_node *n)
{
	struct dry_borders *b = arg;

	if (n->desc->flags & OP_BORDER) {
		b->v = mem_grow(b->v, &b->cap, b->n + 1, sizeof *b->v);
		b->v[b->n++] = n;
	}
	return false;
}

/* Runs the plan up to its programs. */
static enum status
dry_pull(struct dry *d, const struct plan *p, const struct op_service *service, struct err *e)
{
	struct op_programs programs = { .dry = true, .would = dry_would, .arg = d };
	struct op_ctx ctx = { .seed = d->seed, .json = p->options.json,
			      .element_max = (uint32_t)p->options.element_max, .stop = stop_flag(), .service = service,
			      .programs = &programs };
	struct op_inst *chain = NULL;
	struct run *r;
	enum status st = op_open(p->top, &ctx, &chain, e);

	while (st == ST_OK)
		st = op_pull(chain, &r, e);
	op_close(&chain);
	return st == ST_END ? ST_OK : st;
}

/* The commands of one plan, if there are programs in it: then *any is set. */
static enum status
dry_plan(struct dry *d, const struct plan *p, const struct op_service *service, bool *any, struct err *e)
{
	struct dry_found found = { 0 };

	op_each_here(p->top, dry_look, &found);
	if (!found.runs)
		return ST_OK;
	*any = true;
	if (found.writes) {
		err_set(e, ST_USAGE, "--dry-run: operator %u `%s` would write files", found.writes->place,
			op_text(found.writes));
		err_help(e, "leave it out");
		return ST_USAGE;
	}
	enum status st = dry_pull(d, p, service, e);
	if (st == ST_OK && !d->quiet)
		op_each_here(p->top, dry_behind, NULL);
	return st;
}

static enum status
dry_remote(struct dry *d, const struct op_node *border, const struct op_service *service, bool *any, struct err *e)
{
	struct spec_src src = { .text = border->remote_spec, .len = strlen(border->remote_spec), .service = service };
	struct plan *p;
	enum status st = plan_make(&src, &p, e);

	if (st == ST_OK)
		st = dry_plan(d, p, service, any, e);
	plan_free(&p);
	return st;
}

/* First what workers would run: then the elements behind it are not known. */
static enum status
dry_all(struct dry *d, const struct plan *p, const struct op_service *service, struct err *e)
{
	struct dry_borders borders = { 0 };
	struct dry_found found = { 0 };
	bool any = false;
	enum status st = ST_OK;

	op_node_find(p->top, dry_border, &borders);
	for (size_t i = 0; i < borders.n && st == ST_OK; i++)
		st = dry_remote(d, borders.v[i], service, &any, e);
	mem_free(borders.v);
	if (st == ST_OK && any) {
		op_each_here(p->top, dry_look, &found);
		if (found.runs && !d->quiet)
			log_say(LOG_WARN, "the commands of operator %u `%s` are not known: it gets the answers of programs on workers",
				found.runs->place, op_text(found.runs));
		return ST_OK;
	}
	if (st == ST_OK)
		st = dry_plan(d, p, service, &any, e);
	if (st != ST_OK || any)
		return st;
	err_set(e, ST_USAGE, "--dry-run: no operator runs programs here");
	err_help(e, "it is for exec and sh; --check and --explain run nothing either");
	return ST_USAGE;
}

enum status
dry_run(struct plan *p, const struct run_plan_conf *conf, struct err *e)
{
	int64_t seed = conf->seed != PARAM_AUTO ? conf->seed : p->options.seed;
	struct dry d = { .lock = PTHREAD_MUTEX_INITIALIZER, .left = conf->count, .quiet = conf->quiet,
			 .seed = seed != PARAM_AUTO ? (uint64_t)seed : rng_seed_fresh() };
	struct output_conf oc = { .path = conf->path, .format = conf->format, .watch = true,
				  .form.json = p->options.json };
	struct err last = { 0 };

	run_init(&d.run);
	stop_install();
	enum status st = output_open(&oc, &d.out, e);
	if (st == ST_OK)
		st = dry_all(&d, p, conf->service, e);
	if (d.st) {
		st = d.st;
		*e = d.err;
	}
	bool whole = st == ST_OK && !stop_signal();
	enum status closed = output_close(&d.out, whole, &last);
	if (whole && (st = closed))
		*e = last;
	run_clear(&d.run);
	if (stop_signal())
		quit_signal(stop_signal());
	return st;
}
