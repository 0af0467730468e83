/* SPDX-License-Identifier: MIT
 *
 * From arguments as written to the fields of an operator's state.
 */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "fetch/url.h"
#include "lang/constant.h"
#include "lang/lex.h"
#include "lang/planner.h"
#include "op/fragment.h"
#include "op/facts.h"

struct fill {
	struct planner *pl;
	struct op_node *n;
	const struct tree_stage *s;
	const struct type *outer;
};

static enum status
fill_fail(struct fill *f, const struct tree_arg *a, const char *name, enum status st)
{
	struct err *e = f->pl->e;

	if (name)
		err_wrap(e, "%s of `%s`", name, f->n->desc->name);
	return plan_fail_at(f->pl, f->s, a->at, a->len, st == ST_USAGE ? ST_DATA : st);
}

static enum status
fill_scalar(struct fill *f, const struct tree_arg *a, const char *text, size_t n)
{
	enum status st = param_set(a->row, f->n->params, text, n, f->pl->e);

	return st ? fill_fail(f, a, a->row->name, st) : ST_OK;
}

/* The tree of an expression: at the first use of a let the parser's, later one read again,
 * since each operator owns its own. */
static struct expr_ast *
fill_ast(struct fill *f, struct tree_arg *a)
{
	struct expr_ast *ast = a->ast;

	a->ast = NULL;
	if (ast)
		return ast;
	ast = lex_expr_again(f->s->text, &f->pl->tree->settings, a->at, a->limit, a->inside,
			     f->pl->e);
	return a->match && ast ? expr_match_of(ast) : ast;
}

static enum status
fill_constant(struct fill *f, struct tree_arg *a, struct buf *out)
{
	struct expr_ast *ast = fill_ast(f, a);
	const struct spectext *t = f->s->text;

	if (!ast)
		return ST_DATA;
	enum status st = constant_value(ast, t->file, t->data, t->len, out, f->pl->e);
	expr_ast_free(&ast);
	return st ? fill_fail(f, a, NULL, st) : ST_OK;
}

static enum status
fill_const(struct fill *f, struct tree_arg *a)
{
	struct buf value = { 0 }, text = { 0 };
	enum status st = fill_constant(f, a, &value);

	if (!st && !constant_text(value.data, value.len, &text))
		st = fill_fail(f, a, a->row->name,
			       err_set(f->pl->e, ST_DATA, "a number or text is needed here"));
	else if (!st)
		st = fill_scalar(f, a, (char *)text.data, text.len);
	buf_clear(&value);
	buf_clear(&text);
	return st;
}

/* Reads a word; file names in a spec file are relative to that file's folder. */
static enum status
fill_word(struct fill *f, const struct tree_arg *a)
{
	const char *dir = f->s->text->dir;

	if ((a->row->flags & (PARAM_PATH | PARAM_URL)) == PARAM_PATH && !a->given && url_is(a->text)) {
		err_set(f->pl->e, ST_DATA, "`%s` takes names of this machine's files, and no address", f->n->desc->name);
		return fill_fail(f, a, NULL, ST_DATA);
	}
	if (!(a->row->flags & PARAM_PATH) || !dir || a->given || *a->text == '/' ||
	    !*a->text || !strcmp(a->text, "-") || url_is(a->text) || !strcmp(dir, "."))
		return fill_scalar(f, a, a->text, strlen(a->text));
	struct buf b = { 0 };
	for (; *dir; dir++) {
		if (strchr("*?[{\\", *dir))
			buf_byte(&b, '\\');
		buf_byte(&b, (uint8_t)*dir);
	}
	if (b.data[b.len - 1] != '/')
		buf_byte(&b, '/');
	buf_str(&b, a->text);
	enum status st = fill_scalar(f, a, (char *)b.data, b.len);
	buf_clear(&b);
	return st;
}

static enum status
fill_bind(struct fill *f, struct tree_arg *a)
{
	struct op_node *n = f->n;
	struct op_typing t = plan_typing(f->pl, f->s, NULL);
	struct op_expr ex = { .ast = fill_ast(f, a) };

	if (!ex.ast)
		return ST_DATA;
	for (size_t i = 0; i < f->s->n_args; i++)
		if (&f->s->args[i] != a && f->s->args[i].row == a->row) {
			expr_ast_free(&ex.ast);
			err_set(f->pl->e, ST_DATA, "a value of the outer element stands alone");
			return fill_fail(f, a, NULL, ST_DATA);
		}
	enum status st = op_compile(&t, &ex, f->outer, NULL, f->pl->e);
	struct buf value = { 0 }, text = { 0 };
	if (st) {
		st = fill_fail(f, a, NULL, st);
	} else if (expr_constant(ex.code, &value) && constant_text(value.data, value.len, &text)) {
		/* an expression without x: (2 * 3) */
		st = fill_scalar(f, a, (char *)text.data, text.len);
	} else {
		n->binds = mem_realloc(n->binds, (n->n_binds + 1) * sizeof *n->binds);
		n->binds[n->n_binds++] = (struct op_bind){ a->row, ex };
		ex = (struct op_expr){ 0 };
	}
	buf_clear(&value);
	buf_clear(&text);
	expr_free(&ex.code);
	expr_ast_free(&ex.ast);
	return st;
}

static void
fill_input(struct op_node *n, struct op_node *in)
{
	n->in = mem_realloc(n->in, (n->n_in + 1) * sizeof *n->in);
	n->in[n->n_in++] = in;
}

/* Makes the head of a fragment, which stands for what the operator will feed. */
static struct op_node *
fill_feed_node(const struct op_node *n)
{
	struct op_node *feed = mem_zalloc(sizeof *feed);

	feed->desc = &fragment_head;
	feed->params = mem_zalloc(fragment_head.state_size);
	feed->type = n->n_in ? n->in[0]->type : type_scalar(TYPE_ANY);
	return feed;
}

static enum status
fill_pipe(struct fill *f, const struct tree_arg *a)
{
	void *field = (char *)f->n->params + a->row->offset;
	bool inner = f->n->desc->kind == OP_TRANSFORM, fragment = a->row->kind == PARAM_FRAGMENT;
	struct op_node *made, *head = fragment ? fill_feed_node(f->n) : NULL;
	if (head && f->n->n_in && a->row->flags & PARAM_WHOLE)
		head->endless = op_elements_of(f->n->in[0]) == INT64_MAX;
	enum status st = plan_pipe(f->pl, a->pipe, head,
				   inner && !fragment ? f->n->in[0]->type : f->outer, &made);

	if (st)
		return st;
	if (!fragment && a->row->flags & PARAM_WHOLE && op_elements_of(made) == INT64_MAX) {
		op_node_free(&made);
		err_set(f->pl->e, ST_DATA, "`%s` reads this pipeline to its end first, but it never ends", f->n->desc->name);
		err_help(f->pl->e, "`take N` at its end makes one");
		return plan_fail_at(f->pl, f->s, a->at, a->len, ST_DATA);
	}
	if (fragment) {
		*(struct op_fragment *)field = (struct op_fragment){ head, made };
	} else if (a->row->kind == PARAM_PIPE) {
		*(struct op_node **)field = made;
	} else {
		struct op_pipes *p = field;
		const char *wrong = NULL;
		if (p->n && (a->name != NULL) != (p->names != NULL))
			wrong = "either all inputs have names or none has";
		for (size_t i = 0; p->names && a->name && i < p->n; i++)
			if (!strcmp(p->names[i], a->name))
				wrong = "two inputs have the same name";
		if (wrong) {
			op_node_free(&made);
			return fill_fail(f, a, NULL, err_set(f->pl->e, ST_DATA, "%s", wrong));
		}
		p->v = mem_realloc(p->v, (p->n + 1) * sizeof *p->v);
		p->v[p->n++] = made;
		if (a->name) {
			p->names = mem_realloc(p->names, (p->n + 1) * sizeof *p->names);
			p->names[p->n - 1] = mem_strdup(a->name);
		}
	}
	if (a->row->kind == PARAM_PIPES)
		fill_input(f->n, made);
	return ST_OK;
}

static enum status
fill_named(struct fill *f, struct tree_arg *a, struct op_named *named)
{
	struct expr_ast *ast;

	for (size_t i = 0; i < named->n; i++)
		if (!strcmp(named->v[i].name, a->name))
			return fill_fail(f, a, NULL, err_set(f->pl->e, ST_DATA, "two fields are named `%s`", a->name));
	if (!(ast = fill_ast(f, a)))
		return ST_DATA;
	named->v = mem_realloc(named->v, (named->n + 1) * sizeof *named->v);
	named->v[named->n++] = (struct op_named_expr){ .name = mem_strdup(a->name), .ast = ast };
	return ST_OK;
}

static enum status
fill_expr(struct fill *f, struct tree_arg *a)
{
	void *field = (char *)f->n->params + a->row->offset;

	if (a->row->kind == PARAM_NAMED)
		return fill_named(f, a, field);
	if (a->row->kind == PARAM_VALUE)
		return fill_constant(f, a, field);
	((struct op_expr *)field)->ast = fill_ast(f, a);
	return ((struct op_expr *)field)->ast ? ST_OK : ST_DATA;
}

static enum status
fill_arg(struct fill *f, struct tree_arg *a)
{
	switch (a->kind) {
	case TREE_SCALAR:
		return fill_scalar(f, a, a->text, strlen(a->text));
	case TREE_CONST:
		return fill_const(f, a);
	case TREE_WORD:
		if (a->row->kind == PARAM_COMMAND) {
			words_add((struct words *)((char *)f->n->params + a->row->offset), a->text,
				  strlen(a->text));
			return ST_OK;
		}
		return fill_word(f, a);
	case TREE_EXPR:
		return fill_expr(f, a);
	case TREE_BIND:
		return fill_bind(f, a);
	case TREE_PIPE:
		return fill_pipe(f, a);
	}
	return ST_BUG;
}

/* Sets a parameter from `options` of the spec where the operator has no value of its own. The
 * rows are found by their names, in any operator. */
static void
fill_option(struct fill *f, const struct param *row, void *field)
{
	const struct spec_options *o = &f->pl->plan->options;

	if (!o->deterministic && row->kind == PARAM_BOOL && !strcmp(row->name, "ordered"))
		*(bool *)field = false;
	if (o->autotune && f->n->desc->scope == OP_ELEMENT && row->kind == PARAM_INT &&
	    (row->flags & PARAM_ALLOW_AUTO) && !strcmp(row->name, "parallel"))
		*(int64_t *)field = PARAM_AUTO;
}

static const char *
fill_carried(const struct fill *f, const struct param *row)
{
	const struct words *w = f->n->desc->flags & OP_REMOTE ? f->pl->src->carried : NULL;
	size_t len = strlen(row->name);

	for (size_t i = 0; w && i < w->n; i++)
		if (!strncmp(w->v[i], row->name, len) && w->v[i][len] == '=')
			return w->v[i] + len + 1;
	return NULL;
}

/* Sets defaults that param_defaults cannot: expressions, values, and those that `options`
 * changes. */
static enum status
fill_default(struct fill *f, const struct param *row)
{
	void *field = (char *)f->n->params + row->offset;

	const char *carried = fill_carried(f, row);
	if (carried)
		return param_set(row, f->n->params, carried, strlen(carried), f->pl->e);
	fill_option(f, row, field);

	if (!row->def)
		return ST_OK;
	if (row->kind == PARAM_VALUE)
		return constant_read(row->def, strlen(row->def), field, f->pl->e);
	if (row->kind != PARAM_EXPR)
		return ST_OK;
	struct expr_src src = { .file = "<default>", .text = row->def, .len = strlen(row->def) };
	((struct op_expr *)field)->ast = expr_parse(&src, f->pl->e);
	return ((struct op_expr *)field)->ast ? ST_OK : ST_BUG;
}

/* Reads on_error=: fail, skip, keep; retry:N, which may be followed by a comma and one of these. */
static bool
fill_policy(struct op_node *n, const char *text)
{
	static const char *const words[] = { "fail", "skip", "keep" };
	int retries = 0, used = 0;

	if (sscanf(text, "retry:%d%n", &retries, &used) == 1 && used) {
		text += used;
		if (retries < 1 || retries > 1000 || (*text && *text++ != ','))
			return false;
		n->retries = retries;
		if (!*text)
			return text[-1] != ',';
	}
	for (int i = 0; i < 3; i++)
		if (!strcmp(text, words[i])) {
			n->on_error = (enum op_policy)i;
			return true;
		}
	return false;
}

/* A source has no element to keep when it cannot read one. If only `options` says keep, it
 * fails. */
static enum status
fill_keep(struct fill *f)
{
	if (!f->s->on_error) {
		f->n->on_error = OP_FAIL;
		return ST_OK;
	}
	err_set(f->pl->e, ST_DATA, "`%s` has nothing to keep: it fails before there is an element", f->n->desc->name);
	err_help(f->pl->e, "on_error=skip leaves it out%s", f->n->desc->kind == OP_SOURCE ?
		 "; `lines FILE | parse json on_error=keep` keeps the text of a line" : "");
	return plan_fail_at(f->pl, f->s, f->s->on_error_at, strlen(f->s->on_error), ST_DATA);
}

static enum status
fill_on_error(struct fill *f)
{
	const struct spec_options *o = &f->pl->plan->options;
	const char *text = f->s->on_error ? f->s->on_error : o->on_error;

	if (!text)
		return ST_OK;
	if (fill_policy(f->n, text))
		return f->n->on_error == OP_KEEP && f->n->desc->kind != OP_TRANSFORM ? fill_keep(f) : ST_OK;
	err_set(f->pl->e, ST_DATA, "on_error cannot be '%.40s'", text);
	err_help(f->pl->e, "it is one of fail, skip, keep, retry:N, and retry:N,skip or retry:N,keep");
	return f->s->on_error ? plan_fail_at(f->pl, f->s, f->s->on_error_at, strlen(text), ST_DATA) :
				plan_fail_at(f->pl, f->s, f->s->at, f->s->len, ST_DATA);
}

/* Whether the operator has expressions, which null may make fail. */
static bool
fill_has_expr(const struct op_desc *d)
{
	for (const struct param *r = d->params; r && r->kind; r++)
		if (r->kind == PARAM_EXPR || r->kind == PARAM_NAMED)
			return true;
	return false;
}

static enum status
fill_nulls(struct fill *f)
{
	const char *all = f->pl->plan->options.nulls;
	bool has = fill_has_expr(f->n->desc);

	f->n->skips_nulls = has && plan_skips_nulls(f->pl, f->s);
	if (f->s->nulls && !has) {
		err_set(f->pl->e, ST_DATA, "nulls= is for operators with expressions; `%s` has none", f->n->desc->name);
		return plan_fail_at(f->pl, f->s, f->s->nulls_at, strlen(f->s->nulls), ST_DATA);
	}
	if (!all || !strcmp(all, "skip") || !strcmp(all, "fail"))
		return ST_OK;
	err_set(f->pl->e, ST_DATA, "nulls is skip or fail, not '%.40s'", all);
	return plan_fail_at(f->pl, f->s, f->s->at, f->s->len, ST_DATA);
}

enum status
fill_params(struct planner *pl, struct op_node *n, const struct tree_stage *s,
	    const struct type *outer)
{
	struct fill f = { pl, n, s, outer };
	enum status st = ST_OK;

	for (size_t i = 0; !st && i < s->n_args; i++) {
		struct tree_arg *a = &s->args[i];
		/* The words of a list replace those of its default. */
		bool first = true;
		for (size_t k = 0; first && k < i; k++)
			first &= s->args[k].row != a->row;
		if (first && a->row->kind == PARAM_WORDS)
			words_clear((struct words *)((char *)n->params + a->row->offset));
		st = fill_arg(&f, a);
	}
	for (const struct param *r = n->desc->params; !st && r && r->kind; r++) {
		bool given = false;
		for (size_t i = 0; i < s->n_args; i++)
			given |= s->args[i].row == r;
		if (given)
			n->given |= 1ull << (r - n->desc->params);
		else
			st = fill_default(&f, r);
	}
	n->per_stream = s->per_stream == 1;
	if (!st && n->desc->words)
		st = fill_script(pl, n, s);
	if (!st)
		st = fill_nulls(&f);
	return st ? st : fill_on_error(&f);
}
