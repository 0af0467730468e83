/* SPDX-License-Identifier: MIT */
#include "lang/explain.h"

#include <inttypes.h>

#include "base/json_text.h"
#include "expr/condition.h"
#include "expr/needle.h"
#include "value/json/json.h"
#include "op/facts.h"

struct plan_printing {
	struct buf *out;
	bool counts; /* print how many elements each operator gives */
};

static void plan_print_node(struct plan_printing *p, const struct op_node *n, int depth);

static void
plan_print_inner(struct plan_printing *p, const struct op_node *n, int depth)
{
	for (const struct param *r = n->desc->params; r && r->kind; r++) {
		struct op_node **inner = (struct op_node **)((char *)n->params + r->offset);
		if (r->kind == PARAM_PIPE && *inner && n->desc->kind == OP_TRANSFORM)
			plan_print_node(p, *inner, depth + 1);
	}
	if (n->desc->kind == OP_COMBINE)
		for (size_t i = 0; i < n->n_in; i++)
			plan_print_node(p, n->in[i], depth + 1);
}

static void
plan_print_count(int64_t count, struct buf *out)
{
	if (count == INT64_MAX)
		buf_str(out, "  without end");
	else if (count >= 0)
		buf_printf(out, "  %" PRId64 " element%s", count, count == 1 ? "" : "s");
}

/* Texts of which every line that the filter lets through holds one. */
static void
plan_print_needles(const struct needles *k, struct buf *out)
{
	for (size_t i = 0; i < k->n; i++) {
		char text[NEEDLE_LEN * JSON_TEXT_MOST];
		const char *end = json_text(text, text + sizeof text, (const char *)k->v[i].s, k->v[i].n);

		buf_printf(out, "%s\"%.*s\"", !i ? "  searches for " : i + 1 < k->n ? ", " : " or ", (int)(end - text), text);
	}
}

static void
plan_print_op(struct plan_printing *p, const struct op_node *n, int depth)
{
	struct buf *out = p->out;
	static const char *const scopes[] = { "element", "stream", "global" };
	struct buf text = { 0 };
	if (n->remote_spec)
		buf_printf(out, "   %*son workers: %s\n", depth * 2, "", n->remote_spec);
	size_t start = out->len;

	canon_print_stage(n, 0, &text);
	buf_printf(out, "%2u %*s%s", n->place, depth * 2, "", (char *)text.data);
	while (out->len - start < 40)
		buf_byte(out, ' ');
	buf_printf(out, " %-8s", n->permutes ? "source" : n->per_stream ? "stream" : scopes[op_scope_of(n)]);
	type_print(n->type, out);
	if (p->counts)
		plan_print_count(op_elements_of(n), out);
	if (n->project) {
		buf_str(out, "  reads");
		for (size_t i = 0; i < n->project->n; i++)
			buf_printf(out, " .%s", n->project->names[i]);
		if (!n->project->n)
			buf_str(out, " no field");
	}
	if (n->needles && n->desc->flags & OP_SEEKS)
		plan_print_needles(n->needles, out);
	if (n->tests) {
		buf_str(out, "  skips rows unless ");
		conditions_print(n->tests, out);
	}
	if ((n->desc->kind != OP_TRANSFORM || n->permutes) && op_can_split(n))
		buf_str(out, "  splits");
	buf_byte(out, '\n');
	buf_clear(&text);
	plan_print_inner(p, n, depth);
}

static void
plan_print_node(struct plan_printing *p, const struct op_node *n, int depth)
{
	if (n->desc->kind == OP_TRANSFORM && n->n_in)
		plan_print_node(p, n->in[0], depth);
	plan_print_op(p, n, depth);
}

void
plan_print(const struct plan *plan, struct buf *out)
{
	struct plan_printing p = { .out = out };

	plan_print_node(&p, plan->top, 0);
}

void
plan_print_counted(const struct plan *plan, struct buf *out)
{
	struct plan_printing p = { .out = out, .counts = true };

	plan_print_node(&p, plan->top, 0);
}
