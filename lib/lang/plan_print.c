/* SPDX-License-Identifier: MIT */
#include "lang/spec.h"

#include "value/json.h"

static void plan_print_node(const struct op_node *n, int depth, struct buf *out);

static void
plan_print_inner(const struct op_node *n, int depth, struct buf *out)
{
	for (const struct param *r = n->desc->params; r && r->kind; r++) {
		struct op_node **inner = (struct op_node **)((char *)n->params + r->offset);
		if (r->kind == PARAM_PIPE && *inner && n->desc->kind == OP_TRANSFORM)
			plan_print_node(*inner, depth + 1, out);
	}
	if (n->desc->kind == OP_COMBINE)
		for (size_t i = 0; i < n->n_in; i++)
			plan_print_node(n->in[i], depth + 1, out);
}

static void
plan_print_op(const struct op_node *n, int depth, struct buf *out)
{
	static const char *const scopes[] = { "element", "stream", "global" };
	struct buf text = { 0 };
	if (n->remote_spec)
		buf_printf(out, "   %*son workers: %s\n", depth * 2, "", n->remote_spec);
	size_t start = out->len;

	canon_print_stage(n, 0, &text);
	buf_printf(out, "%2u %*s%s", n->place, depth * 2, "", (char *)text.data);
	while (out->len - start < 40)
		buf_byte(out, ' ');
	buf_printf(out, " %-8s", n->per_stream ? "stream" : scopes[n->desc->scope]);
	type_print(n->type, out);
	if (n->project) {
		buf_str(out, "  reads");
		for (size_t i = 0; i < n->project->n; i++)
			buf_printf(out, " .%s", n->project->names[i]);
		if (!n->project->n)
			buf_str(out, " no field");
	}
	if (n->desc->kind != OP_TRANSFORM && op_can_split(n))
		buf_str(out, "  splits");
	buf_byte(out, '\n');
	buf_clear(&text);
	plan_print_inner(n, depth, out);
}

static void
plan_print_node(const struct op_node *n, int depth, struct buf *out)
{
	if (n->desc->kind == OP_TRANSFORM && n->n_in)
		plan_print_node(n->in[0], depth, out);
	plan_print_op(n, depth, out);
}

void
plan_print(const struct plan *p, struct buf *out)
{
	plan_print_node(p->top, 0, out);
}
