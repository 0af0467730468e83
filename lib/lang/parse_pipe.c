/* SPDX-License-Identifier: MIT
 *
 * Pipelines: stages joined by `|`, sub-pipelines, fragments, names of lets.
 */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "lang/parse.h"
#include "lang/usage.h"
#include "op/table.h"

static struct tree_pipe *
parse_let_named(struct parse *p, size_t n)
{
	return hash_get(&p->tree->lets, p->lx.text->data + p->lx.at, n);
}

/* Length of the operator's name here. In argv form it is a whole word. */
static size_t
parse_op_len(struct parse *p)
{
	size_t n = lex_name_len(&p->lx);

	if (!p->lx.words || n == 0)
		return n;
	const struct spectext_word *w = spectext_word_at(p->lx.text, p->lx.at);
	return w->at + w->len - p->lx.at;
}

static enum status
parse_let_use(struct parse *p, struct tree_stage *s, bool first)
{
	const char *name = s->let->name;

	if (s->let->fragment && first) {
		lex_fail(&p->lx, s->at, s->len, p->e, "`%s` is a fragment: it needs a source "
			 "before it", name);
		err_help(p->e, "put a source first: range 10 | %s", name);
		return ST_DATA;
	}
	if (!s->let->fragment && !first) {
		lex_fail(&p->lx, s->at, s->len, p->e,
			 "`%s` is a pipeline with a source of its own: it must come first", name);
		err_help(p->e, "a fragment that follows `|` is defined as let %s = | ...", name);
		return ST_DATA;
	}
	enum lex_mark m = lex_look(&p->lx);
	if (!lex_ends(m))
		return lex_fail(&p->lx, p->lx.at, 1, p->e, "`%s` is the name of a let: "
				"it takes no arguments", name);
	return ST_OK;
}

/* Whether the operator may be used here: sources and combines only come first, others never do. */
static enum status
parse_op_place(struct parse *p, const struct tree_stage *s, bool first)
{
	const struct op_desc *d = s->desc;

	if (first && d->kind == OP_TRANSFORM) {
		lex_fail(&p->lx, s->at, s->len, p->e,
			 "`%s` needs a source before it", d->name);
		err_help(p->e, "begin with a source: range 10 | %s ...", d->name);
		return ST_DATA;
	}
	if (!first && d->kind != OP_TRANSFORM) {
		lex_fail(&p->lx, s->at, s->len, p->e, "`%s` produces its own elements: it must come first",
			 d->name);
		if (d->kind == OP_COMBINE)
			err_help(p->e, "the pipeline before it can be one of its inputs: %s (...) (...)",
				 d->name);
		else
			err_help(p->e, "to read both one after the other: concat (...) (%s ...)",
				 d->name);
		return ST_DATA;
	}
	return ST_OK;
}

static enum status
parse_stage(struct parse *p, struct tree_pipe *pipe, bool first, size_t from)
{
	enum lex_mark m = lex_look(&p->lx);

	if (m == LEX_OR)
		return parse_say_or(p, p->lx.at);
	if (m == LEX_OPEN && first) {
		struct tree_stage *s = tree_stage_add(pipe);
		s->text = p->lx.text;
		s->at = p->lx.at;
		s->group = parse_group(p, NULL, p->outer);
		s->len = p->lx.at - s->at;
		return s->group ? ST_OK : ST_DATA;
	}
	size_t n = m == LEX_NONE ? parse_op_len(p) : 0;
	if (n == 0)
		return parse_say_no_operator(p, from);
	if (++p->stages > SPEC_OPS)
		return lex_fail(&p->lx, p->lx.at, n, p->e, "more than %d operators", SPEC_OPS);

	const struct op_desc *d = op_find(p->lx.text->data + p->lx.at, n);
	struct tree_pipe *let = parse_let_named(p, n);
	if (!d && !let)
		return parse_say_unknown(p, p->lx.at, n);
	struct tree_stage *s = tree_stage_add(pipe);
	*s = (struct tree_stage){ .text = p->lx.text, .at = p->lx.at, .len = n, .name_len = n,
				  .desc = let ? NULL : d, .let = let, .per_stream = -1 };
	lex_note(&p->lx, "name", s->at, n, NULL);
	p->lx.at += n;
	if (let)
		return parse_let_use(p, s, first);
	if (parse_op_place(p, s, first))
		return ST_DATA;
	bool outer = p->outer;
	enum status st = parse_args(p, s);
	p->outer = outer;
	return st;
}

struct tree_pipe *
parse_pipe(struct parse *p, bool fragment)
{
	struct tree_pipe *pipe = mem_zalloc(sizeof *pipe);
	size_t from = p->lx.at;
	bool first = !fragment, outer = p->outer;

	lex_look(&p->lx);
	pipe->at = p->lx.at;
	pipe->text = p->lx.text;
	pipe->fragment = fragment;
	for (;;) {
		if (parse_stage(p, pipe, first, from))
			goto fail;
		pipe->len = p->lx.at - pipe->at;
		enum lex_mark m = lex_look(&p->lx);
		if (m == LEX_OR) {
			parse_say_or(p, p->lx.at);
			goto fail;
		}
		if (m != LEX_PIPE)
			break;
		from = p->lx.at;
		lex_step(&p->lx, m);
		first = false;
		/* Only the first operator may take values from the outer element. */
		p->outer = false;
	}
	p->outer = outer;
	return pipe;
fail:
	p->outer = outer;
	tree_pipe_free(&pipe);
	return NULL;
}

bool
parse_enter_word(struct parse *p, struct lex *saved)
{
	if (!p->lx.words)
		return false;
	const struct spectext_word *w = spectext_word_at(p->lx.text, p->lx.at);
	if (w->at + w->len - p->lx.at < 2 || p->lx.text->data[p->lx.at] != '(')
		return false;
	*saved = p->lx;
	p->lx.words = false;
	p->lx.end = w->at + w->len;
	return true;
}

enum status
parse_leave_word(struct parse *p, const struct lex *saved)
{
	enum lex_mark m = lex_look(&p->lx);
	size_t at = p->lx.at, end = p->lx.end;

	p->lx = *saved;
	p->lx.at = end;
	if (m != LEX_END)
		return lex_fail(&p->lx, at, end - at, p->e, "unexpected text after `)`");
	return ST_OK;
}

static struct tree_pipe *
parse_group_let(struct parse *p, const struct param *row, size_t n)
{
	struct tree_pipe *let = parse_let_named(p, n), *pipe;
	bool want = row && row->kind == PARAM_FRAGMENT;

	if (let->fragment != want) {
		lex_fail(&p->lx, p->lx.at, n, p->e, "`%s` is a %s; %s is needed here", let->name,
			 let->fragment ? "fragment" : "pipeline", usage_kind(row));
		return NULL;
	}
	pipe = mem_zalloc(sizeof *pipe);
	pipe->at = p->lx.at;
	pipe->len = n;
	pipe->text = p->lx.text;
	pipe->fragment = want;
	struct tree_stage *s = tree_stage_add(pipe);
	s->text = p->lx.text;
	s->at = p->lx.at;
	s->len = s->name_len = n;
	s->let = let;
	lex_note(&p->lx, "name", p->lx.at, n, NULL);
	p->lx.at += n;
	return pipe;
}

static struct tree_pipe *
parse_group_in(struct parse *p, const struct param *row)
{
	size_t open = p->lx.at;

	if (p->depth >= SPEC_DEPTH) {
		lex_fail(&p->lx, open, 1, p->e, "pipelines are nested more than %d deep", SPEC_DEPTH);
		return NULL;
	}
	lex_step(&p->lx, LEX_OPEN);
	bool fragment = lex_look(&p->lx) == LEX_PIPE, want = row && row->kind == PARAM_FRAGMENT;
	if (fragment != want) {
		lex_fail(&p->lx, open, p->lx.at + 1 - open, p->e,
			 want ? "a fragment begins with `|`: (| op ...)" :
				"a pipeline begins with a source; (| ...) is a fragment");
		return NULL;
	}
	if (fragment)
		lex_step(&p->lx, LEX_PIPE);
	p->depth++;
	struct tree_pipe *pipe = parse_pipe(p, fragment);
	p->depth--;
	if (!pipe)
		return NULL;
	enum lex_mark m = lex_look(&p->lx);
	if (m != LEX_CLOSE) {
		lex_fail(&p->lx, open, 1, p->e, "this ( is not closed");
		if (m == LEX_STOP)
			err_help(p->e, "a `;` ends the statement; it cannot stand in parentheses");
		tree_pipe_free(&pipe);
		return NULL;
	}
	lex_step(&p->lx, m);
	return pipe;
}

struct tree_pipe *
parse_group(struct parse *p, const struct param *row, bool outer)
{
	bool before = p->outer;
	struct lex saved;
	struct tree_pipe *pipe = NULL;
	size_t n = lex_name_len(&p->lx);

	if (n && parse_let_named(p, n))
		return parse_group_let(p, row, n);
	bool word = parse_enter_word(p, &saved);
	p->outer = outer;
	if (lex_look(&p->lx) == LEX_OPEN)
		pipe = parse_group_in(p, row);
	else
		lex_fail(&p->lx, p->lx.at, 1, p->e, "%s is expected here", usage_kind(row));
	p->outer = before;
	if (word && pipe && parse_leave_word(p, &saved))
		tree_pipe_free(&pipe);
	return pipe;
}
