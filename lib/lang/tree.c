/* SPDX-License-Identifier: MIT */
#include "lang/tree.h"

#include "base/mem.h"

struct tree_stage *
tree_stage_add(struct tree_pipe *p)
{
	struct tree_stage *s = mem_zalloc(sizeof *s);

	p->stages = mem_grow(p->stages, &p->cap, p->n + 1, sizeof(void *));
	p->stages[p->n++] = s;
	s->per_stream = -1;
	return s;
}

struct tree_arg *
tree_arg_add(struct tree_stage *s)
{
	s->args = mem_grow(s->args, &s->cap_args, s->n_args + 1, sizeof *s->args);
	s->args[s->n_args] = (struct tree_arg){ 0 };
	return &s->args[s->n_args++];
}

static void
tree_stage_free(struct tree_stage *s)
{
	for (size_t i = 0; i < s->n_args; i++) {
		mem_free(s->args[i].name);
		mem_free(s->args[i].text);
		mem_free(s->args[i].values);
		expr_ast_free(&s->args[i].ast);
		tree_pipe_free(&s->args[i].pipe);
	}
	tree_pipe_free(&s->group);
	mem_free(s->args);
	mem_free(s->on_error);
	mem_free(s);
}

void
tree_pipe_free(struct tree_pipe **p)
{
	if (!*p)
		return;
	for (size_t i = 0; i < (*p)->n; i++)
		tree_stage_free((*p)->stages[i]);
	mem_free((*p)->stages);
	mem_free((*p)->name);
	mem_free(*p);
	*p = NULL;
}

void
tree_free(struct tree **t)
{
	if (!*t)
		return;
	for (size_t i = 0; i < (*t)->lets.n; i++) {
		struct tree_pipe *p = (*t)->lets.items[i].value;
		tree_pipe_free(&p);
	}
	hash_clear(&(*t)->lets);
	tree_pipe_free(&(*t)->result);
	settings_clear(&(*t)->settings);
	spectext_free(&(*t)->texts);
	param_clear(spec_option_rows, &(*t)->options);
	mem_free((*t)->parts);
	mem_free(*t);
	*t = NULL;
}

static void
tree_indent(int depth, struct buf *out)
{
	buf_printf(out, "%*s", depth * 2, "");
}

static void
tree_print_pipe(const struct tree_pipe *p, int depth, struct buf *out);

static void
tree_print_arg(const struct tree_arg *a, int depth, struct buf *out)
{
	static const char *const kinds[] = { "scalar", "constant", "word", "expr", "outer", "pipe" };

	tree_indent(depth, out);
	buf_printf(out, "%s %s", kinds[a->kind], a->name ? a->name : a->row->name);
	if (a->text)
		buf_printf(out, " %s", a->text);
	buf_byte(out, '\n');
	if (a->ast)
		expr_print_tree(a->ast, (depth + 1) * 2, out);
	if (a->pipe)
		tree_print_pipe(a->pipe, depth + 1, out);
}

static void
tree_print_pipe(const struct tree_pipe *p, int depth, struct buf *out)
{
	if (p->fragment) {
		tree_indent(depth, out);
		buf_str(out, "fragment\n");
	}
	for (size_t i = 0; i < p->n; i++) {
		const struct tree_stage *s = p->stages[i];
		tree_indent(depth, out);
		if (s->group) {
			buf_str(out, "group\n");
			tree_print_pipe(s->group, depth + 1, out);
			continue;
		}
		buf_printf(out, "%s %s\n", s->desc ? "op" : "let",
			   s->desc ? s->desc->name : s->let->name);
		for (size_t k = 0; k < s->n_args; k++)
			tree_print_arg(&s->args[k], depth + 1, out);
		if (s->on_error) {
			tree_indent(depth + 1, out);
			buf_printf(out, "scalar on_error %s\n", s->on_error);
		}
		if (s->nulls) {
			tree_indent(depth + 1, out);
			buf_printf(out, "scalar nulls %s\n", s->nulls);
		}
		if (s->per_stream >= 0) {
			tree_indent(depth + 1, out);
			buf_printf(out, "scalar per_stream %s\n", s->per_stream ? "true" : "false");
		}
	}
}

void
tree_print(const struct tree *t, struct buf *out)
{
	for (size_t i = 0; i < t->lets.n; i++) {
		const struct tree_pipe *p = t->lets.items[i].value;
		buf_printf(out, "let %s\n", p->name);
		tree_print_pipe(p, 1, out);
	}
	buf_str(out, "pipeline\n");
	tree_print_pipe(t->result, 1, out);
}
