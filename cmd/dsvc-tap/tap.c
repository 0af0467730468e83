/* SPDX-License-Identifier: MIT */
#include "tap.h"

#include <poll.h>

#include "base/log.h"
#include "cli/output.h"
#include "core/disp/dispatcher.h"
#include "host/job_plan.h"

enum { TAP_LOOK_MS = 100 }; /* between two questions */

struct tapping {
	const struct tap *o;
	struct tool *tool;
	struct output *out;
	struct msg ask;        /* TAP, with the job's name lent */
	uint64_t printed, left_out;
};

/* Finds the number of the operator that is meant. */
static enum status
tap_place(struct tool *t, const char *job, const char *op, uint32_t *place, struct err *e)
{
	struct msg reply;
	struct record_items it;
	struct slice found = { 0 };
	enum status st = tool_report(t, &(struct msg_status){ .what = REPORT_BRIEF, .job = (char *)(uintptr_t)job },
				     &reply, e);

	if (st != ST_OK)
		return st;
	it = record_list(tool_record(&reply), "jobs");
	record_next(&it, &found);
	struct plan *plan = job_plan_get(t, record_text(found, "dataset"));
	msg_clear(&reply);
	st = job_plan_place(plan, op, place, e);
	plan_free(&plan);
	return st;
}

/* Prints what came, as far as it is wanted. */
static enum status
tap_print(struct tapping *t, const struct msg_tapped *m, struct err *e)
{
	const uint8_t *p = m->elements.p, *end = p ? p + m->elements.n : p;
	uint64_t n = 0, want = (uint64_t)t->o->count - t->printed;

	for (; p < end && n < want; n++) {
		p = mp_skip(p, end);
		if (!p)
			return err_set(e, ST_PROTO, "the dispatcher sent an element that is none");
	}
	t->printed += n;
	t->left_out += m->left_out;
	enum status st = n ? output_bytes(t->out, m->elements.p, (size_t)(p - m->elements.p), n, e) : ST_OK;
	return st == ST_OK ? output_flush(t->out, e) : st;
}

/* One question and its answer; ST_END: nothing more comes, or is wanted. */
static enum status
tap_look(struct tapping *t, struct err *e)
{
	uint64_t want = (uint64_t)t->o->count - t->printed;
	struct msg reply;

	t->ask.tap.n = want < WIRE_TAP_MAX ? (uint32_t)want : WIRE_TAP_MAX;
	enum status st = tool_ask(t->tool, &t->ask, &reply, e);
	if (st != ST_OK)
		return st;
	if (reply.type != MSG_TAPPED) {
		msg_clear(&reply);
		return err_set(e, ST_PROTO, "the dispatcher sent an unexpected answer");
	}
	t->ask.tap.iteration = reply.tapped.key.iteration;
	st = tap_print(t, &reply.tapped, e);
	if (st == ST_OK && (reply.tapped.over || t->printed == (uint64_t)t->o->count))
		st = ST_END;
	msg_clear(&reply);
	return st;
}

static enum status
tap_loop(struct tapping *t, struct err *e)
{
	enum status st;

	while ((st = tap_look(t, e)) == ST_OK)
		poll(NULL, 0, TAP_LOOK_MS);
	if (t->left_out)
		log_say(LOG_WARN, "%llu element%s left out: those of more than 64 KiB are not shown",
			(unsigned long long)t->left_out, t->left_out == 1 ? " was" : "s were");
	if (st == ST_NOINPUT && t->printed) /* the pass was over, and has been forgotten */
		st = ST_END;
	if (st == ST_END && !t->printed)
		return err_set(e, ST_NOINPUT, "no element came before the pass was over");
	return st == ST_END ? ST_OK : st;
}

enum status
tap_run(const struct tap *o, const struct endpoint *ep, const char *job, const char *op, struct err *e)
{
	struct tapping t = { .o = o, .ask = { .type = MSG_TAP, .tap.job = (char *)(uintptr_t)job } };
	struct output_conf conf = { .format = (enum format_kind)o->format, .form.json = json_rules_shown };
	enum status st = output_open(&conf, &t.out, e), closed;
	struct err late;

	if (st != ST_OK)
		return st;
	st = tool_open(ep->address, ep->from, &t.tool, e);
	if (st == ST_OK)
		st = tap_place(t.tool, job, op, &t.ask.tap.place, e);
	if (st == ST_OK)
		st = tap_loop(&t, e);
	tool_close(&t.tool);
	closed = output_close(&t.out, st == ST_OK, st == ST_OK ? e : &late);
	return st == ST_OK ? closed : st;
}
