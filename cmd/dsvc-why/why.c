/* SPDX-License-Identifier: MIT */
#include "why.h"

#include <inttypes.h>
#include <poll.h>
#include <string.h>

#include "base/clock.h"
#include "host/limit.h"
#include "cli/quit.h"
#include "core/disp/dispatcher.h"
#include "host/job_plan.h"
#include "host/pass.h"
#include "value/format/format.h"
#include "value/record_put.h"

enum { WHY_LOOK_MS = 300 };            /* between two looks, while nothing can be said yet */
#define WHY_WAIT_NS 4000000000LL       /* no longer than that */

/* The answer, and what it was made of. */
struct answer {
	struct slice job, pass;
	struct limit limit;
	struct plan *plan;     /* NULL: the operators are not known */
};

static bool
why_live(struct slice job)
{
	struct slice p;

	return pass_of_job(job, &p) && pass_live(p);
}

/* A job as users call it. */
static void
why_name(struct slice job, struct buf *out)
{
	struct mp name = record_text(job, "name");

	if (!name.n)
		buf_printf(out, "%" PRIu64, record_uint(job, "job"));
	buf_plain(out, name.p, name.n, '?');
}

/* The job that is meant; where none is named, the one that is under way, or that was read last. */
static enum status
why_job(struct slice report, const char *given, struct slice *job, struct err *e)
{
	struct record_items it = record_list(report, "jobs");
	struct slice j;
	struct buf names = { 0 };
	unsigned n = 0;

	*job = (struct slice){ 0 };
	while (record_next(&it, &j)) {
		if (why_live(j)) {
			buf_str(&names, n++ ? ", " : "");
			why_name(j, &names);
		}
		if (given || !job->p || why_live(j))
			*job = j;
	}
	enum status st = ST_OK;
	if (!job->p) {
		st = err_set(e, ST_NOINPUT, "there is no job");
	} else if (n > 1 && !given) {
		st = err_set(e, ST_USAGE, "%u jobs are under way", n);
		err_help(e, "name one of them: %.*s", names.len > 400 ? 400 : (int)names.len, (char *)names.data);
	}
	buf_clear(&names);
	return st;
}

static void
why_json(const struct answer *a, struct buf *say, struct buf *cure, struct buf *out)
{
	const struct limit *l = &a->limit;
	struct buf b = { 0 };

	buf_byte(say, '\0');
	buf_byte(cure, '\0');
	record_put_head(&b, 15);
	record_put_uint(&b, "job", record_uint(a->job, "job"));
	record_put_mp(&b, "name", record_text(a->job, "name"));
	record_put_uint(&b, "epoch", record_uint(a->pass, "epoch"));
	record_put_mp(&b, "state", record_text(a->pass, "state"));
	record_put_text(&b, "limit", limit_word(l->kind));
	record_put_text(&b, "text", (char *)say->data);
	record_put_text(&b, "help", (char *)cure->data);
	record_put_uint(&b, "operator", l->most.place);
	record_put_text(&b, "operator_text", l->most.text ? l->most.text : "");
	record_put_float(&b, "operator_share", l->most.share);
	record_put_float(&b, "reader_wait_ratio", l->waits);
	record_put_float(&b, "reader_blocked_ratio", l->blocked);
	record_put_float(&b, "slot_held_ratio", l->held);
	record_put_uint(&b, "slots", l->slots);
	record_put_uint(&b, "slots_most", l->usable);
	json_print(b.data, b.len, out);
	buf_clear(&b);
}

static enum status
why_say(const struct why *o, const struct answer *a, struct err *e)
{
	struct buf out = { 0 }, say = { 0 }, cure = { 0 };

	limit_say(&a->limit, &say);
	limit_cure(&a->limit, &cure);
	if (o->json) {
		why_json(a, &say, &cure, &out);
	} else {
		why_name(a->job, &out);
		buf_printf(&out, ", pass %" PRIu64 ": ", record_uint(a->pass, "epoch"));
		buf_put(&out, say.data, say.len);
		buf_str(&out, cure.len ? "; " : "");
		buf_put(&out, cure.data, cure.len);
	}
	buf_byte(&out, '\n');
	enum status st = quit_say(&out, e);
	buf_clear(&out);
	buf_clear(&say);
	buf_clear(&cure);
	return st;
}

/* One look; ST_SKIP: nothing can be said yet, and `last` is false. */
static enum status
why_look(const struct why *o, struct tool *t, const char *given, struct answer *a, bool last, struct err *e)
{
	struct msg reply;
	struct msg_status ask = { .what = REPORT_BRIEF, .job = (char *)(uintptr_t)given, .recent = given ? 0 : 1 };
	enum status st = tool_report(t, &ask, &reply, e);

	if (st != ST_OK)
		return st;
	struct slice report = tool_record(&reply);
	st = why_job(report, given, &a->job, e);
	if (st == ST_OK && !pass_of_job(a->job, &a->pass))
		st = err_set(e, ST_NOINPUT, "no pass of this job has begun");
	if (st == ST_OK) {
		if (!a->plan)
			a->plan = job_plan_get(t, record_text(a->job, "dataset"));
		limit_find(report, a->job, a->pass, a->plan, &a->limit);
		st = a->limit.kind == LIMIT_UNKNOWN && !last ? ST_SKIP : why_say(o, a, e);
	}
	msg_clear(&reply);
	return st;
}

enum status
why_run(const struct why *o, const struct endpoint *ep, const char *job, struct err *e)
{
	struct tool *t;
	struct answer a = { 0 };
	int64_t until = clock_mono_ns() + WHY_WAIT_NS;
	enum status st = tool_open(ep->address, ep->from, &t, e);

	if (st != ST_OK)
		return st;
	while ((st = why_look(o, t, job, &a, clock_mono_ns() >= until, e)) == ST_SKIP)
		poll(NULL, 0, WHY_LOOK_MS);
	plan_free(&a.plan);
	tool_close(&t);
	return st;
}
