/* SPDX-License-Identifier: MIT
 *
 * The end: that of the steps, of the cores, and the first real error.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "base/mem.h"
#include "base/str.h"
#include "core/feed/feed_inner.h"

bool
feed_core_over(const struct feed *f, const struct feed_core *k)
{
	return f->c.ours ? k->exited : k->gone || !k->joined;
}

static bool
feed_cores_over(const struct feed *f)
{
	for (uint32_t i = 0; i < f->c.cores; i++)
		if (!feed_core_over(f, &f->core[i]))
			return false;
	return true;
}

/* Causes */

static void
feed_fault_add(struct feed *f, enum feed_class class, uint32_t core, const struct err *e)
{
	/* One report of a core is enough; further ones follow from it. */
	for (size_t i = 0; i < f->n_fault; i++)
		if (core != FEED_ANY_CORE && f->fault[i].core == core && f->fault[i].class <= class)
			return;
	f->fault = mem_grow(f->fault, &f->cap_fault, f->n_fault + 1, sizeof *f->fault);
	f->fault[f->n_fault++] = (struct feed_fault){ class, core, f->now, *e };
}

/* Whether a core that reported its failure has ended: what comes after it may be its consequence. */
static bool
feed_reporter_ended(const struct feed *f)
{
	for (size_t i = 0; i < f->n_fault; i++)
		if (f->fault[i].class == FEED_SAID && f->fault[i].core != FEED_ANY_CORE &&
		    feed_core_over(f, &f->core[f->fault[i].core]))
			return true;
	return false;
}

/* Weighs the causes: from now on the cores are to leave. */
static void
feed_decide(struct feed *f)
{
	size_t best = 0;

	for (size_t i = 1; i < f->n_fault; i++)
		if (f->fault[i].class < f->fault[best].class)
			best = i;
	f->cause = best + 1;
	f->cause_at = INT64_MAX;
	f->leave_ns = f->now;
	for (uint32_t i = 0; i < f->c.cores; i++) {
		struct feed_core *k = &f->core[i];

		k->leaving = true;
		if (!feed_core_over(f, k))
			feed_do(f, FEED_DO_ERROR, i);
	}
}

void
feed_core_failed(struct feed *f, int64_t now_ns, uint32_t core, enum feed_class class, const struct err *e)
{
	f->now = now_ns;
	if (f->over)
		return;
	if (class == FEED_SILENT && feed_reporter_ended(f))
		class = FEED_CONSEQUENCE;
	feed_fault_add(f, class, core, e);
	if (class == FEED_SAID && core != FEED_ANY_CORE)
		f->core[core].said = true;
	if (!f->leave_ns && f->cause_at == INT64_MAX)
		f->cause_at = now_ns + FEED_CAUSE_NS;
	feed_step(f);
}

void
feed_data_failed(struct feed *f, int64_t now_ns, const struct err *e)
{
	f->now = now_ns;
	if (f->over || f->leave_ns)
		return;
	/* After a core's failure the data's is no more than a consequence. */
	feed_fault_add(f, f->n_fault ? FEED_CONSEQUENCE : FEED_BY_DATA, FEED_ANY_CORE, e);
	if (f->n_fault == 1)
		feed_decide(f);
	feed_step(f);
}

/* Ends of cores */

void
feed_gone(struct feed *f, int64_t now_ns, uint32_t core)
{
	struct feed_core *k = &f->core[core];
	struct err e;

	f->now = now_ns;
	if (k->gone)
		return;
	k->gone = true;
	feed_idle_end(f, core);
	if (f->c.ours && !k->bye && !k->said && !k->leaving) {
		err_set(&e, ST_TEMP, "%s closed its connection in step %llu", feed_name(f, core), (unsigned long long)k->done);
		feed_core_failed(f, now_ns, core, FEED_CONSEQUENCE, &e);
	} else if (!f->c.ours && !k->bye && !k->said && !f->leave_ns) {
		err_set(&e, ST_TEMP, "%s has gone without a word, at step %llu", feed_name(f, core),
			(unsigned long long)k->done);
		feed_core_failed(f, now_ns, core, FEED_SILENT, &e);
	}
	feed_step(f);
}

const char *
feed_at(struct feed *f, const struct feed_core *k)
{
	unsigned long long step = k->done;

	if (f->c.blind)
		step = k->taken.steps > f->c.from ? k->taken.steps - 1 : f->c.from;
	snprintf(f->at, sizeof f->at, "step %llu%s", step, f->c.blind ? " (as far as it has read)" : "");
	return f->at;
}

/* Whether there are steps that the core was given and has not taken. One that is started anew for each loop may
 * leave the rest of it. */
static bool
feed_outstanding(const struct feed *f, const struct feed_core *k)
{
	return k->done < k->told || (k->taken.more && !f->c.each_loop && f->why != FEED_END_SIGNAL);
}

/* The fault in the end of a core's process; false: it ended well. */
static bool
feed_exit_fault(struct feed *f, uint32_t core, enum feed_class *class, struct err *e)
{
	const struct feed_core *k = &f->core[core];
	int sig = WIFSIGNALED(k->status) ? WTERMSIG(k->status) : 0;
	int code = sig ? 128 + sig : WEXITSTATUS(k->status);

	*class = FEED_SILENT;
	if (sig) {
		err_set(e, (enum status)code, "%s was killed by signal %d in %s", feed_name(f, core), sig, feed_at(f, k));
		if (sig == SIGKILL)
			err_help(e, "the kernel kills for memory too: see dmesg");
		if (sig == SIGABRT || sig == SIGTERM)
			*class = FEED_CONSEQUENCE;
		return true;
	}
	if (code) {
		err_set(e, (enum status)code, "%s exited with status %d in %s", feed_name(f, core), code, feed_at(f, k));
		return true;
	}
	if (f->c.results && k->leaving && k->answered < k->told) {
		*class = FEED_SAID;
		err_set(e, ST_DATA, "%s ended, and gave no result for step %llu", feed_name(f, core),
			(unsigned long long)k->answered);
		err_help(e, "--results asks for one result a step");
		return true;
	}
	if (k->bye || (k->leaving && !feed_outstanding(f, k)))
		return false;
	err_set(e, ST_TEMP, "%s ended in %s, while steps were outstanding", feed_name(f, core), feed_at(f, k));
	err_help(e, "a core takes all steps; to end early, ask for it: feed.stop(), or --steps N");
	return true;
}

void
feed_exited(struct feed *f, int64_t now_ns, uint32_t core, int status)
{
	struct feed_core *k = &f->core[core];
	enum feed_class class;
	struct err e = { 0 };

	f->now = now_ns;
	if (k->exited)
		return;
	k->exited = k->gone = true;
	feed_idle_end(f, core);
	k->status = status;
	if (!k->termed && !f->cause && feed_exit_fault(f, core, &class, &e)) {
		if (!k->said)
			feed_core_failed(f, now_ns, core, class, &e);
	} else if (!f->cause && k->turning && !k->said) {
		k->away = true;
		k->given = k->told;
	}
	feed_step(f);
}

/* Time */

/* When a core that is to leave gets TERM or KILL next. */
static int64_t
feed_push_due(const struct feed *f, const struct feed_core *k)
{
	if (!f->leave_ns || feed_core_over(f, k) || k->killed)
		return INT64_MAX;
	return f->leave_ns + f->c.grace_ns + (k->termed ? FEED_KILL_NS : 0);
}

static void
feed_push(struct feed *f)
{
	for (uint32_t i = 0; i < f->c.cores; i++) {
		struct feed_core *k = &f->core[i];

		if (feed_push_due(f, k) > f->now)
			continue;
		feed_do(f, k->termed ? FEED_DO_KILL : FEED_DO_TERM, i);
		k->killed = k->termed;
		k->termed = true;
		/* One that is not ours cannot be made to go. */
		if (!f->c.ours)
			k->gone = k->killed = true;
	}
}

int64_t
feed_deadline(const struct feed *f)
{
	int64_t at = f->cause_at;

	if (f->over)
		return INT64_MAX;
	if (f->c.wait_cores_ns && !feed_joined(f) && !f->leave_ns && f->started_ns + f->c.wait_cores_ns < at)
		at = f->started_ns + f->c.wait_cores_ns;
	for (uint32_t i = 0; i < f->c.cores; i++) {
		int64_t due = feed_push_due(f, &f->core[i]);

		at = due < at ? due : at;
	}
	int64_t idle = feed_idle_due(f);
	at = idle < at ? idle : at;
	return at;
}

void
feed_tick(struct feed *f, int64_t now_ns)
{
	struct err e;
	uint32_t missing = 0;

	f->now = now_ns;
	if (f->over)
		return;
	for (uint32_t i = 0; i < f->c.cores; i++)
		missing += !f->core[i].joined;
	if (missing && f->c.wait_cores_ns && !f->leave_ns && f->started_ns + f->c.wait_cores_ns <= now_ns && !f->n_fault) {
		char long_[FEED_TIME];

		err_set(&e, ST_UNAVAIL, "%u of %u core%s did not come within %s", missing, f->c.cores, str_s(f->c.cores),
			feed_time(f->c.wait_cores_ns, long_));
		err_help(&e, "cores find the feed by DSVC_FEED; --wait-cores waits longer");
		feed_fault_add(f, FEED_BY_DATA, FEED_ANY_CORE, &e);
		feed_decide(f);
	}
	feed_idle_tick(f);
	if (f->cause_at <= now_ns)
		feed_decide(f);
	feed_push(f);
	feed_step(f);
}

/* The end of the steps */

/* Tells each core that was told of all steps; over when all have gone. */
void
feed_finish(struct feed *f)
{
	if (f->over)
		return;
	if (f->cause_at != INT64_MAX && feed_cores_over(f))
		feed_decide(f);
	bool all = true;
	for (uint32_t i = 0; i < f->c.cores; i++) {
		struct feed_core *k = &f->core[i];

		if (!f->leave_ns && f->fixed && k->told == f->last && !k->leaving && k->joined && f->cause_at == INT64_MAX) {
			k->leaving = k->ended = true;
			feed_idle_end(f, i);
			feed_do(f, FEED_DO_END, i);
		}
		/* Cores that are not ours, and have not come, need not come any more. */
		k->leaving = k->leaving || (!k->joined && !f->c.ours && f->why == FEED_END_SIGNAL);
		all = all && k->leaving && (feed_core_over(f, k) || (!f->c.ours && k->bye)) &&
			(!k->turning || f->leave_ns || (f->fixed && k->told >= f->last));
	}
	if (!all || f->cause_at != INT64_MAX)
		return;
	f->over = true;
	feed_do(f, FEED_DO_OVER, FEED_ANY_CORE);
}

const struct feed_fault *
feed_cause(const struct feed *f)
{
	return f->cause ? &f->fault[f->cause - 1] : NULL;
}

size_t
feed_faults(const struct feed *f, const struct feed_fault **v)
{
	*v = f->fault;
	return f->n_fault;
}

void
feed_end(const struct feed *f, struct feed_end *out)
{
	*out = (struct feed_end){ .why = f->why, .step = f->last, .text = (char *)(uintptr_t)f->text };
}

void
feed_core_end(const struct feed *f, uint32_t core, struct feed_end *out)
{
	feed_end(f, out);
	if (!f->core[core].turning || (f->fixed && f->core[core].told >= f->last))
		return;
	out->why = FEED_END_STEPS;
	out->step = f->core[core].told;
}
