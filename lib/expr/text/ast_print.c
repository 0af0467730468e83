/* SPDX-License-Identifier: MIT
 *
 * Tree to text: the canonical spelling. Signs with single blanks, `and or not
 * in` as words, the fewest brackets; parsing it again gives the same tree.
 */
#include <math.h>
#include <string.h>

#include "expr/ast.h"
#include "value/mp.h"
#include "value/num.h"

static void ast_print_at(const struct expr_ast *a, unsigned level, struct buf *out);

static void
ast_print_text(const char *s, size_t n, struct buf *out)
{
	static const char from[] = "\n\t\r\"\\", to[] = "ntr\"\\";

	buf_byte(out, '"');
	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)s[i];
		const char *known = c ? strchr(from, c) : NULL;

		if (known)
			buf_printf(out, "\\%c", to[known - from]);
		else if (c < 0x20 || c == 0x7f)
			buf_printf(out, "\\x%02x", c);
		else if (c == '@' && i + 1 < n && s[i + 1] == '{')
			buf_str(out, "\\@");
		else
			buf_byte(out, c);
	}
	buf_byte(out, '"');
}

static void
ast_print_lit(const struct expr_ast *a, struct buf *out)
{
	const uint8_t *p = (const uint8_t *)a->text;
	char text[NUM_FLOAT_MAX];
	struct mp h;

	mp_head(p, p + a->text_len, &h);
	switch (h.kind) {
	case MP_BOOL:
		buf_str(out, h.b ? "true" : "false");
		break;
	case MP_INT:
		buf_put(out, text, (size_t)((h.unsigned_big ? num_print_uint(h.u, text)
					     : num_print_int(h.i, text)) - text));
		break;
	case MP_FLOAT:
		buf_put(out, text, num_print_float(h.f, text));
		break;
	case MP_TEXT:
		ast_print_text((const char *)h.p, h.n, out);
		break;
	default:
		buf_str(out, "null");
	}
}

static void
ast_print_list(const struct expr_ast *a, struct buf *out)
{
	for (uint32_t i = 0; i < a->n; i++) {
		if (i)
			buf_str(out, ", ");
		ast_print_at(a->kids[i], LEVEL_COALESCE, out);
	}
}

/* Whether x.name is printed as .name. */
static bool
ast_print_is_own(const struct expr_ast *a)
{
	return a->kind == AST_FIELD && a->kids[0]->kind == AST_NAME && a->kids[0]->op == EXPR_X
		&& ast_is_word(a->text, a->text_len);
}

static void
ast_print_record(const struct expr_ast *a, struct buf *out)
{
	const char *key;
	size_t n;

	buf_byte(out, '{');
	for (uint32_t i = 0; i < a->n; i += 2) {
		const struct expr_ast *v = a->kids[i + 1];

		if (i)
			buf_str(out, ", ");
		ast_lit_text(a->kids[i], &key, &n);
		if (!ast_is_word(key, n))
			ast_print_text(key, n, out);
		else
			buf_put(out, key, n);
		if (ast_print_is_own(v) && v->text_len == n && !memcmp(v->text, key, n))
			continue;
		buf_str(out, ": ");
		ast_print_at(v, LEVEL_COALESCE, out);
	}
	buf_byte(out, '}');
}

static void
ast_print_postfix(const struct expr_ast *a, struct buf *out)
{
	if (!ast_print_is_own(a))
		ast_print_at(a->kids[0], LEVEL_POSTFIX, out);
	if (a->kind == AST_FIELD) {
		if (ast_is_word(a->text, a->text_len)) {
			buf_printf(out, ".%s", a->text);
		} else {
			buf_byte(out, '[');
			ast_print_text(a->text, a->text_len, out);
			buf_byte(out, ']');
		}
		return;
	}
	buf_byte(out, '[');
	if (a->kids[1])
		ast_print_at(a->kids[1], LEVEL_COALESCE, out);
	if (a->kind == AST_SLICE) {
		buf_byte(out, ':');
		if (a->kids[2])
			ast_print_at(a->kids[2], LEVEL_COALESCE, out);
	}
	buf_byte(out, ']');
}

static void
ast_print_regex(const struct expr_ast *a, struct buf *out)
{
	buf_byte(out, '/');
	buf_put(out, a->text, a->text_len);
	buf_byte(out, '/');
	for (unsigned i = 0; i < 5; i++)
		if (a->op & 1u << i)
			buf_byte(out, (uint8_t)"imsxa"[i]);
}

static void
ast_print_unary(const struct expr_ast *a, struct buf *out)
{
	const struct expr_ast *kid = a->kids[0];

	if (a->op == AST_NOT) {
		buf_str(out, "not ");
		ast_print_at(kid, LEVEL_NOT, out);
		return;
	}
	/* a unary minus before a literal: -(-5) is not the literal 5 */
	bool sign = kid->kind == AST_LIT && ast_level(kid) == LEVEL_UNARY;
	buf_byte(out, '-');
	ast_print_at(kid, sign || kid->kind == AST_UNARY ? LEVEL_POSTFIX : LEVEL_UNARY, out);
}

static void
ast_print_bare(const struct expr_ast *a, struct buf *out)
{
	switch ((enum ast_kind)a->kind) {
	case AST_LIT:
		ast_print_lit(a, out);
		break;
	case AST_NAME:
		buf_str(out, ast_name_word(a->op));
		break;
	case AST_REGEX:
		ast_print_regex(a, out);
		break;
	case AST_UNARY:
		ast_print_unary(a, out);
		break;
	case AST_BINARY:
		ast_print_at(a->kids[0], ast_ops[a->op].left, out);
		buf_printf(out, " %s ", ast_ops[a->op].sign);
		ast_print_at(a->kids[1], ast_ops[a->op].right, out);
		break;
	case AST_COND:
		ast_print_at(a->kids[0], LEVEL_OR, out);
		buf_str(out, " ? ");
		ast_print_at(a->kids[1], LEVEL_COALESCE, out);
		buf_str(out, " : ");
		ast_print_at(a->kids[2], LEVEL_COALESCE, out);
		break;
	case AST_FIELD:
	case AST_INDEX:
	case AST_SLICE:
		ast_print_postfix(a, out);
		break;
	case AST_CALL:
		buf_put(out, a->text, a->text_len);
		buf_byte(out, '(');
		ast_print_list(a, out);
		buf_byte(out, ')');
		break;
	case AST_LIST:
		buf_byte(out, '[');
		ast_print_list(a, out);
		buf_byte(out, ']');
		break;
	case AST_RECORD:
		ast_print_record(a, out);
		break;
	}
}

/* `level`: the level that the place requires. */
static void
ast_print_at(const struct expr_ast *a, unsigned level, struct buf *out)
{
	bool brackets = ast_level(a) < level;

	if (brackets)
		buf_byte(out, '(');
	ast_print_bare(a, out);
	if (brackets)
		buf_byte(out, ')');
}

void
expr_print(const struct expr_ast *a, struct buf *out)
{
	ast_print_at(a, LEVEL_COALESCE, out);
}

static void
ast_print_head(const struct expr_ast *a, struct buf *out)
{
	static const char *const words[] = {
		[AST_LIT] = "value", [AST_NAME] = "name", [AST_REGEX] = "regex",
		[AST_UNARY] = "unary", [AST_BINARY] = "binary", [AST_COND] = "cond",
		[AST_FIELD] = "field", [AST_INDEX] = "index", [AST_SLICE] = "slice",
		[AST_CALL] = "call", [AST_LIST] = "list", [AST_RECORD] = "record"
	};

	buf_str(out, words[a->kind]);
	switch ((enum ast_kind)a->kind) {
	case AST_LIT:
	case AST_NAME:
	case AST_REGEX:
		buf_byte(out, ' ');
		ast_print_bare(a, out);
		break;
	case AST_UNARY:
	case AST_BINARY:
		buf_printf(out, " %s", ast_ops[a->op].sign);
		break;
	case AST_FIELD:
	case AST_CALL:
		buf_byte(out, ' ');
		if (ast_is_word(a->text, a->text_len))
			buf_str(out, a->text);
		else
			ast_print_text(a->text, a->text_len, out);
		break;
	default:
		break;
	}
	buf_byte(out, '\n');
}

void
expr_print_tree(const struct expr_ast *a, int indent, struct buf *out)
{
	buf_printf(out, "%*s", indent, "");
	if (!a) {
		buf_str(out, "nothing\n");
		return;
	}
	ast_print_head(a, out);
	for (uint32_t i = 0; i < a->n; i++)
		expr_print_tree(a->kids[i], indent + 2, out);
}
