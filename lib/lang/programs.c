/* SPDX-License-Identifier: MIT
 *
 * What options say about programs that run on workers, put into the pipeline that they run. --joblog and
 * --halt: the last operator there gives a record about each element, from which whoever reads them takes row
 * and answers. --tag: its answers begin with their elements, which holds for one that runs here, too.
 *
 *	A | exec P | distribute | B -> A | exec P log=true | distribute | (rows, answers) | B
 *
 * So a row is delivered once, with its answers, whatever happens to workers.
 */
#include <string.h>

#include "lang/planner.h"
#include "op/facts.h"
#include "op/program_row.h"

struct programs {
	const struct op_node *top, *other; /* other: runs programs, too; NULL: none does */
	bool any;
};

static void
programs_look(void *arg, struct op_node *n)
{
	struct programs *l = arg;

	if (!op_programs_run(n))
		return;
	l->any = true;
	if (n != l->top)
		l->other = n;
}

static const char *
programs_option(const struct planner *pl)
{
	return pl->src->flags & SPEC_HALTED ? "--halt" : "--joblog";
}

static enum status
programs_refuse(struct planner *pl, const struct op_node *top, const struct op_node *other)
{
	const char *option = programs_option(pl);

	if (!other) {
		err_set(pl->e, ST_USAGE, "%s: proto=stream pairs no answers with elements", option);
		err_help(pl->e, "proto=line and arg do");
		return plan_fail_on(pl, top, ST_USAGE);
	}
	if (op_programs_run(top))
		err_set(pl->e, ST_USAGE, "%s: on workers it is for the last operator only, and this one runs programs, too", option);
	else
		err_set(pl->e, ST_USAGE, "%s: on workers it is for the last operator only, and `%s` stands behind this one", option,
			op_text(top));
	err_help(pl->e, "put `distribute` right behind it; what comes after that runs here");
	return plan_fail_on(pl, other, ST_USAGE);
}

/* Sets a parameter that is true or false, and sees whether the operator takes it. */
static enum status
programs_set(struct planner *pl, struct op_node *n, const char *name)
{
	const struct param *row = param_find(n->desc->params, name, strlen(name));
	struct op_typing t = plan_typing(pl, pl->ops[n->place - 1].stage, NULL);

	*(bool *)((char *)n->params + row->offset) = true;
	n->given |= (uint64_t)1 << (row - n->desc->params);
	enum status st = n->desc->typing(n, &t, &n->type, pl->e);
	return st == ST_OK ? ST_OK : plan_fail_on(pl, n, ST_USAGE);
}

enum status
plan_log(struct planner *pl, struct op_node *top, const struct type **type, struct op_logged *logged)
{
	struct programs l = { .top = top };

	if (!(pl->src->flags & (SPEC_LOGGED | SPEC_HALTED)))
		return ST_OK;
	op_each_here(top, programs_look, &l);
	if (!l.any)
		return ST_OK;
	if (l.other || !op_programs_pair(top))
		return programs_refuse(pl, top, l.other);
	if (pl->src->flags & SPEC_HALTED && top->on_error == OP_FAIL) {
		top->on_error = OP_SKIP;
		logged->strict = true;
	}
	enum status st = programs_set(pl, top, "log");
	const struct type *answer = st == ST_OK ? program_row_answer(top->type) : NULL;
	if (answer)
		*type = answer;
	logged->is = true;
	return st;
}

enum status
plan_tag(struct planner *pl, struct op_node *top)
{
	if (!(pl->src->flags & SPEC_TAGGED))
		return ST_OK;
	if (op_programs_pair(top))
		return programs_set(pl, top, "tag");
	err_set(pl->e, ST_USAGE, "--tag: the last operator, `%s`, gives no elements to programs", op_text(top));
	err_help(pl->e, "into= of exec puts an answer beside its element anywhere");
	return plan_fail_on(pl, top, ST_USAGE);
}
