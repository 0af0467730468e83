/* SPDX-License-Identifier: MIT
 *
 * Tokens to tree, by precedence climbing: what binds how tightly is the table
 * ast_ops, which the printer reads too.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "expr/text/grammar.h"
#include "value/mp.h"

enum status
grammar_next(struct grammar *g, bool value)
{
	return token_next(&g->t, value);
}

/* Takes the token: the next one is read when it is needed. */
void
grammar_take(struct grammar *g)
{
	g->t.end = g->t.now.at + g->t.now.len;
}

bool
grammar_is(const struct grammar *g, char sign)
{
	return g->t.now.kind == TOKEN_SIGN && g->t.now.op == (unsigned)(unsigned char)sign;
}

static enum status
grammar_too_deep(struct grammar *g, size_t at)
{
	token_fault(&g->t, at, 1, "this expression is nested too deeply");
	err_help(g->t.e, "at most %d levels", AST_DEEP);
	return ST_DATA;
}

/* Counts a node that was made, and gives it its place. */
enum status
grammar_made(struct grammar *g, struct expr_ast *a, size_t at)
{
	ast_place(a, at, g->t.end - at);
	if (a->nest > AST_DEEP)
		return grammar_too_deep(g, at);
	if (++g->nodes > AST_NODES || a->height > AST_HIGH) {
		token_fault(&g->t, at, 1, "this expression is too large");
		err_help(g->t.e, "at most %d parts, %d of them in a chain", AST_NODES, AST_HIGH);
		return ST_DATA;
	}
	return ST_OK;
}

enum status
grammar_missing(struct grammar *g)
{
	struct tokens *t = &g->t;
	const char *s = t->src->text;

	if (g->op_len) {
		size_t len = t->now.at > g->op_at + g->op_len ? t->now.at - g->op_at : g->op_len;

		token_fault(t, g->op_at, len, "a value is missing after `%.*s`", (int)g->op_len,
			    s + g->op_at);
	} else if (t->now.len && t->now.at < t->src->len) {
		token_fault(t, t->now.at, t->now.len, "a value is missing before `%.*s`",
			    (int)(t->now.len < 40 ? t->now.len : 40), s + t->now.at);
	} else {
		token_fault(t, t->now.at, 1, "an expression is missing here");
	}
	err_help(t->e, "an empty place often means the shell expanded a $name inside "
		 "\"double quotes\"; use single quotes, or @name");
	return ST_DATA;
}

enum status
grammar_close(struct grammar *g, char sign, size_t open_at)
{
	if (!grammar_is(g, sign)) {
		token_fault(&g->t, open_at, 1, "this `%c` has no `%c`", g->t.src->text[open_at], sign);
		if (g->t.now.kind == TOKEN_END && g->t.now.at < g->t.src->len)
			err_help(g->t.e, "the expression ends at `%.*s`",
				 (int)(g->t.src->len - g->t.now.at < 20
				       ? g->t.src->len - g->t.now.at : 20),
				 g->t.src->text + g->t.now.at);
		return ST_DATA;
	}
	g->t.depth--;
	grammar_take(g);
	return ST_OK;
}

void
grammar_open(struct grammar *g)
{
	g->t.depth++;
	g->op_len = 0;
	grammar_take(g);
}

/* Negates a number literal, which stays a literal. */
static bool
grammar_negate(struct expr_ast *a)
{
	uint8_t neg[MP_INT_MAX], *p = neg;
	struct mp h;

	if (a->kind != AST_LIT)
		return false;
	mp_head((uint8_t *)a->text, (uint8_t *)a->text + a->text_len, &h);
	if (h.kind == MP_FLOAT && !signbit(h.f))
		p = mp_put_float(p, -h.f);
	else if (h.kind == MP_INT && h.unsigned_big && h.u == 1ull << 63)
		p = mp_put_int(p, INT64_MIN);
	else if (h.kind == MP_INT && !h.unsigned_big && h.i >= 0)
		p = mp_put_int(p, -h.i);
	else
		return false;
	a->text = mem_realloc(a->text, sizeof neg + 1);
	a->text_len = (uint32_t)(p - neg);
	memcpy(a->text, neg, a->text_len);
	return true;
}

static enum status
grammar_prefix(struct grammar *g, unsigned level, struct expr_ast **out)
{
	size_t at = g->t.now.at;
	enum ast_op op = (enum ast_op)g->t.now.op;
	bool loose = op == AST_NOT && g->t.now.len == 3 && level <= LEVEL_NOT;
	struct expr_ast *kid = NULL;

	g->op_at = at;
	g->op_len = g->t.now.len;
	grammar_take(g);
	enum status st = grammar_next(g, true);
	if (!st)
		st = grammar_expr(g, loose ? LEVEL_NOT : LEVEL_UNARY, &kid);
	if (st || !kid) {
		expr_ast_free(&kid);
		return st;
	}
	if (op == AST_NEG && grammar_negate(kid)) {
		*out = kid;
		kid->mark_len = 0;
		ast_place(kid, at, g->t.end - at);
		return ST_OK;
	}
	*out = ast_new(AST_UNARY, op, NULL, 0);
	ast_mark(*out, at, g->op_len);
	ast_add(*out, kid);
	return grammar_made(g, *out, at);
}

/* Reads [i], [a:b], [a:] or [:b]; `now` is the bracket. */
static enum status
grammar_index(struct grammar *g, struct expr_ast **base)
{
	size_t open_at = g->t.now.at;
	struct expr_ast *a = NULL, *from = NULL, *to = NULL;
	bool slice = false;
	const char *name;
	size_t n;

	grammar_open(g);
	enum status st = grammar_next(g, true);
	if (!st && !grammar_is(g, ':'))
		st = grammar_expr(g, LEVEL_COALESCE, &from);
	if (!st && grammar_is(g, ':')) {
		slice = true;
		grammar_take(g);
		st = grammar_next(g, true);
		if (!st && !grammar_is(g, ']'))
			st = grammar_expr(g, LEVEL_COALESCE, &to);
	}
	if (!st)
		st = grammar_close(g, ']', open_at);
	if (st) {
		expr_ast_free(&from);
		expr_ast_free(&to);
		return st;
	}
	if (!slice && ast_lit_text(from, &name, &n)) {
		a = grammar_field(*base, name, n);
		expr_ast_free(&from);
	} else {
		a = ast_new(slice ? AST_SLICE : AST_INDEX, 0, NULL, 0);
		ast_add(a, *base);
		ast_add(a, from);
		if (slice)
			ast_add(a, to);
	}
	ast_mark(a, open_at, g->t.end - open_at);
	size_t at = (*base)->at;
	*base = a;
	return grammar_made(g, a, at);
}

/* Reads the fields and indexes after a value, and the token after them. */
static enum status
grammar_postfix(struct grammar *g, struct expr_ast **out)
{
	enum status st;

	while (!(st = grammar_next(g, false))) {
		if (g->t.now.kind == TOKEN_FIELD) {
			size_t at = (*out)->at;

			*out = grammar_field(*out, g->t.src->text + g->t.now.at, g->t.now.len);
			ast_mark(*out, g->t.now.at - 1, g->t.now.len + 1);
			grammar_take(g);
			st = grammar_made(g, *out, at);
		} else if (grammar_is(g, '[')) {
			st = grammar_index(g, out);
		} else {
			return ST_OK;
		}
		if (st)
			return st;
	}
	return st;
}

static enum status
grammar_cond(struct grammar *g, struct expr_ast **left)
{
	size_t at = (*left)->at, mark = g->t.now.at;
	struct expr_ast *yes = NULL, *no = NULL;

	g->op_at = mark;
	g->op_len = 1;
	grammar_take(g);
	enum status st = grammar_next(g, true);
	if (!st)
		st = grammar_expr(g, LEVEL_COALESCE, &yes);
	if (!st && !grammar_is(g, ':')) {
		token_fault(&g->t, mark, 1, "this `?` has no `:`");
		err_help(g->t.e, "as in .n > 0 ? \"some\" : \"none\"; a default is given with ??");
		st = ST_DATA;
	}
	if (!st) {
		g->op_at = g->t.now.at;
		g->op_len = 1;
		grammar_take(g);
		st = grammar_next(g, true);
	}
	if (!st)
		st = grammar_expr(g, LEVEL_COALESCE, &no);
	if (st) {
		expr_ast_free(&yes);
		expr_ast_free(&no);
		return st;
	}
	struct expr_ast *a = ast_new(AST_COND, 0, NULL, 0);
	ast_mark(a, mark, 1);
	ast_add(a, *left);
	ast_add(a, yes);
	ast_add(a, no);
	*left = a;
	return grammar_made(g, a, at);
}

static enum status
grammar_binary(struct grammar *g, struct expr_ast **left)
{
	enum ast_op op = (enum ast_op)g->t.now.op;
	bool negated = g->t.now.kind == TOKEN_NOT_IN;
	size_t at = (*left)->at, mark = g->t.now.at, mark_len = g->t.now.len;
	struct expr_ast *right = NULL, *a;

	g->op_at = mark;
	g->op_len = mark_len;
	grammar_take(g);
	enum status st = grammar_next(g, true);
	if (!st)
		st = grammar_expr(g, ast_ops[op].right, &right);
	if (st) {
		expr_ast_free(&right);
		return st;
	}
	a = ast_new(AST_BINARY, op, NULL, 0);
	ast_mark(a, mark, mark_len);
	ast_add(a, *left);
	ast_add(a, right);
	if (negated) {
		struct expr_ast *not = ast_new(AST_UNARY, AST_NOT, NULL, 0);

		ast_mark(not, mark, mark_len);
		ast_place(a, at, g->t.end - at);
		ast_add(not, a);
		a = not;
	}
	*left = a;
	st = grammar_made(g, a, at);
	const struct token *now = &g->t.now;
	if (!st && ast_ops[op].level == LEVEL_CMP && (now->kind == TOKEN_NOT_IN
	    || (now->kind == TOKEN_OP && ast_ops[now->op].level == LEVEL_CMP))) {
		token_fault(&g->t, now->at, now->len, "comparisons do not chain");
		err_help(g->t.e, "join two with `and`, as in 0 < .n and .n < 9, or use brackets");
		return ST_DATA;
	}
	return st;
}

/* Reads what follows the value in *out and binds at least as tightly as `level`. */
static enum status
grammar_follow(struct grammar *g, unsigned level, struct expr_ast **out)
{
	for (;;) {
		const struct token *now = &g->t.now;
		enum status st;

		if (now->kind == TOKEN_ASSIGN) {
			token_fault(&g->t, now->at, 1, "`=` does not compare");
			err_help(g->t.e, "== compares; ~ matches a regular expression");
			return ST_DATA;
		}
		if (grammar_is(g, '?') && level <= LEVEL_COND)
			st = grammar_cond(g, out);
		else if ((now->kind == TOKEN_OP || now->kind == TOKEN_NOT_IN)
			 && ast_ops[now->op].level >= level)
			st = grammar_binary(g, out);
		else
			return ST_OK;
		if (st)
			return st;
	}
}

/* `now` holds the first token, and afterwards the first that does not belong. On a fault *out
 * may hold a part, which the caller frees. */
enum status
grammar_expr(struct grammar *g, unsigned level, struct expr_ast **out)
{
	enum status st;

	if (++g->depth > AST_TEXT_DEEP)
		return grammar_too_deep(g, g->t.now.at);
	if (g->t.now.kind == TOKEN_OP) {
		st = grammar_prefix(g, level, out);
	} else {
		st = grammar_primary(g, out);
		if (!st)
			st = grammar_postfix(g, out);
	}
	if (!st)
		st = grammar_follow(g, level, out);
	if (st)
		expr_ast_free(out);
	g->depth--;
	return st;
}

struct expr_ast *
expr_parse(struct expr_src *src, struct err *e)
{
	struct grammar g = { .t = { .src = src, .e = e, .end = src->at } };
	struct expr_ast *a = NULL;
	enum status st = ST_OK;

	if (src->len > UINT32_MAX / 2)
		st = err_set(e, ST_DATA, "this text is too long");
	if (!st)
		st = grammar_next(&g, true);
	if (!st)
		st = grammar_expr(&g, LEVEL_COALESCE, &a);
	if (!st)
		src->at = g.t.end;
	token_clear(&g.t);
	return a;
}
