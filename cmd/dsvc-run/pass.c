/* SPDX-License-Identifier: MIT */
#include "pass.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/rng.h"
#include "cli/output.h"
#include "cli/quit.h"
#include "cli/report.h"
#include "cli/stop.h"
#include "crew.h"

struct pass {
	const struct pass_conf *conf;
	struct op_ctx ctx;
	struct op_inst *chain;
	struct output *out;
	uint64_t failed; /* elements that a policy let go */
	int64_t began;
};

static void
pass_failure(void *arg, const struct op_failure *f)
{
	struct pass *p = arg;

	if (f->fatal)
		return;
	__atomic_add_fetch(&p->failed, 1, __ATOMIC_RELAXED);
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
pass_note(void *arg, const struct op_node *n, const struct err *e)
{
	struct err own = *e;

	(void)arg;
	err_wrap(&own, "operator %u", n->place);
	if (log_most() >= LOG_WARN)
		report("dsvc-run", &own);
}

/* Pulls until the end, the count or a signal. */
static enum status
pass_pull(struct pass *p, struct err *e)
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
			return output_run(p->out, &part, e);
		}
		st = output_run(p->out, r, e);
		if (st)
			return st;
		left -= r->n;
	}
	return ST_END;
}

static void
pass_stats(const struct pass *p, uint64_t elements)
{
	double s = (double)(clock_mono_ns() - p->began) / 1e9;
	char failed[64] = "";

	if (p->failed)
		snprintf(failed, sizeof failed, "; %" PRIu64 " failed", p->failed);
	fprintf(stderr, "dsvc-run: %" PRIu64 " elements in %.3f s (%.0f/s)%s\n", elements, s,
		s > 0 ? (double)elements / s : 0.0, failed);
}

static enum status
pass_open(struct pass *p, const struct plan *plan, struct err *e)
{
	const struct pass_conf *c = p->conf;
	struct output_conf oc = { .path = c->path, .format = c->format, .type = plan->type,
				  .watch = true };
	int64_t seed = c->seed != PARAM_AUTO ? c->seed : plan->options.seed;

	p->ctx = (struct op_ctx){
		.seed = seed != PARAM_AUTO ? (uint64_t)seed : rng_seed_fresh(),
		.element_max = (uint32_t)plan->options.element_max,
		.stop = stop_flag(),
		.service = c->service,
		.failure = pass_failure,
		.note = pass_note,
		.arg = p,
	};
	enum status st = output_open(&oc, &p->out, e);
	return st ? st : op_open(plan->top, &p->ctx, &p->chain, e);
}

enum status
pass_run(struct plan *plan, const struct pass_conf *conf, struct err *e)
{
	struct pass p = { .conf = conf, .began = clock_mono_ns() };

	int64_t jobs = conf->jobs == PARAM_AUTO ? sysconf(_SC_NPROCESSORS_ONLN) : conf->jobs;
	struct crew *crew = crew_join(plan, jobs);

	stop_install();
	enum status st = pass_open(&p, plan, e);
	if (!st)
		st = pass_pull(&p, e);
	uint64_t elements = p.out ? output_elements(p.out) : 0;
	bool stopped = stop_signal() != 0, whole = (st == ST_OK || st == ST_END) && !stopped;
	struct err last = { 0 };
	enum status closed = output_close(&p.out, whole, &last);
	op_close(&p.chain);
	crew_leave(&crew, plan);
	if (conf->stats)
		pass_stats(&p, elements);
	if (stopped)
		quit_signal(stop_signal());
	if (whole && closed) {
		*e = last;
		return closed;
	}
	return st == ST_END ? ST_OK : st;
}
