/* SPDX-License-Identifier: MIT
 *
 * Which top-level fields of its elements a source has to give: walking down from
 * the end, each operator that looks at its input through expressions only adds
 * the fields these read. Where that cannot be told, all are needed. And a source
 * right before a filter is told what that looks for and asks, and one right before count that it is that.
 */
#include <string.h>

#include "base/mem.h"
#include "expr/condition.h"
#include "lang/planner.h"
#include "value/json/json.h"

enum { PROJECT_MAX = 64, PROJECT_TESTS = 16 };

struct project {
	bool all;
	const char *names[PROJECT_MAX];
	size_t n;
};

static void
project_add(struct project *need, const char *name)
{
	for (size_t i = 0; i < need->n; i++)
		if (!strcmp(need->names[i], name))
			return;
	if (need->n == PROJECT_MAX)
		need->all = true;
	else
		need->names[need->n++] = name;
}

static void
project_expr(const struct op_expr *ex, struct project *need)
{
	const char *names[PROJECT_MAX];

	if (!ex->code)
		return;
	int k = expr_fields(ex->code, names, PROJECT_MAX);
	if (k < 0 || k > PROJECT_MAX)
		need->all = true;
	for (int i = 0; i < k && !need->all; i++)
		project_add(need, names[i]);
}

/* Adds the fields that the expressions of n read. */
static void
project_exprs(const struct op_node *n, struct project *need)
{
	for (const struct param *r = n->desc->params; r && r->kind; r++) {
		const void *field = (const char *)n->params + r->offset;
		const struct op_named *named = field;

		if (r->kind == PARAM_EXPR)
			project_expr(field, need);
		for (size_t i = 0; r->kind == PARAM_NAMED && i < named->n; i++)
			project_expr(&named->v[i].of, need);
	}
}

static void
project_source(struct op_node *n, const struct project *need)
{
	struct json_fields *f;

	if (need->all || n->desc->kind != OP_SOURCE || n->project)
		return;
	f = mem_zalloc(sizeof *f);
	const char **names = mem_array(need->n + 1, sizeof *names);
	uint32_t *lens = mem_array(need->n + 1, sizeof *lens);
	for (size_t i = 0; i < need->n; i++) {
		names[i] = need->names[i]; /* lent by the expression, which lives as long */
		lens[i] = (uint32_t)strlen(names[i]);
	}
	*f = (struct json_fields){ names, lens, need->n };
	n->project = f;
}

static const struct op_expr *
project_test(const struct op_node *n)
{
	for (const struct param *r = n->desc->params; r->kind; r++)
		if (r->kind == PARAM_EXPR)
			return (const void *)((const char *)n->params + r->offset);
	return NULL;
}

/* Tells a source what the filter right behind it looks for. */
static void
project_needles(const struct op_node *n)
{
	if (n->n_in != 1 || !(n->desc->flags & OP_TESTS) || n->in[0]->desc->kind != OP_SOURCE)
		return;
	const struct op_expr *test = project_test(n);
	if (test && test->code)
		n->in[0]->needles = expr_needles(test->code);
}

/* Tells a source what the n filters behind it ask, the last of which is the nearest. */
static void
project_tests(struct op_node *source, const struct op_node *const *tests, size_t n, const struct json_rules *json)
{
	bool whole = true;

	if (!(source->desc->flags & OP_EXCLUDES) || !n || source->tests)
		return;
	source->tests = mem_zalloc(sizeof *source->tests);
	while (n-- && whole) {
		const struct op_expr *test = project_test(tests[n]);

		/* A test that counts or draws would go on differently behind what was left out; one that drops
		 * elements because of null does it for each alone. */
		whole = test && test->code && !(expr_traits(test->code) & ~(unsigned)EXPR_SKIPS)
			&& conditions_find(test->ast, tests[n]->skips_nulls, json, source->tests);
	}
	if (!source->tests->n)
		conditions_free(&source->tests);
}

/* Tells a source that the operator right behind it counts its elements and does not look at them. */
static void
project_counted(const struct op_node *n)
{
	bool counts = n->desc->flags & OP_COUNTS && (!n->given || n->desc->partwise(n, NULL));

	if (counts && n->n_in == 1 && n->in[0]->desc->kind == OP_SOURCE)
		n->in[0]->counted = true;
}

static void
project_walk(struct op_node *n, struct project need, const struct json_rules *json)
{
	const struct op_node *tests[PROJECT_TESTS];
	size_t n_tests = 0;

	for (; n->desc->kind == OP_TRANSFORM && n->n_in; n = n->in[0]) {
		unsigned flags = n->desc->flags;

		for (const struct param *r = n->desc->params; r && r->kind; r++) {
			struct op_node **inner = (struct op_node **)((char *)n->params + r->offset);
			if (r->kind == PARAM_PIPE && *inner)
				project_plan(*inner, false, json);
		}
		if (!(flags & OP_PASSES))
			need = (struct project){ .all = false };
		if (!(flags & OP_BY_EXPR) || n->on_error == OP_KEEP)
			need.all = true;
		project_exprs(n, &need);
		project_needles(n);
		project_counted(n);
		if (!(flags & OP_TESTS))
			n_tests = 0;
		else if (n_tests < PROJECT_TESTS)
			tests[n_tests++] = n;
		else
			memmove(tests, tests + 1, sizeof tests - sizeof *tests), tests[PROJECT_TESTS - 1] = n;
	}
	for (size_t i = 0; i < n->n_in; i++)
		project_plan(n->in[i], false, json);
	project_source(n, &need);
	project_tests(n, tests, n_tests, json);
}

void
project_plan(struct op_node *top, bool discard, const struct json_rules *json)
{
	project_walk(top, (struct project){ .all = !discard }, json);
}
