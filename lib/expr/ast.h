/* SPDX-License-Identifier: MIT
 *
 * The tree of an expression. Nodes own their children and their text; a node is
 * made whole and not changed afterwards. What the text said in two ways is one
 * in the tree: `matches` is ~, !a is not a, x["name"] is .name, {ts} is
 * {ts: .ts}, -5 is one literal, and a parameter is its value.
 *
 * Bounds: a tree nests at most AST_DEEP, is at most AST_HIGH high (long chains of
 * operators are higher than they are deep) and has at most AST_NODES nodes, so
 * that walking it may recurse. Nesting is counted as the canonical text has it,
 * so that the text of a tree can be parsed; a text with brackets that are not
 * needed may nest AST_TEXT_DEEP.
 */
#ifndef EXPR_AST_H
#define EXPR_AST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "expr/expr.h"

enum { AST_DEEP = 200, AST_TEXT_DEEP = 3 * AST_DEEP, AST_HIGH = 1000, AST_NODES = 50000 };

enum ast_kind {
	AST_LIT,    /* text: one encoded scalar */
	AST_NAME,   /* op: enum expr_name, or AST_IT */
	AST_REGEX,  /* text: the pattern; op: enum ast_regex_flag */
	AST_UNARY,  /* kids[0] */
	AST_BINARY, /* kids[0] op kids[1] */
	AST_COND,   /* kids[0] ? kids[1] : kids[2] */
	AST_FIELD,  /* kids[0] . text */
	AST_INDEX,  /* kids[0] [ kids[1] ] */
	AST_SLICE,  /* kids[0] [ kids[1] : kids[2] ], the last two may be NULL */
	AST_CALL,   /* text: the function's name; kids: arguments */
	AST_LIST,   /* kids: items */
	AST_RECORD  /* kids: key (a text literal), value, key, value, ... */
};

/* ORDER ast_ops */
enum ast_op {
	AST_COALESCE, AST_OR, AST_AND, AST_NOT,
	AST_EQ, AST_NE, AST_LT, AST_LE, AST_GT, AST_GE, AST_IN, AST_MATCH, AST_NMATCH,
	AST_CAT, AST_ADD, AST_SUB, AST_MUL, AST_DIV, AST_FLOOR, AST_MOD, AST_NEG, AST_POW,
	AST_OPS
};

/* How tightly operators bind; a node prints without brackets where its own level is at least
 * the one that the place requires. */
enum ast_level {
	LEVEL_COALESCE = 1, LEVEL_COND, LEVEL_OR, LEVEL_AND, LEVEL_NOT, LEVEL_CMP,
	LEVEL_CAT, LEVEL_SUM, LEVEL_TERM, LEVEL_UNARY, LEVEL_POW, LEVEL_POSTFIX
};

struct ast_op_row {
	const char *sign; /* the canonical spelling */
	uint8_t level;
	uint8_t left, right; /* levels its operands need */
};
extern const struct ast_op_row ast_ops[AST_OPS];

enum { AST_IT = EXPR_NAMES }; /* the item of a list, in map, filter, any, all, sorted */
enum ast_regex_flag { REGEX_I = 1, REGEX_M = 2, REGEX_S = 4, REGEX_X = 8, REGEX_A = 16 };

struct expr_ast {
	uint8_t kind, op;
	uint16_t height;          /* height of the tree below and including this node */
	uint16_t nest;            /* depth of nesting when printed */
	uint32_t at, len;         /* place of the whole node in the source text */
	uint32_t mark, mark_len;  /* the operator or name that errors point at */
	uint32_t n;
	uint32_t text_len;
	char *text;               /* owned, ends with a NUL; NULL: none */
	struct expr_ast **kids;   /* owned */
};

/* Gives a node without children; text is copied (NULL: none). */
struct expr_ast *ast_new(enum ast_kind kind, unsigned op, const void *text, size_t text_len);
void ast_place(struct expr_ast *a, size_t at, size_t len);
void ast_mark(struct expr_ast *a, size_t at, size_t len);
/* Adds a child (taken; may be NULL in slices). */
void ast_add(struct expr_ast *a, struct expr_ast *kid);
/* How tightly the node itself binds (enum ast_level). */
unsigned ast_level(const struct expr_ast *a);
/* Whether a text can be written after a dot, or as a bare key. */
bool ast_is_word(const char *s, size_t n);
/* Whether a node is an AST_LIT with a text; lends the text. */
bool ast_lit_text(const struct expr_ast *a, const char **s, size_t *n);
const char *ast_name_word(unsigned name); /* name as it is written: "x" */

#endif
