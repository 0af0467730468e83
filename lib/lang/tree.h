/* SPDX-License-Identifier: MIT
 *
 * The tree of a spec: what was written, names not yet resolved. Parameters
 * (@name) are gone: their values stand in the words and expressions.
 *
 *	struct tree
 *	  let NAME -> struct tree_pipe
 *	  result   -> struct tree_pipe
 *	                stage, stage, ...   (an operator, or the name of a let)
 *	                  argument, ...     (scalar, word, expression, pipeline)
 */
#ifndef LANG_TREE_H
#define LANG_TREE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/hash.h"
#include "expr/expr.h"
#include "lang/setting.h"
#include "lang/spec.h"
#include "lang/spectext.h"
#include "op/op.h"

struct tree_pipe;
struct lex_value;

enum tree_arg_kind {
	TREE_SCALAR,  /* text: a number, choice or truth value */
	TREE_CONST,   /* ast: in brackets, where a scalar is wanted */
	TREE_WORD,    /* text: one word */
	TREE_EXPR,    /* ast: an expression, or a value (the row tells) */
	TREE_BIND,    /* ast: taken from the outer element */
	TREE_PIPE     /* pipe: pipeline, fragment or the name of one */
};

struct tree_arg {
	enum tree_arg_kind kind;
	const struct param *row;
	size_t at, len;       /* place of the value as written, without key= */
	size_t limit;         /* expressions: latest possible end */
	bool inside;          /* expressions: in brackets, where newlines are blanks */
	bool named;           /* given as key=value */
	bool match;           /* expressions: the text was the pattern of x ~ it */
	bool given;           /* word: begins with a value from the command line */
	char *name;           /* name of a pipeline or expression of PARAM_PIPES, PARAM_NAMED */
	char *text;
	struct lex_value *values; /* words of commands: the values of parameters in their text */
	size_t n_values;
	struct expr_ast *ast; /* the plan may take it: then NULL */
	struct tree_pipe *pipe;
};

struct tree_stage {
	const struct spectext *text;
	size_t at, len, name_len;
	const struct op_desc *desc; /* NULL: the name of a let */
	struct tree_pipe *let;      /* pipeline of the let; lent */
	struct tree_pipe *group;    /* ( pipeline ) as the first stage; owned */
	struct tree_arg *args;
	size_t n_args, cap_args;
	char *on_error;             /* policy as written; NULL: not given */
	size_t on_error_at;
	const char *nulls;          /* "skip" or "fail"; NULL: not given */
	size_t nulls_at;
	int per_stream;             /* -1: not given */
};

struct tree_pipe {
	struct tree_stage **stages;
	size_t n, cap;
	bool fragment;
	char *name;                 /* name of the let; NULL: none */
	const struct spectext *text;
	size_t at, len;
};

/* A statement as it stands in the spec's own text (not in includes). */
struct tree_part {
	size_t at, end;
	/* pipeline of a let, or the result; NULL: another statement. Lent */
	struct tree_pipe *pipe;
};

struct tree {
	struct spectext *texts;     /* the texts, beginning with the spec's */
	struct settings settings;
	struct hash lets;           /* name -> struct tree_pipe, owned */
	struct spec_options options;
	struct tree_pipe *result;
	struct tree_part *parts;
	size_t n_parts, cap_parts;
};

/* Reads the spec; log: gets the tokens appended (NULL: none). Gives. */
enum status tree_make(const struct spec_src *src, struct buf *log, struct tree **out, struct err *e);
void tree_free(struct tree **t);
void tree_pipe_free(struct tree_pipe **p);
void tree_print(const struct tree *t, struct buf *out);

struct tree_stage *tree_stage_add(struct tree_pipe *p);
struct tree_arg *tree_arg_add(struct tree_stage *s);

extern const struct param spec_option_rows[];

#endif
