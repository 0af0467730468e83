/* SPDX-License-Identifier: MIT */
#include "run_programs.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>

#include "base/log.h"
#include "base/mem.h"
#include "cli/halt.h"
#include "cli/joblog.h"
#include "cli/stop.h"
#include "op/facts.h"
#include "op/program_row.h"
#include "past.h"

struct run_programs {
	struct op_programs op;
	struct run_programs_conf conf;
	struct halt halt;
	struct joblog *log;
	struct past *past;        /* with --resume */
	struct output *out;
	pthread_mutex_t lock;     /* guards what halt counts, and: */
	uint64_t came;            /* rows of workers */
	struct buf texts, columns;/* those of a row */
	/* the operators that run programs, in their order: their places in it are in the log's keys */
	const struct op_node **v;
	size_t n, cap;
	bool remote;              /* rows come from workers */
	bool pairs;               /* there is one whose answers belong to elements */
	bool strict;              /* the policy of one was changed: a failure makes the run fail at its end */
};

static uint32_t
programs_number(const struct run_programs *p, const struct op_node *n)
{
	uint32_t k = 0;

	while (k < p->n && p->v[k]->place != n->place)
		k++;
	return k;
}

static bool
programs_before(void *arg, const struct op_node *n, const struct elem *x)
{
	const struct run_programs *p = arg;

	return past_has(p->past, programs_number(p, n), x);
}

/* The log cannot be written: nothing is worth doing any more. */
static void
programs_give_up(struct run_programs *p)
{
	atomic_store(&p->op.closed, PROGRAMS_CLOSED_NOW);
	stop_ask();
}

/* A row waits if its answer has not been taken yet. With the lock held. */
static void
programs_put(struct run_programs *p, const struct program_row *row, bool answered)
{
	buf_reset(&p->columns);
	program_row_print(row, &p->columns);
	if (answered)
		joblog_wait(p->log, p->columns.data, p->columns.len);
	else if (!joblog_add(p->log, p->columns.data, p->columns.len))
		programs_give_up(p);
}

static void
programs_ended(void *arg, const struct op_program_run *r)
{
	struct run_programs *p = arg;
	struct program_row row;

	pthread_mutex_lock(&p->lock);
	program_row_of(r, programs_number(p, r->node), &p->texts, &row);
	programs_put(p, &row, r->answered);
	pthread_mutex_unlock(&p->lock);
}

static void
programs_over(void *arg, const struct op_node *n, bool good)
{
	struct run_programs *p = arg;

	(void)n;
	pthread_mutex_lock(&p->lock);
	bool halt = halt_count(&p->halt, good);
	pthread_mutex_unlock(&p->lock);
	if (halt)
		atomic_store(&p->op.closed, p->halt.now ? PROGRAMS_CLOSED_NOW : PROGRAMS_CLOSED);
}

/* Each stream of a job counts its elements, so here they are counted as they come. */
static void
programs_row(void *arg, const struct program_row *row, bool answered)
{
	struct run_programs *p = arg;
	struct program_row own = *row;

	programs_over(p, NULL, !program_row_failed(row));
	if (p->strict && program_row_failed(row))
		program_row_say(row);
	pthread_mutex_lock(&p->lock);
	own.number = ++p->came;
	if (p->log)
		programs_put(p, &own, answered);
	pthread_mutex_unlock(&p->lock);
}

/* Rows that wait are written when the answers they are about have been. */
static void
programs_commit(struct run_programs *p)
{
	struct err e;

	if (output_flush(p->out, &e) || !joblog_commit(p->log, output_length(p->out)))
		programs_give_up(p);
}

static void
programs_given(void *arg, const struct op_node *n)
{
	(void)n;
	programs_commit(arg);
}

static void
programs_find(void *arg, struct op_node *n)
{
	struct run_programs *p = arg;

	if (!op_programs_run(n))
		return;
	p->v = mem_grow(p->v, &p->cap, p->n + 1, sizeof *p->v);
	p->v[p->n++] = n;
	p->pairs = p->pairs || op_programs_pair(n);
	if (p->conf.halt && n->on_error == OP_FAIL && op_programs_pair(n)) {
		n->on_error = OP_SKIP;
		p->strict = true;
	}
}

static bool
programs_logged(void *arg, const struct op_node *n)
{
	(void)arg;
	return n->logged.is;
}

/* Whether the log can tell where to go on. */
static enum status
programs_may_resume(const struct run_programs *p, const struct plan *plan, struct err *e)
{
	const struct op_node *keeps = NULL;

	if (!p->conf.joblog) {
		err_set(e, ST_USAGE, "%s needs --joblog FILE", p->conf.failed ? "--resume-failed" : "--resume");
		err_help(e, "the log of the run that is to go on");
		return ST_USAGE;
	}
	if (p->conf.path && format_is_framed(p->conf.format)) {
		err_set(e, ST_USAGE, "--resume: this format has a beginning or an end, and cannot be continued");
		err_help(e, "use text, ndjson, raw, nul, msgpack or tfrecord");
		return ST_USAGE;
	}
	if (p->remote) {
		err_set(e, ST_USAGE, "--resume: workers cannot leave out the elements that are in a log");
		err_help(e, "dsvc-read --checkpoint FILE resumes a pass of theirs");
		return ST_USAGE;
	}
	for (size_t i = 0; i < p->n; i++) {
		if (!op_programs_pair(p->v[i]) || op_programs_passed(plan->top, p->v[i], &keeps))
			continue;
		err_set(e, ST_USAGE, "--resume: operator %u `%s` keeps answers of operator %u, and would get those of this run only",
			keeps->place, op_text(keeps), p->v[i]->place);
		err_help(e, "write the answers to a file with -o, and let another dsvc-run do what comes after them");
		return ST_USAGE;
	}
	return ST_OK;
}

static enum status
programs_check(struct run_programs *p, struct plan *plan, struct err *e)
{
	const struct run_programs_conf *c = &p->conf;
	const char *option = c->joblog ? "--joblog" : "--halt";
	enum status st = halt_parse(c->halt, &p->halt, e);

	if (st)
		return st;
	op_each_here(plan->top, programs_find, p);
	const struct op_node *border = op_node_find(plan->top, programs_logged, NULL);
	p->remote = border;
	p->strict = p->strict || (border && border->logged.strict);
	if (!p->pairs && !p->remote && (c->joblog || c->halt)) {
		err_set(e, ST_USAGE, "%s: no operator gives elements to programs here", option);
		if (p->n)
			err_help(e, "proto=stream pairs no answers with elements; proto=line and arg do");
		else
			err_help(e, "it is for exec and sh");
		return ST_USAGE;
	}
	return c->resume || c->failed ? programs_may_resume(p, plan, e) : ST_OK;
}

static enum status
programs_open(struct run_programs *p, struct err *e)
{
	const struct run_programs_conf *c = &p->conf;
	bool resume = c->resume || c->failed;
	enum status st = joblog_open(c->joblog, PROGRAM_ROW_HEAD, resume, &p->log, e);

	if (st == ST_OK && resume)
		st = past_load(p->log, c->failed, &p->past, e);
	if (st || !resume || c->quiet)
		return st;
	struct past_told past = past_told(p->past);
	uint64_t left = past.done - (c->failed ? past.failed : 0);
	log_say(LOG_WARN, "resuming: %s has %" PRIu64 " element%s, of which %" PRIu64 " failed; %" PRIu64 " %s skipped",
		c->joblog, past.done, past.done == 1 ? "" : "s", past.failed, left, left == 1 ? "is" : "are");
	return ST_OK;
}

enum status
run_programs_new(const struct run_programs_conf *c, struct plan *plan, struct run_programs **out, struct err *e)
{
	*out = NULL;
	if (!c->joblog && !c->halt && !c->resume && !c->failed)
		return ST_OK;
	struct run_programs *p = mem_zalloc(sizeof *p);
	p->conf = *c;
	pthread_mutex_init(&p->lock, NULL);
	enum status st = programs_check(p, plan, e);
	if (st == ST_OK && c->joblog)
		st = programs_open(p, e);
	p->op.over = programs_over;
	p->op.ended = p->log ? programs_ended : NULL;
	p->op.given = p->log ? programs_given : NULL;
	p->op.before = p->past && past_told(p->past).done ? programs_before : NULL;
	p->op.row = programs_row;
	p->op.arg = p;
	*out = p;
	if (st == ST_OK)
		return ST_OK;
	struct err keep = *e;
	run_programs_end(out, st, e);
	*e = keep;
	return st;
}

struct op_programs *
run_programs_op(struct run_programs *p)
{
	return p ? &p->op : NULL;
}

void
run_programs_output(const struct run_programs *p, struct output_conf *oc)
{
	if (p && p->conf.halt)
		oc->part = true;
	if (!p || !p->log || !oc->path || format_is_framed(oc->format))
		return;
	oc->in_place = true;
	oc->keep = p->past ? past_told(p->past).output : 0;
}

void
run_programs_bind(struct run_programs *p, struct output *out)
{
	if (p)
		p->out = out;
}

bool
run_programs_tells(const struct run_programs *p)
{
	return p && p->strict;
}

void
run_programs_last(struct run_programs *p, enum status st)
{
	if (p && p->log && p->out && (st == ST_END || atomic_load(&p->op.failed)))
		programs_commit(p);
}

void
run_programs_cut(const struct run_programs *p, uint32_t n, uint32_t of)
{
	struct err e;

	/* errors are told when both are closed */
	if (p && p->log && output_flush(p->out, &e) == ST_OK)
		joblog_commit_first(p->log, n, of, output_length(p->out));
}

enum status
run_programs_result(const struct run_programs *p, enum status st, struct err *e)
{
	return p ? halt_result(&p->halt, p->strict, st, e) : st;
}

void
run_programs_stopped(const struct run_programs *p)
{
	if (!p || !p->log || p->conf.quiet)
		return;
	uint64_t rows = joblog_rows(p->log);
	log_say(LOG_WARN, "stopped: %" PRIu64 " element%s of this run %s in %s; the same command with --resume continues",
		rows,
		rows == 1 ? "" : "s", rows == 1 ? "is" : "are", p->conf.joblog);
}

enum status
run_programs_end(struct run_programs **pp, enum status st, struct err *e)
{
	struct run_programs *p = *pp;
	struct err last = { 0 };

	*pp = NULL;
	if (!p)
		return st;
	if (joblog_close(&p->log, &last) && (st == ST_OK || st == ST_END || st == ST_AGAIN)) {
		*e = last;
		st = last.kind;
	}
	past_free(&p->past);
	buf_clear(&p->texts);
	buf_clear(&p->columns);
	pthread_mutex_destroy(&p->lock);
	mem_free(p->v);
	mem_free(p);
	return st;
}
