/* SPDX-License-Identifier: MIT
 *
 * Tokens to tree. Internal to grammar*.c: operators and what stands behind a
 * value in grammar.c, values themselves in grammar_item.c. The two call each other,
 * for an item in brackets is an expression. Each function enters
 * with the first token in `now`. One that fails may leave a part in *out,
 * which grammar_expr frees.
 */
#ifndef TEXT_GRAMMAR_H
#define TEXT_GRAMMAR_H

#include "expr/ast.h"
#include "expr/text/token.h"

struct grammar {
	struct tokens t;
	unsigned depth, nodes;
	size_t op_at;     /* the operator whose right operand is expected; op_len 0: none */
	size_t op_len;
};

/* Reads the expression from `now` on that binds at least as tightly as `level`; afterwards
 * `now` is the first token that does not belong to it. */
enum status grammar_expr(struct grammar *g, unsigned level, struct expr_ast **out);
/* Reads one value, without fields, indexes or operators after it; uses up `now`. */
enum status grammar_primary(struct grammar *g, struct expr_ast **out);

enum status grammar_next(struct grammar *g, bool value);
/* Takes the token: the next one is read when it is needed. */
void grammar_take(struct grammar *g);
bool grammar_is(const struct grammar *g, char sign);
/* Counts a node that was made, and gives it its place. */
enum status grammar_made(struct grammar *g, struct expr_ast *a, size_t at);
enum status grammar_missing(struct grammar *g);
/* Takes an opening sign, and the closing one that belongs to it. */
void grammar_open(struct grammar *g);
enum status grammar_close(struct grammar *g, char sign, size_t open_at);
struct expr_ast *grammar_field(struct expr_ast *base, const char *name, size_t n); /* takes base */

#endif
