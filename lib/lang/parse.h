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
	const struct words *dirs; /* of includes */
	const struct spectext *known; /* includes that were read before; NULL: none */
	const struct words *with; /* of lets; NULL: none */
	struct tree_pipe *pipe;   /* of the statement that was read last; NULL: it has none */
	uint64_t with_done;       /* a bit each: of those that were put in place */
	struct spectext *last;    /* of tree->texts */
	size_t bytes, stages;     /* of all texts; of all pipelines */
	unsigned depth;           /* pipelines in pipelines */
	unsigned includes;        /* files in files */
	bool outer;               /* in the inner pipeline of an operator: x is there */
	struct err *e;
};

/* A pipeline, or with fragment an operator sequence that begins with `|`; gives. */
struct tree_pipe *parse_pipe(struct parse *p, bool fragment);
/* ( pipeline ), ( | fragment ) or the name of a let; for a place of `row`. */
struct tree_pipe *parse_group(struct parse *p, const struct param *row, bool outer);
/* The arguments of the operator, up to the end of the stage. */
enum status parse_args(struct parse *p, struct tree_stage *s);
/* The pipeline that --with gives in place of this let, or the let's own, which
 * it takes; NULL: a mistake. */
struct tree_pipe *parse_with(struct parse *p, const char *name, struct tree_pipe *own);
/* Fails for a --with that no let asked for. */
enum status parse_with_check(const struct parse *p);
/* The same with a text of a word of its own in argv form: '(range 3)'. */
bool parse_enter_word(struct parse *p, struct lex *saved);
enum status parse_leave_word(struct parse *p, const struct lex *saved);

/* Messages; all give ST_DATA. */
enum status parse_say_unknown(struct parse *p, size_t at, size_t len);
enum status parse_say_missing(struct parse *p, const struct tree_stage *s, const struct param *row,
			      size_t at, size_t end);
enum status parse_say_no_option(struct parse *p, const struct tree_stage *s, size_t at, size_t len);
enum status parse_say_surplus(struct parse *p, const struct tree_stage *s, size_t at, size_t len);
enum status parse_say_or(struct parse *p, size_t at);
enum status parse_say_no_operator(struct parse *p, size_t from);

#endif
