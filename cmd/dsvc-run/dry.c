/* SPDX-License-Identifier: MIT */
#include "dry.h"

#include <pthread.h>

#include "base/log.h"
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
};

/* Operators that are found: one that runs programs, and one that writes files. */
struct dry_plan {
	const struct op_node *runs, *writes;
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
	struct dry_plan *p = arg;
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

static enum status
dry_check(const struct plan *p, struct err *e)
{
	struct dry_plan found = { 0 };

	op_each_here(p->top, dry_look, &found);
	if (!found.runs) {
		err_set(e, ST_USAGE, "--dry-run: no operator runs programs here");
		err_help(e, p->border ? "it is for exec and sh behind `distribute`; --explain shows what workers run"
				      : "it is for exec and sh; --check and --explain run nothing either");
	} else if (found.writes) {
		err_set(e, ST_USAGE, "--dry-run: operator %u `%s` would write files", found.writes->place,
			op_text(found.writes));
		err_help(e, "leave it out");
	}
	return e->kind;
}

enum status
dry_run(struct plan *p, const struct run_plan_conf *conf, struct err *e)
{
	struct dry d = { .lock = PTHREAD_MUTEX_INITIALIZER, .left = conf->count };
	struct op_programs programs = { .dry = true, .would = dry_would, .arg = &d };
	struct output_conf oc = { .path = conf->path, .format = conf->format, .watch = true,
				  .form.json = p->options.json };
	int64_t seed = conf->seed != PARAM_AUTO ? conf->seed : p->options.seed;
	struct op_ctx ctx = { .seed = seed != PARAM_AUTO ? (uint64_t)seed : rng_seed_fresh(),
			      .json = p->options.json, .element_max = (uint32_t)p->options.element_max, .stop = stop_flag(),
			      .service = conf->service, .programs = &programs };
	struct op_inst *chain = NULL;
	struct err last = { 0 };
	struct run *r;
	enum status st = dry_check(p, e);

	if (st)
		return st;
	run_init(&d.run);
	stop_install();
	st = output_open(&oc, &d.out, e);
	if (!st)
		st = op_open(p->top, &ctx, &chain, e);
	while (!st)
		st = op_pull(chain, &r, e);
	op_close(&chain);
	if (d.st) {
		st = d.st;
		*e = d.err;
	}
	bool whole = st == ST_END && !stop_signal();
	enum status closed = output_close(&d.out, whole, &last);
	if (whole && (st = closed))
		*e = last;
	run_clear(&d.run);
	if (stop_signal())
		quit_signal(stop_signal());
	if (!st && !conf->quiet)
		op_each_here(p->top, dry_behind, NULL);
	return st;
}
