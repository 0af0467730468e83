/* SPDX-License-Identifier: MIT */
#include "expr/ast.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "value/mp.h"

/* ORDER ast_ops. A condition to the left of ?? needs brackets, because
 * a ? b : c ?? d takes the ?? into its last part. */
const struct ast_op_row ast_ops[AST_OPS] = {
	[AST_COALESCE] = { "??", LEVEL_COALESCE, LEVEL_OR, LEVEL_COALESCE },
	[AST_OR] = { "or", LEVEL_OR, LEVEL_OR, LEVEL_AND },
	[AST_AND] = { "and", LEVEL_AND, LEVEL_AND, LEVEL_NOT },
	[AST_NOT] = { "not", LEVEL_NOT, LEVEL_NOT, LEVEL_NOT },
	[AST_EQ] = { "==", LEVEL_CMP, LEVEL_CAT, LEVEL_CAT },
	[AST_NE] = { "!=", LEVEL_CMP, LEVEL_CAT, LEVEL_CAT },
	[AST_LT] = { "<", LEVEL_CMP, LEVEL_CAT, LEVEL_CAT },
	[AST_LE] = { "<=", LEVEL_CMP, LEVEL_CAT, LEVEL_CAT },
	[AST_GT] = { ">", LEVEL_CMP, LEVEL_CAT, LEVEL_CAT },
	[AST_GE] = { ">=", LEVEL_CMP, LEVEL_CAT, LEVEL_CAT },
	[AST_IN] = { "in", LEVEL_CMP, LEVEL_CAT, LEVEL_CAT },
	[AST_MATCH] = { "~", LEVEL_CMP, LEVEL_CAT, LEVEL_CAT },
	[AST_NMATCH] = { "!~", LEVEL_CMP, LEVEL_CAT, LEVEL_CAT },
	[AST_CAT] = { "++", LEVEL_CAT, LEVEL_CAT, LEVEL_SUM },
	[AST_ADD] = { "+", LEVEL_SUM, LEVEL_SUM, LEVEL_TERM },
	[AST_SUB] = { "-", LEVEL_SUM, LEVEL_SUM, LEVEL_TERM },
	[AST_MUL] = { "*", LEVEL_TERM, LEVEL_TERM, LEVEL_UNARY },
	[AST_DIV] = { "/", LEVEL_TERM, LEVEL_TERM, LEVEL_UNARY },
	[AST_FLOOR] = { "//", LEVEL_TERM, LEVEL_TERM, LEVEL_UNARY },
	[AST_MOD] = { "%", LEVEL_TERM, LEVEL_TERM, LEVEL_UNARY },
	[AST_NEG] = { "-", LEVEL_UNARY, LEVEL_UNARY, LEVEL_UNARY },
	[AST_POW] = { "**", LEVEL_POW, LEVEL_POSTFIX, LEVEL_UNARY },
};

struct expr_ast *
ast_new(enum ast_kind kind, unsigned op, const void *text, size_t text_len)
{
	struct expr_ast *a = mem_zalloc(sizeof *a);

	a->kind = (uint8_t)kind;
	a->op = (uint8_t)op;
	a->height = a->nest = 1;
	if (text) {
		a->text = mem_alloc(text_len + 1);
		memcpy(a->text, text, text_len);
		a->text[text_len] = '\0';
		a->text_len = (uint32_t)text_len;
	}
	return a;
}

void
ast_place(struct expr_ast *a, size_t at, size_t len)
{
	a->at = (uint32_t)at;
	a->len = (uint32_t)len;
	if (!a->mark_len)
		ast_mark(a, at, len);
}

void
ast_mark(struct expr_ast *a, size_t at, size_t len)
{
	a->mark = (uint32_t)at;
	a->mark_len = (uint32_t)len;
}

unsigned
ast_level(const struct expr_ast *a)
{
	switch (a->kind) {
	case AST_UNARY:
	case AST_BINARY:
		return ast_ops[a->op].level;
	case AST_COND:
		return LEVEL_COND;
	case AST_LIT: {
		struct mp h;

		mp_head((uint8_t *)a->text, (uint8_t *)a->text + a->text_len, &h);
		if ((h.kind == MP_INT && !h.unsigned_big && h.i < 0)
		    || (h.kind == MP_FLOAT && signbit(h.f)))
			return LEVEL_UNARY;
		return LEVEL_POSTFIX;
	}
	default:
		return LEVEL_POSTFIX;
	}
}

/* How much the next kid adds to the nesting: nothing when it comes first and without brackets,
 * as the text before an operator does. */
static unsigned
ast_nest_cost(const struct expr_ast *a, const struct expr_ast *kid)
{
	unsigned needs;

	if (a->n)
		return 1;
	switch (a->kind) {
	case AST_BINARY: needs = ast_ops[a->op].left; break;
	case AST_COND: needs = LEVEL_OR; break;
	case AST_FIELD:
	case AST_INDEX:
	case AST_SLICE: needs = LEVEL_POSTFIX; break;
	default: return 1;
	}
	return ast_level(kid) < needs;
}

void
ast_add(struct expr_ast *a, struct expr_ast *kid)
{
	if (kid) {
		unsigned nest = kid->nest + ast_nest_cost(a, kid);

		if (kid->height >= a->height)
			a->height = (uint16_t)(kid->height + 1);
		if (nest > a->nest)
			a->nest = (uint16_t)nest;
	}
	/* full at 0 and at powers of two */
	if (!(a->n & (a->n - 1)))
		a->kids = mem_realloc(a->kids, (a->n ? a->n * 2u : 1u) * sizeof(*a->kids));
	a->kids[a->n++] = kid;
}

void
expr_ast_free(struct expr_ast **ap)
{
	struct expr_ast *a = *ap;

	if (!a)
		return;
	for (uint32_t i = 0; i < a->n; i++)
		expr_ast_free(&a->kids[i]);
	mem_free(a->kids);
	mem_free(a->text);
	mem_free(a);
	*ap = NULL;
}

struct expr_ast *
expr_match_of(struct expr_ast *pattern)
{
	struct expr_ast *a = ast_new(AST_BINARY, AST_MATCH, NULL, 0);
	struct expr_ast *x = ast_new(AST_NAME, EXPR_X, NULL, 0);

	/* Errors about either operand point at the pattern. */
	ast_place(x, pattern->at, pattern->len);
	ast_mark(x, pattern->at, pattern->len);
	ast_place(a, pattern->at, pattern->len);
	ast_mark(a, pattern->at, pattern->len);
	ast_add(a, x);
	ast_add(a, pattern);
	return a;
}

bool
expr_ast_equal(const struct expr_ast *a, const struct expr_ast *b)
{
	if (!a || !b)
		return a == b;
	if (a->kind != b->kind || a->op != b->op || a->n != b->n || a->text_len != b->text_len)
		return false;
	if (!a->text != !b->text || (a->text && memcmp(a->text, b->text, a->text_len) != 0))
		return false;
	for (uint32_t i = 0; i < a->n; i++)
		if (!expr_ast_equal(a->kids[i], b->kids[i]))
			return false;
	return true;
}

void
expr_ast_place(const struct expr_ast *a, size_t *at, size_t *len)
{
	*at = a->at;
	*len = a->len;
}

bool
ast_is_word(const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		char c = s[i];
		bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';

		if (!letter && !(i && c >= '0' && c <= '9'))
			return false;
	}
	return n > 0;
}

bool
ast_lit_text(const struct expr_ast *a, const char **s, size_t *n)
{
	struct mp h;

	if (a->kind != AST_LIT)
		return false;
	mp_head((const uint8_t *)a->text, (const uint8_t *)a->text + a->text_len, &h);
	if (h.kind != MP_TEXT)
		return false;
	*s = (const char *)h.p;
	*n = h.n;
	return true;
}

const char *
ast_name_word(unsigned name)
{
	static const char *const words[] = {
		[EXPR_X] = "x", [EXPR_S] = "s", [EXPR_I] = "i", [EXPR_XX] = "xx", [AST_IT] = "it"
	};

	return words[name];
}
