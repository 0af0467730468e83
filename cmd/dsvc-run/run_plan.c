/* SPDX-License-Identifier: MIT */
#include "run_plan.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/machine.h"
#include "base/rng.h"
#include "base/trace.h"
#include "cli/faults.h"
#include "cli/output.h"
#include "cli/quit.h"
#include "cli/report.h"
#include "cli/stop.h"
#include "base/pool.h"
#include "base/str.h"
#include "value/format/excerpt.h"
#include "host/work/run_stats.h"
#include "host/work/split_threads.h"
#include "op/pull.h"
#include "run_programs.h"
#include "watch.h"

struct run_plan {
	const struct run_plan_conf *conf;
	struct op_ctx ctx;
	struct op_inst *chain;
	struct output *out;
	struct watch *watch;
	uint64_t failed; /* elements that a policy skipped or kept */
	uint64_t kept;   /* how many of them under `keep` */
	bool over;       /* they were too many */
	struct faults *faults;
	struct run_programs *programs;
	pthread_mutex_t lock; /* guards faults, which come from threads of -j and of prefetch */
	bool part;       /* a file that is not complete is kept as a part */
	atomic_bool told;/* people have heard how safe a stopped run is */
	int64_t jobs;
	int64_t began, writing; /* writing: ns, with stats */
};

static void
run_plan_record(struct run_plan *p, const struct op_failure *f)
{
	struct fault x = { .op = f->node->place, .text = f->node->text, .error = f->e->text,
		.file = f->file, .line = f->line, .fatal = f->fatal };
	struct buf element = { 0 };

	if (f->elem.p)
		excerpt_print(f->elem.p, f->elem.len, &element);
	x.element = (char *)element.data;
	pthread_mutex_lock(&p->lock);
	faults_add(p->faults, &x);
	pthread_mutex_unlock(&p->lock);
	buf_clear(&element);
}

/* Tells a failure as if it ended the run. */
static void
run_plan_tell(const struct op_failure *f)
{
	struct err own = *f->e;

	if (log_most() >= LOG_WARN)
		report("dsvc-run", &own);
}

static void
run_plan_failure(void *arg, const struct op_failure *f)
{
	struct run_plan *p = arg;

	if (p->faults)
		run_plan_record(p, f);
	if (f->fatal)
		return;
	if (__atomic_add_fetch(&p->failed, 1, __ATOMIC_RELAXED) > p->conf->max_errors)
		stop_ask();
	if (f->node->on_error == OP_KEEP)
		__atomic_add_fetch(&p->kept, 1, __ATOMIC_RELAXED);
	if (run_programs_tells(p->programs)) {
		run_plan_tell(f);
		return;
	}
	if (!p->conf->verbose)
		return;
	if (f->file && f->line)
		log_say(LOG_INFO, "%s: %s line %" PRIu64 ": %s", f->node->text, f->file, f->line,
			f->e->text);
	else
		log_say(LOG_INFO, "%s: %s", f->node->text, f->e->text);
}

/* One write each, as for mistakes: lines of several threads do not mix. */
static void
run_plan_note(void *arg, const struct op_node *n, const struct err *e)
{
	struct err own = *e;

	(void)arg;
	err_wrap(&own, "operator %u", n->place);
	if (log_most() >= LOG_WARN)
		report("dsvc-run", &own);
}

static enum status
run_plan_write(struct run_plan *p, const struct run *r, struct err *e)
{
	bool traced = trace_on();

	watch_add(p->watch, r->n);
	if (!p->conf->stats && !traced)
		return output_run(p->out, r, e);
	int64_t began = clock_mono_ns();
	enum status st = output_run(p->out, r, e);
	int64_t end = clock_mono_ns();
	p->writing += end - began;
	if (traced)
		trace_output(began, end, r->n, run_bytes_near(r));
	return st;
}

/* Pulls until the end, the count or a signal. */
static enum status
run_plan_pull(struct run_plan *p, struct err *e)
{
	int64_t left = p->conf->count;
	struct run *r;
	enum status st;

	while (left > 0) {
		st = op_pull(p->chain, &r, e);
		if (st)
			return st;
		if ((int64_t)r->n > left) {
			struct run part = *r;
			part.n = (uint32_t)left;
			st = run_plan_write(p, &part, e);
			if (st == ST_OK)
				run_programs_cut(p->programs, part.n, r->n);
			return st;
		}
		st = run_plan_write(p, r, e);
		if (st)
			return st;
		left -= r->n;
	}
	return ST_END;
}

static void
run_plan_stats(const struct run_plan *p, uint64_t elements, struct run_stats *m)
{
	struct buf table = { 0 };
	double s = (double)(clock_mono_ns() - p->began) / 1e9;
	char failed[64] = "";

	if (p->failed)
		snprintf(failed, sizeof failed, "; %" PRIu64 " failed", p->failed);
	fprintf(stderr, "dsvc-run: %" PRIu64 " elements in %.3f s (%.0f/s)%s\n", elements, s,
		s > 0 ? (double)elements / s : 0.0, failed);
	run_stats_print(m, elements, p->writing, &table);
	fwrite(table.data, 1, table.len, stderr);
	buf_clear(&table);
}

/* Reports the elements that failed and were skipped: too many, or a note. */
static enum status
run_plan_failures(struct run_plan *p, enum status st, struct err *e)
{
	const struct run_plan_conf *c = p->conf;
	struct err last = { 0 };
	enum status closed = faults_close(&p->faults, &last);

	pthread_mutex_destroy(&p->lock);
	if (p->over && (st == ST_OK || st == ST_AGAIN)) {
		st = err_set(e, ST_DATA, "%" PRIu64 " element%s failed: more than the %" PRIu64
			     " that --max-errors allows", p->failed, str_s(p->failed), c->max_errors);
		if (c->errors)
			err_help(e, "see %s", c->errors);
		else
			err_help(e, "--errors FILE lists them");
	} else if (!st && p->failed && !c->quiet) {
		fprintf(stderr, "dsvc-run: %" PRIu64 " element%s failed%s%s%s\n", p->failed,
			p->failed == 1 ? "" : "s",
			p->kept ? "" : p->failed == 1 ? " and was skipped" : " and were skipped",
			c->errors ? "; see " : "", c->errors ? c->errors : "");
	}
	if (closed && !st) {
		*e = last;
		st = closed;
	}
	return st;
}

/* Says what is safe after a signal, once. Any thread. */
static void
run_plan_stopped(void *arg)
{
	struct run_plan *p = arg;
	const char *path = p->conf->path;
	struct stat there;

	if (atomic_exchange(&p->told, true))
		return;
	if (p->conf->programs.joblog)
		run_programs_stopped(p->programs);
	else if (path && strcmp(path, "-") && !p->part && (lstat(path, &there) || S_ISREG(there.st_mode)))
		log_say(LOG_WARN, "stopped: %s is as it was, for it appears when complete; with --joblog it is written as it comes",
			path);
}

static enum status
run_plan_open(struct run_plan *p, const struct plan *plan, struct err *e)
{
	const struct run_plan_conf *c = p->conf;
	struct output_conf oc = { .path = c->path, .format = c->format, .form = c->form, .type = plan->type,
				  .watch = true, .part = plan->service != NULL, .stopped = run_plan_stopped, .arg = p };
	oc.form.json = plan->options.json;
	run_programs_output(p->programs, &oc);
	p->part = oc.part;
	int64_t seed = c->seed != PARAM_AUTO ? c->seed : plan->options.seed;

	p->ctx = (struct op_ctx){
		.seed = seed != PARAM_AUTO ? (uint64_t)seed : rng_seed_fresh(),
		.json = plan->options.json,
		.element_max = (uint32_t)plan->options.element_max,
		.stop = stop_flag(),
		.threads = (uint32_t)p->jobs,
		.service = c->service,
		.programs = run_programs_op(p->programs),
		.failure = run_plan_failure,
		.note = run_plan_note,
		.timed = c->stats || trace_on(),
		.arg = p,
	};
	enum status st = faults_open(c->errors, &p->faults, e);
	if (!st)
		st = output_open(&oc, &p->out, e);
	run_programs_bind(p->programs, p->out);
	if (!st)
		watch_begin(p->watch, &p->ctx.intake);
	return st ? st : op_open(plan->top, &p->ctx, &p->chain, e);
}

enum status
run_plan(struct plan *plan, const struct run_plan_conf *conf, struct err *e)
{
	struct run_plan p = { .conf = conf, .began = clock_mono_ns(), .lock = PTHREAD_MUTEX_INITIALIZER };

	int64_t jobs = conf->jobs ? conf->jobs : plan->options.threads;
	/* By default there is 1 thread, and a pool with one per processor. */
	pool_set_size(jobs == PARAM_AUTO || (!conf->jobs && jobs == 1) ? 0 : (uint32_t)jobs);
	if (jobs == PARAM_AUTO)
		jobs = machine_cpus();
	struct watch_conf watched = { .top = plan->top, .output = conf->path, .format = conf->format, .count = conf->count,
				      .when = conf->progress, .quiet = conf->quiet };
	p.watch = watch_new(&watched);
	struct split_threads *threads = split_threads_join(plan, jobs);
	p.jobs = jobs;

	stop_install();
	enum status st = run_programs_new(&conf->programs, plan, &p.programs, e);
	if (!st)
		st = run_plan_open(&p, plan, e);
	if (!st)
		st = run_plan_pull(&p, e);
	run_programs_last(p.programs, st);
	st = run_programs_result(p.programs, st, e);
	uint64_t elements = p.out ? output_elements(p.out) : 0;
	bool stopped = stop_signal() != 0;
	p.over = p.failed > conf->max_errors;
	bool whole = (st == ST_OK || st == ST_END) && !stopped && !p.over;
	struct err last = { 0 };
	struct run_stats meter = { 0 };
	int64_t ends = clock_mono_ns();
	enum status closed = output_close(&p.out, whole, &last);
	p.writing += clock_mono_ns() - ends;
	run_stats_add(&meter, p.chain, split_threads_front(threads));
	op_close(&p.chain);
	split_threads_stats(threads, &meter);
	split_threads_leave(&threads, plan);
	watch_end(&p.watch); /* its intake was counted by the threads */
	if (whole && (st = closed))
		*e = last;
	st = run_plan_failures(&p, st, e);
	if (conf->stats)
		run_plan_stats(&p, elements, &meter);
	run_stats_clear(&meter);
	if (stopped)
		run_plan_stopped(&p);
	st = run_programs_end(&p.programs, st, e);
	if (stopped) {
		trace_end();
		quit_signal(stop_signal());
	}
	if ((st == ST_OK || st == ST_END) && conf->fail_empty && !elements)
		return err_set(e, ST_NO, "%s", "");
	return st;
}
