/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/mem.h"
#include "expr/condition.h"
#include "op/op.h"
#include "op/facts.h"
#include "value/json/json.h"

enum status
op_compile(struct op_typing *t, struct op_expr *ex, const struct type *x, const struct type *s,
	   struct err *e)
{
	struct expr_env env = {
		.arena = t->arena, .file = t->file, .text = t->text, .text_len = t->text_len,
		.skips_nulls = t->skips_nulls, .json = t->json,
	};

	env.types[EXPR_X] = x;
	env.types[EXPR_S] = s;
	env.types[EXPR_I] = type_scalar(TYPE_INT);
	env.types[EXPR_XX] = t->outer;
	expr_free(&ex->code); /* typing may try again with a wider type of s */
	ex->code = expr_compile(ex->ast, &env, e);
	return ex->code ? ST_OK : e->kind;
}

const char *
op_text(const struct op_node *n)
{
	return n->text ? n->text : n->desc->name;
}

enum status
op_blame(const struct op_node *n, struct err *e)
{
	return err_wrap(e, "operator %u `%.200s`", n->place, op_text(n));
}

static unsigned
node_expr_traits(const struct op_expr *ex)
{
	if (!ex->ast)
		return 0;
	return ex->code ? expr_traits(ex->code) : EXPR_VARIES | EXPR_SKIPS | EXPR_COUNTS;
}

unsigned
op_traits(const struct op_node *n)
{
	unsigned traits = 0;

	for (const struct param *r = n->desc->params; r && r->kind; r++) {
		const void *field = (const char *)n->params + r->offset;
		const struct op_named *named = field;

		if (r->kind == PARAM_EXPR)
			traits |= node_expr_traits(field);
		for (size_t k = 0; r->kind == PARAM_NAMED && k < named->n; k++)
			traits |= node_expr_traits(&named->v[k].of);
	}
	for (size_t k = 0; k < n->n_binds; k++)
		traits |= node_expr_traits(&n->binds[k].value);
	return traits;
}

bool
op_is_local(const struct op_node *n)
{
	bool local = (n->desc->flags & OP_LOCAL) != 0;

	if (n->desc->kind != OP_SOURCE)
		return local;
	for (const struct param *r = n->desc->params; r && r->kind; r++) {
		const struct words *w = (const void *)((const char *)n->params + r->offset);
		if (r->kind != PARAM_WORDS || !(r->flags & PARAM_PATH))
			continue;
		for (size_t i = 0; i < w->n; i++)
			local |= !strcmp(w->v[i], "-");
	}
	return local;
}

static void
node_expr_free(struct op_expr *ex)
{
	expr_free(&ex->code);
	expr_ast_free(&ex->ast);
}

/* Frees a pipeline among the parameters, unless it is an input too, which is freed as such. */
static void
node_pipe_free(const struct op_node *n, struct op_node **pipe)
{
	for (size_t j = 0; j < n->n_in; j++)
		if (n->in[j] == *pipe)
			*pipe = NULL;
	op_node_free(pipe);
}

static void
node_pipes_free(const struct op_node *n, struct op_pipes *p)
{
	for (size_t k = 0; k < p->n; k++) {
		node_pipe_free(n, &p->v[k]);
		if (p->names)
			mem_free(p->names[k]);
	}
	mem_free(p->v);
	mem_free(p->names);
	*p = (struct op_pipes){ 0 };
}

static void
node_named_free(struct op_named *named)
{
	for (size_t k = 0; k < named->n; k++) {
		expr_free(&named->v[k].of.code);
		expr_ast_free(&named->v[k].ast);
		mem_free(named->v[k].name);
	}
	mem_free(named->v);
	*named = (struct op_named){ 0 };
}

static void
node_params_free(struct op_node *n)
{
	for (const struct param *r = n->desc->params; r && r->kind != PARAM_NONE; r++) {
		void *field = (char *)n->params + r->offset;

		switch (r->kind) {
		case PARAM_VALUE:
			buf_clear(field);
			break;
		case PARAM_EXPR:
			node_expr_free(field);
			break;
		case PARAM_PIPE:
			node_pipe_free(n, field);
			break;
		case PARAM_PIPES:
			node_pipes_free(n, field);
			break;
		case PARAM_FRAGMENT:
			op_node_free(&((struct op_fragment *)field)->tail);
			((struct op_fragment *)field)->head = NULL;
			break;
		case PARAM_COMMAND:
			words_clear(field);
			break;
		case PARAM_NAMED:
			node_named_free(field);
			break;
		default:
			break; /* param_clear frees the other kinds */
		}
	}
	param_clear(n->desc->params, n->params);
}

static void
node_project_free(struct op_node *n)
{
	if (!n->project)
		return;
	mem_free(n->project->names);
	mem_free((void *)n->project->lens);
	mem_free(n->project);
}

void
op_node_free(struct op_node **np)
{
	struct op_node *n = *np;

	*np = NULL;
	if (!n)
		return;
	if (n->params)
		node_params_free(n);
	mem_free(n->params);
	for (size_t k = 0; k < n->n_in; k++)
		op_node_free(&n->in[k]);
	mem_free(n->in);
	for (size_t k = 0; k < n->n_binds; k++)
		node_expr_free(&n->binds[k].value);
	mem_free(n->binds);
	mem_free(n->text);
	mem_free(n->remote_spec);
	node_project_free(n);
	conditions_free(&n->tests);
	mem_free(n);
}
