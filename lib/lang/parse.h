/* SPDX-License-Identifier: MIT
 *
 * The parser's parts among themselves: statements (parse.c), pipelines
 * (parse_pipe.c), arguments (parse_args.c), messages (parse_say.c). Pipelines and
 * arguments call each other, for an argument may be a pipeline.
 */
#ifndef LANG_PARSE_H
#define LANG_PARSE_H

#include "lang/lex.h"
#include "lang/tree.h"

struct parse {
	struct lex lx;
	struct tree *tree;
	const struct words *dirs; /* folders to look for includes */
	const struct spectext *known; /* includes that were read before; NULL: none */
	const struct words *with; /* --with for lets; NULL: none */
	/* pipeline of the statement that was read last; NULL: it has none */
	struct tree_pipe *pipe;
	uint64_t with_done;       /* one bit for each --with that has been used */
	struct spectext *last;    /* the last of tree->texts */
	size_t bytes, stages;     /* size of all texts; number of stages in all pipelines */
	unsigned depth;           /* depth of pipelines in pipelines */
	unsigned includes;        /* depth of files in files */
	bool outer;               /* in the inner pipeline of an operator, which has x */
	struct err *e;
};

/* Reads a pipeline or, with fragment, an operator sequence that begins with `|`; gives. */
struct tree_pipe *parse_pipe(struct parse *p, bool fragment);
/* Reads ( pipeline ), ( | fragment ) or the name of a let, as the value of `row`. */
struct tree_pipe *parse_group(struct parse *p, const struct param *row, bool outer);
/* Reads the arguments of the operator, up to the end of the stage. */
enum status parse_args(struct parse *p, struct tree_stage *s);
/* The pipeline that --with gives in place of this let, or the let's own, which it takes; NULL:
 * an error. */
struct tree_pipe *parse_with(struct parse *p, const char *name, struct tree_pipe *own);
/* Fails for a --with whose let does not exist. */
enum status parse_with_check(const struct parse *p);
/* In argv form, has the lexer read the text of one word, '(range 3)'; gives whether it did. */
bool parse_enter_word(struct parse *p, struct lex *saved);
enum status parse_leave_word(struct parse *p, const struct lex *saved);

/* Messages; all of them give ST_DATA. */
enum status parse_say_unknown(struct parse *p, size_t at, size_t len);
enum status parse_say_missing(struct parse *p, const struct tree_stage *s, const struct param *row,
			      size_t at, size_t end);
enum status parse_say_no_option(struct parse *p, const struct tree_stage *s, size_t at, size_t len);
enum status parse_say_surplus(struct parse *p, const struct tree_stage *s, size_t at, size_t len);
enum status parse_say_or(struct parse *p, size_t at);
enum status parse_say_no_operator(struct parse *p, size_t from);

#endif
