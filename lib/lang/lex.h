/* SPDX-License-Identifier: MIT
 *
 * Tokens, one at a time, as the parser asks for them: what a place holds (name,
 * word, atom, expression) decides how its characters are read. In a word place
 * `/logs/a*.gz` is plain; in an expression place `/ERR|FATAL/` is a pattern.
 *
 * A stage ends at `|`, `)`, `;` or the end of the line. The line goes on when
 * the next one that is not blank or a comment begins with a blank, `|` or `)`;
 * inside brackets newlines are blanks. `#` at the start of a line or after a
 * blank begins a comment.
 *
 * In the argv form (text->words) words are taken whole in word places, the words
 * `then`, `|`, `(` and `)` alone are marks, and expressions run on to the next of
 * them. A word that holds a sub-pipeline, '(range 3)', is read as text.
 */
#ifndef LANG_LEX_H
#define LANG_LEX_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"
#include "expr/expr.h"
#include "lang/setting.h"
#include "lang/spectext.h"

struct lex {
	const struct spectext *text;
	size_t at, end;     /* end: where this lexer stops; text->len unless inside a word */
	unsigned depth;     /* number of ( ) around */
	bool words;         /* reading argv form */
	struct settings *settings;
	struct buf *log;    /* gets a line for each token; NULL: none */
};

enum lex_mark { LEX_NONE, LEX_END, LEX_NEWLINE, LEX_PIPE, LEX_OR, LEX_OPEN, LEX_CLOSE, LEX_STOP };

/* Where a parameter's value is in a word, and where the parameter is written. */
struct lex_value {
	size_t at, len;       /* place in the word's text */
	size_t from, written; /* place in the spec's text */
};

/* A word that was read. Zero is empty. */
struct lex_word {
	struct buf text;
	size_t at, len;   /* place of the word as it is written */
	bool quoted;      /* some of it is quoted */
	bool given;       /* begins with a parameter from the command line */
	bool file;        /* set by the caller: keep a backslash before the characters of globs */
	/* set by the caller: keep a backslash before a letter or digit, for byte_word */
	bool byte;
	bool keep;        /* set by the caller: note the values, which the caller then owns */
	struct lex_value *values;
	size_t n_values;
};

/* Whether c is a blank or the end of a line, and no other control character. */
static inline bool
lex_space(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

void lex_init(struct lex *lx, const struct spectext *t, struct settings *s, struct buf *log);
/* Skips blanks, comments, and newlines that do not end the stage. */
void lex_blanks(struct lex *lx);
/* The mark that follows, after blanks: LEX_NONE when it is not a mark. LEX_OPEN is found in
 * argv form, and for a `(` in text. */
enum lex_mark lex_look(struct lex *lx);
bool lex_ends(enum lex_mark m); /* whether a stage ends at the mark */
/* Steps over the mark that lex_look found. */
void lex_step(struct lex *lx, enum lex_mark m);

/* The end of the text [at, end) without trailing blanks. A blank that a backslash makes part
 * of a word stays. */
size_t lex_trim(const struct lex *lx, size_t at, size_t end);

/* Length of the name that begins here, 0: none. Does not move. */
size_t lex_name_len(const struct lex *lx);
/* Length of NAME, if NAME= (not NAME==) begins here, else 0. Does not move. */
size_t lex_key_len(const struct lex *lx);
/* Notes a token for --print=tokens. */
void lex_note(struct lex *lx, const char *kind, size_t at, size_t len, const char *value);

/* The latest possible end of this stage's text, which bounds expressions in argv form. */
size_t lex_limit(const struct lex *lx);
/* The end of the group in brackets, or of the run without blanks, that begins here. */
size_t lex_group_end(const struct lex *lx);

enum status lex_word(struct lex *lx, struct lex_word *w, struct err *e);
/* Whether a word is x, .a.b, x.a or xx[0], which in an inner pipeline is the outer element. */
bool lex_is_outer(const char *s, size_t n);
/* Reads an expression, at most up to `limit`; gives. */
struct expr_ast *lex_expr(struct lex *lx, size_t limit, struct err *e);
/* Reads the expression in text [at, limit) once more; gives. */
struct expr_ast *lex_expr_again(const struct spectext *t, struct settings *s, size_t at,
				size_t limit, bool inside, struct err *e);

/* Sets an error about [at, at + len) of the text. Gives ST_DATA. */
enum status lex_fail(const struct lex *lx, size_t at, size_t len, struct err *e, const char *fmt,
		     ...) __attribute__((format(printf, 5, 6)));

#endif
