/* SPDX-License-Identifier: MIT */
#include "host/job_plan.h"

#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "op/facts.h"

struct plan *
job_plan_get(struct tool *t, struct mp dataset)
{
	struct msg ask = { .type = MSG_GET }, reply = { 0 };
	struct plan *plan = NULL;
	struct err e = { 0 };

	if (!dataset.n)
		return NULL;
	ask.get.id = mem_strndup((const char *)dataset.p, dataset.n);
	if (tool_ask(t, &ask, &reply, &e) == ST_OK && reply.type == MSG_DATASET && reply.dataset.spec) {
		struct spec_src src = { .text = reply.dataset.spec, .len = strlen(reply.dataset.spec),
			.flags = SPEC_NO_CHECK };

		if (plan_make(&src, &plan, &e) != ST_OK)
			plan = NULL;
	}
	msg_clear(&reply);
	mem_free(ask.get.id);
	return plan;
}

static bool
job_plan_at(void *place, const struct op_node *n)
{
	return n->place == *(const uint32_t *)place;
}

/* Operators by their name. */
struct job_plan_names {
	const char *name;   /* NULL: all */
	uint32_t n, place;  /* so many have it; the number of the last one */
	struct buf list;    /* for messages */
};

static bool
job_plan_named(void *arg, const struct op_node *n)
{
	struct job_plan_names *f = arg;

	if (!n->text || (f->name && strcmp(n->desc->name, f->name) != 0))
		return false;
	if (f->list.len < ERR_HELP)
		buf_printf(&f->list, "%s%u `%s`", f->n ? ", " : "", n->place, op_text(n));
	f->n++;
	f->place = n->place;
	return false;
}

enum status
job_plan_place(const struct plan *plan, const char *text, uint32_t *place, struct err *e)
{
	struct job_plan_names f = { .name = text };
	int64_t number;

	if (text && str_int(text, strlen(text), &number) && number > 0 &&
	    number <= (plan ? (int64_t)plan->n_ops : INT32_MAX)) {
		*place = (uint32_t)number;
		return ST_OK;
	}
	if (!plan) {
		err_set(e, ST_UNAVAIL, "the pipeline of this job cannot be planned here");
		err_help(e, "give the number of an operator, from 1 for the source on");
		return ST_UNAVAIL;
	}
	if (!text) {
		*place = plan->top->place;
		return ST_OK;
	}
	op_node_find(plan->top, job_plan_named, &f);
	*place = f.place;
	enum status st = f.n == 1 ? ST_OK :
		err_set(e, ST_USAGE, f.n ? "several operators are called `%s`" : "no operator is called `%s`", text);
	if (!f.n) {
		f.name = NULL;
		op_node_find(plan->top, job_plan_named, &f);
	}
	if (st != ST_OK)
		err_help(e, "give the number of one: %.*s", (int)f.list.len, (char *)f.list.data);
	buf_clear(&f.list);
	return st;
}

bool
job_plan_about(const struct plan *plan, uint32_t place, struct job_plan_op *out)
{
	const struct op_node *n = plan ? op_node_find(plan->top, job_plan_at, &place) : NULL;

	if (!n)
		return false;
	*out = (struct job_plan_op){ .text = op_text(n), .source = n->desc->kind == OP_SOURCE };
	for (const struct param *r = n->desc->params; r && r->kind; r++)
		out->parallel |= !strcmp(r->name, "parallel");
	return true;
}
