/* SPDX-License-Identifier: MIT
 *
 * --joblog where programs run on workers. The last operator there gives a record about each element, from
 * which whoever reads them takes row and answers:
 *
 *	A | exec P | distribute | B -> A | exec P log=true | distribute | (rows, answers) | B
 *
 * So a row is delivered once, with its answers, whatever happens to workers.
 */
#include "lang/planner.h"
#include "op/facts.h"
#include "op/program_row.h"

struct logged {
	const struct op_node *top, *other; /* other: runs programs, too; NULL: none does */
	bool any;
};

static void
logged_look(void *arg, struct op_node *n)
{
	struct logged *l = arg;

	if (!op_programs_run(n))
		return;
	l->any = true;
	if (n != l->top)
		l->other = n;
}

static enum status
logged_refuse(struct planner *pl, const struct op_node *top, const struct op_node *other)
{
	const struct op_node *n = other ? other : top;
	const struct tree_stage *s = pl->ops[n->place - 1].stage;

	if (!other) {
		err_set(pl->e, ST_USAGE, "--joblog: proto=stream pairs no answers with elements");
		err_help(pl->e, "proto=line and arg do");
	} else if (op_programs_run(top)) {
		err_set(pl->e, ST_USAGE, "--joblog: on workers only the last operator is logged, and this one runs programs, too");
		err_help(pl->e, "put `distribute` right behind it; what comes after that runs here");
	} else {
		err_set(pl->e, ST_USAGE, "--joblog: on workers only the last operator is logged, and `%s` stands behind this one",
			op_text(top));
		err_help(pl->e, "put `distribute` right behind it; what comes after that runs here");
	}
	return plan_fail_at(pl, s, s->at, s->len, ST_USAGE);
}

static bool *
logged_param(const struct op_node *n, uint64_t *bit)
{
	const struct param *row = param_find(n->desc->params, "log", 3);

	*bit = (uint64_t)1 << (row - n->desc->params);
	return (bool *)((char *)n->params + row->offset);
}

enum status
plan_logged(struct planner *pl, struct op_node *top, const struct type **type, bool *logged)
{
	struct logged l = { .top = top };
	uint64_t bit;

	op_each_here(top, logged_look, &l);
	if (!l.any)
		return ST_OK;
	if (l.other || !op_programs_pair(top))
		return logged_refuse(pl, top, l.other);
	bool *log = logged_param(top, &bit);
	const struct type *answer = *log ? program_row_answer(top->type) : NULL;
	if (answer)
		*type = answer;
	*log = *logged = true;
	top->given |= bit;
	return ST_OK;
}
