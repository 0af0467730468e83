/* SPDX-License-Identifier: MIT */
#include "lang/planner.h"

bool
plan_skips_nulls(const struct planner *pl, const struct tree_stage *s)
{
	return (s->nulls ? s->nulls : pl->plan->options.nulls ? pl->plan->options.nulls : "")[0] == 's';
}

struct op_typing
plan_typing(const struct planner *pl, const struct tree_stage *s, const struct type *outer)
{
	return (struct op_typing){
		.arena = pl->plan->arena,
		.file = s->text->file, .text = s->text->data, .text_len = s->text->len,
		.outer = outer,
		.service = pl->src->service,
		.json = pl->plan->options.json,
		.skips_nulls = plan_skips_nulls(pl, s),
	};
}

enum status
plan_fail_at(struct planner *pl, const struct tree_stage *s, size_t at, size_t len, enum status st)
{
	pl->e->kind = st;
	if (!pl->e->line)
		err_place(pl->e, s->text->file, s->text->data, s->text->len, at, len);
	return st;
}

enum status
plan_fail_on(struct planner *pl, const struct op_node *n, enum status st)
{
	const struct tree_stage *s = pl->ops[n->place - 1].stage;

	return plan_fail_at(pl, s, s->at, s->len, st);
}
