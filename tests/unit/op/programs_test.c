/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "op/facts.h"
#include "op/programs.h"
#include "plan_help.h"

static void
programs_see(void *arg, struct op_node *n)
{
	const struct op_node **last = arg;

	if (op_programs_run(n))
		*last = n;
}

/* The operator that keeps what the last program of the plan gives; NULL: none does. */
static const char *
keeper(const char *spec)
{
	struct plan *p = plan_from(spec);
	const struct op_node *run = NULL, *keeps = NULL;

	op_each_here(p->top, programs_see, &run);
	assert_non_null(run);
	const char *name = op_programs_passed(p->top, run, &keeps) ? NULL : keeps->desc->name;
	plan_free(&p);
	return name;
}

static void
what_keeps_the_answers_of_a_program_is_found(void **state)
{
	(void)state;
	assert_null(keeper("range 3 | exec -- cat"));
	assert_null(keeper("range 3 | batch 2 | exec -- cat | map x | filter len(x) > 0"));
	assert_null(keeper("concat (range 3 | exec -- cat) (range 2) | map x"));
	assert_string_equal(keeper("range 3 | exec -- cat | map x | count"), "count");
	assert_string_equal(keeper("range 3 | exec -- cat | map x parallel=2"), "map");
	assert_string_equal(keeper("zip (range 3 | exec -- cat) (range 3)"), "zip");
	assert_string_equal(keeper("range 3 | interleave (range 2 | exec -- cat)"), "interleave");
}

static void
programs_count(void *arg, struct op_node *n)
{
	*(unsigned *)arg += op_programs_run(n) + 100u * op_programs_pair(n);
}

static void
each_program_of_a_plan_is_seen_once(void **state)
{
	struct plan *p = plan_from("concat (range 3 | exec -- cat) (range 2 | sh cat | exec proto=stream -- cat) "
				   "| tee (| exec -- cat | print)");
	unsigned n = 0;

	(void)state;
	op_each_here(p->top, programs_count, &n);
	assert_int_equal(n, 304);
	plan_free(&p);
}
