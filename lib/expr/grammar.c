/* SPDX-License-Identifier: MIT
 *
 * Tokens to tree, by precedence climbing: what binds how tightly is the table
 * ast_ops, which the printer reads too.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "expr/ast.h"
#include "expr/fn.h"
#include "expr/token.h"
#include "value/mp.h"

struct grammar {
	struct tokens t;
	unsigned depth, nodes;
	size_t op_at;     /* the operator that a value is expected behind; op_len 0: none */
	size_t op_len;
};

static enum status grammar_expr(struct grammar *g, unsigned level, struct expr_ast **out);

static enum status
grammar_next(struct grammar *g, bool value)
{
	return token_next(&g->t, value);
}

/* Takes the token: what follows it is read next. */
static void
grammar_take(struct grammar *g)
{
	g->t.end = g->t.now.at + g->t.now.len;
}

static bool
grammar_is(const struct grammar *g, char sign)
{
	return g->t.now.kind == TOKEN_SIGN && g->t.now.op == (unsigned)(unsigned char)sign;
}

/* Counts a node that was made, and gives it its place. */
static enum status
grammar_made(struct grammar *g, struct expr_ast *a, size_t at)
{
	ast_place(a, at, g->t.end - at);
	if (++g->nodes > AST_NODES || a->height > AST_HIGH) {
		token_fault(&g->t, at, 1, "this expression is too large");
		err_help(g->t.e, "at most %d parts, %d of them in a chain", AST_NODES, AST_HIGH);
		return ST_DATA;
	}
	return ST_OK;
}

static enum status
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

static enum status
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

static void
grammar_open(struct grammar *g)
{
	g->t.depth++;
	g->op_len = 0;
	grammar_take(g);
}

/* Items up to the closing sign, into *a; `now` is behind the opening one. */
static enum status
grammar_items(struct grammar *g, struct expr_ast *a, char sign, size_t open_at)
{
	enum status st = grammar_next(g, true);

	if (!st && !grammar_is(g, sign)) {
		for (;;) {
			struct expr_ast *item = NULL;

			st = grammar_expr(g, LEVEL_COALESCE, &item);
			if (st)
				return st;
			ast_add(a, item);
			if (!grammar_is(g, ','))
				break;
			g->op_at = g->t.now.at;
			g->op_len = 1;
			grammar_take(g);
			st = grammar_next(g, true);
			if (st)
				return st;
		}
	}
	return st ? st : grammar_close(g, sign, open_at);
}

static struct expr_ast *
grammar_text_lit(const void *s, size_t n)
{
	struct buf b = { 0 };
	uint8_t *p = buf_room(&b, n + MP_HEAD_MAX);
	size_t len = (size_t)(mp_put_text(p, s, (uint32_t)n) - p);
	struct expr_ast *a = ast_new(AST_LIT, 0, p, len);

	buf_clear(&b);
	return a;
}

static struct expr_ast *
grammar_field(struct expr_ast *base, const char *name, size_t n)
{
	struct expr_ast *a = ast_new(AST_FIELD, 0, name, n);

	ast_add(a, base);
	return a;
}

static struct expr_ast *
grammar_x(size_t at)
{
	struct expr_ast *x = ast_new(AST_NAME, EXPR_X, NULL, 0);

	ast_place(x, at, 1);
	return x;
}

/* A key already there: records do not hold two of one name. */
static enum status
grammar_key_twice(struct grammar *g, const struct expr_ast *a, const struct expr_ast *key)
{
	for (uint32_t i = 0; i < a->n; i += 2)
		if (expr_ast_equal(a->kids[i], key))
			return token_fault(&g->t, key->at, key->len, "this key is given twice");
	return ST_OK;
}

/* name, name: value, "any text": value */
static enum status
grammar_pair(struct grammar *g, struct expr_ast *a)
{
	struct token *now = &g->t.now;
	size_t at = now->at, len = now->len;
	const char *s = g->t.src->text + at;
	bool word = now->kind == TOKEN_NAME || (len && ast_is_word(s, len));
	struct expr_ast *key = NULL, *value = NULL;
	const char *unused;
	size_t n;

	if (word)
		key = grammar_text_lit(s, len);
	else if (now->kind == TOKEN_VALUE || now->kind == TOKEN_PARAM)
		key = ast_new(AST_LIT, 0, now->value.data, now->value.len);
	if (!key || !ast_lit_text(key, &unused, &n)) {
		expr_ast_free(&key);
		token_fault(&g->t, at, len ? len : 1, "a record needs a field's name here");
		err_help(g->t.e, "as in {id, size: len(.body), \"odd name\": 1}");
		return ST_DATA;
	}
	grammar_take(g);
	ast_place(key, at, len);
	enum status st = grammar_key_twice(g, a, key);
	if (!st)
		st = grammar_next(g, false);
	if (!st && grammar_is(g, ':')) {
		g->op_at = g->t.now.at;
		g->op_len = 1;
		grammar_take(g);
		st = grammar_next(g, true);
		if (!st)
			st = grammar_expr(g, LEVEL_COALESCE, &value);
	} else if (!st && word) {
		value = grammar_field(grammar_x(at), s, len);
		st = grammar_made(g, value, at);
	} else if (!st) {
		st = token_fault(&g->t, at, len, "a `:` and a value are missing behind this name");
	}
	if (st || !value) {
		expr_ast_free(&key);
		expr_ast_free(&value);
		return st;
	}
	ast_add(a, key);
	ast_add(a, value);
	g->nodes++;
	return ST_OK;
}

static enum status
grammar_record(struct grammar *g, struct expr_ast **out)
{
	size_t at = g->t.now.at;
	struct expr_ast *a = ast_new(AST_RECORD, 0, NULL, 0);

	*out = a;
	grammar_open(g);
	enum status st = grammar_next(g, true);
	if (!st && !grammar_is(g, '}')) {
		while (!(st = grammar_pair(g, a)) && grammar_is(g, ',')) {
			grammar_take(g);
			st = grammar_next(g, true);
			if (st)
				break;
		}
	}
	if (!st)
		st = grammar_close(g, '}', at);
	return st ? st : grammar_made(g, a, at);
}

static struct expr_ast *grammar_of_value(struct grammar *g, const uint8_t **p, const uint8_t *end);

/* A call with one text, for values that have no literal. */
static struct expr_ast *
grammar_text_call(const char *name, const char *text, size_t n)
{
	struct expr_ast *a = ast_new(AST_CALL, 0, name, strlen(name));

	ast_add(a, grammar_text_lit(text, n));
	return a;
}

static struct expr_ast *
grammar_of_items(struct grammar *g, const struct mp *h, const uint8_t **p, const uint8_t *end)
{
	bool record = h->kind == MP_RECORD;
	struct expr_ast *a = ast_new(record ? AST_RECORD : AST_LIST, 0, NULL, 0);
	uint64_t n = record ? 2ull * h->n : h->n;
	const char *unused;
	size_t len;

	for (uint64_t i = 0; i < n; i++) {
		struct expr_ast *kid = g->nodes < AST_NODES ? grammar_of_value(g, p, end) : NULL;

		if (!kid || (record && i % 2 == 0 && !ast_lit_text(kid, &unused, &len))) {
			expr_ast_free(&kid);
			expr_ast_free(&a);
			return NULL;
		}
		ast_add(a, kid);
	}
	return a;
}

/* The tree of a parameter's value: as if it had been written out. NULL: it
 * cannot be. */
static struct expr_ast *
grammar_of_value(struct grammar *g, const uint8_t **p, const uint8_t *end)
{
	const uint8_t *start = *p;
	struct mp h;
	struct expr_ast *a;

	g->nodes++;
	*p = mp_head(start, end, &h);
	switch (h.kind) {
	case MP_LIST:
	case MP_RECORD:
		*p = h.p;
		return grammar_of_items(g, &h, p, end);
	case MP_FLOAT:
		if (isnan(h.f))
			return grammar_text_call("float", "nan", 3);
		if (isinf(h.f))
			return grammar_text_call("float", h.f < 0 ? "-inf" : "inf",
						 h.f < 0 ? 4 : 3);
		break;
	case MP_BYTES: {
		struct buf hex = { 0 };

		for (uint32_t i = 0; i < h.n; i++)
			buf_printf(&hex, "%02x", h.p[i]);
		a = grammar_text_call("unhex", hex.data ? (char *)hex.data : "", hex.len);
		buf_clear(&hex);
		return a;
	}
	case MP_EXT:
	case MP_BAD:
		return NULL;
	default:
		break;
	}
	return ast_new(AST_LIT, 0, start, (size_t)(*p - start));
}

static void
grammar_place_all(struct expr_ast *a, size_t at, size_t len)
{
	ast_place(a, at, len);
	for (uint32_t i = 0; i < a->n; i++)
		grammar_place_all(a->kids[i], at, len);
}

static enum status
grammar_param(struct grammar *g, struct expr_ast **out)
{
	struct token *now = &g->t.now;
	const uint8_t *p = now->value.data, *end = p + now->value.len;

	if (mp_check(now->value.data, now->value.len))
		*out = grammar_of_value(g, &p, end);
	grammar_take(g);
	if (!*out)
		return token_fault(&g->t, now->at, now->len,
				   "the value of this parameter cannot stand in an expression");
	grammar_place_all(*out, now->at, now->len);
	return grammar_made(g, *out, now->at);
}

static enum status
grammar_call(struct grammar *g, size_t at, size_t n, struct expr_ast **out)
{
	size_t open_at = g->t.now.at;
	struct expr_ast *a = ast_new(AST_CALL, 0, g->t.src->text + at, n);

	*out = a;
	ast_mark(a, at, n);
	grammar_open(g);
	enum status st = grammar_items(g, a, ')', open_at);
	return st ? st : grammar_made(g, a, at);
}

static enum status
grammar_unknown(struct grammar *g, size_t at, size_t n)
{
	const char *s = g->t.src->text + at;
	int shown = (int)(n < 60 ? n : 60);
	const struct fn *f = fn_find(s, n);

	token_fault(&g->t, at, n, "unknown name `%.*s`", shown, s);
	if (f)
		err_help(g->t.e, "the function is written %s(%s)", f->name, f->args);
	else
		err_help(g->t.e, "a field of the element is written .%.*s; text is written \"%.*s\"",
			 shown, s, shown, s);
	return ST_DATA;
}

static enum status
grammar_name(struct grammar *g, struct expr_ast **out)
{
	static const struct { const char *word; uint8_t value; } lits[] = {
		{ "null", 0xc0 }, { "true", 0xc3 }, { "false", 0xc2 }
	};
	size_t at = g->t.now.at, n = g->t.now.len;
	const char *s = g->t.src->text + at;

	grammar_take(g);
	for (size_t i = 0; i < sizeof lits / sizeof *lits; i++)
		if (strlen(lits[i].word) == n && !memcmp(s, lits[i].word, n)) {
			*out = ast_new(AST_LIT, 0, &lits[i].value, 1);
			return grammar_made(g, *out, at);
		}
	for (unsigned i = 0; i <= AST_IT; i++)
		if (strlen(ast_name_word(i)) == n && !memcmp(s, ast_name_word(i), n)) {
			*out = ast_new(AST_NAME, i, NULL, 0);
			return grammar_made(g, *out, at);
		}
	enum status st = grammar_next(g, true);
	if (st)
		return st;
	return grammar_is(g, '(') ? grammar_call(g, at, n, out) : grammar_unknown(g, at, n);
}

/* The negative of a number literal is a literal. */
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

static enum status
grammar_primary(struct grammar *g, struct expr_ast **out)
{
	struct token *now = &g->t.now;
	size_t at = now->at;
	enum status st;

	switch (now->kind) {
	case TOKEN_VALUE:
		*out = ast_new(AST_LIT, 0, now->value.data, now->value.len);
		break;
	case TOKEN_REGEX:
		*out = ast_new(AST_REGEX, now->op, now->value.data, now->value.len);
		break;
	case TOKEN_FIELD:
		at--;
		*out = grammar_field(grammar_x(at), g->t.src->text + now->at, now->len);
		ast_mark(*out, at, now->len + 1);
		break;
	case TOKEN_PARAM:
		return grammar_param(g, out);
	case TOKEN_NAME:
		return grammar_name(g, out);
	default:
		if (grammar_is(g, '[')) {
			*out = ast_new(AST_LIST, 0, NULL, 0);
			grammar_open(g);
			st = grammar_items(g, *out, ']', at);
			return st ? st : grammar_made(g, *out, at);
		}
		if (grammar_is(g, '{'))
			return grammar_record(g, out);
		if (!grammar_is(g, '('))
			return grammar_missing(g);
		grammar_open(g);
		st = grammar_next(g, true);
		if (!st)
			st = grammar_expr(g, LEVEL_COALESCE, out);
		return st ? st : grammar_close(g, ')', at);
	}
	grammar_take(g);
	return grammar_made(g, *out, at);
}

/* [i], [a:b], [a:], [:b]; `now` is the bracket. */
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

/* Fields and indexes behind a value; reads the token behind them. */
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

/* What follows the value in *out and binds at least as tightly as `level`. */
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

/* `now` holds the first token; afterwards the first that does not belong. On
 * a fault *out may hold a part, which the caller frees. */
static enum status
grammar_expr(struct grammar *g, unsigned level, struct expr_ast **out)
{
	enum status st;

	if (++g->depth > AST_DEEP) {
		token_fault(&g->t, g->t.now.at, 1, "this expression is nested too deeply");
		err_help(g->t.e, "at most %d levels", AST_DEEP);
		return ST_DATA;
	}
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
