/* SPDX-License-Identifier: MIT */
#include "host/job_plan.h"

#include <string.h>

#include "base/mem.h"

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

static const struct op_node *
job_plan_find(const struct op_node *n, uint32_t place)
{
	const struct op_node *found = n->place == place ? n : NULL;

	for (size_t i = 0; i < n->n_in && !found; i++)
		found = job_plan_find(n->in[i], place);
	return found;
}

bool
job_plan_about(const struct plan *plan, uint32_t place, struct job_plan_op *out)
{
	const struct op_node *n = plan ? job_plan_find(plan->top, place) : NULL;

	if (!n)
		return false;
	*out = (struct job_plan_op){ .text = op_text(n), .source = n->desc->kind == OP_SOURCE };
	for (const struct param *r = n->desc->params; r && r->kind; r++)
		out->parallel |= !strcmp(r->name, "parallel");
	return true;
}
