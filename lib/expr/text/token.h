/* SPDX-License-Identifier: MIT
 *
 * The words of an expression. What a character means depends on whether a value
 * or an operator may stand there (/ begins a regular expression or divides), so
 * the grammar says so when it asks for the next token. Nothing is read beyond
 * the token asked for: what follows the expression belongs to someone else.
 */
#ifndef TEXT_TOKEN_H
#define TEXT_TOKEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "expr/expr.h"

enum token_kind {
	TOKEN_END,    /* something that does not belong to the expression, which ends here */
	TOKEN_VALUE,  /* number or text: its encoding is in `value` */
	TOKEN_PARAM,  /* a parameter's value, any kind */
	TOKEN_REGEX,  /* pattern in `value`, flags in `op` */
	TOKEN_NAME,
	TOKEN_OP,     /* op: enum ast_op; as value: AST_NOT (tight: `!`) or AST_NEG */
	TOKEN_NOT_IN,
	TOKEN_ASSIGN, /* a lone = */
	TOKEN_FIELD,  /* .name, at..len being the name */
	TOKEN_SIGN    /* op: one of ( ) [ ] { } , : ? */
};

struct token {
	enum token_kind kind;
	unsigned op;
	bool tight;      /* follows the one before without a blank */
	size_t at, len;
	struct buf value;
};

struct tokens {
	struct expr_src *src;
	struct err *e;
	unsigned depth;  /* open brackets: newlines are blanks */
	size_t end;      /* end of the last token taken */
	struct token now;
};

void token_clear(struct tokens *t);
/* Sets the error with its place. Gives ST_DATA. */
enum status token_fault(struct tokens *t, size_t at, size_t len, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* token_next.c: reads the next token into `now`; `value`: a value may stand here. */
enum status token_next(struct tokens *t, bool value);

/* The kinds that have a text of their own (token_text.c); at is on the quote. */
enum status token_string(struct tokens *t, size_t at);
enum status token_regex(struct tokens *t, size_t at);
enum status token_param(struct tokens *t, size_t at);

#endif
