/* SPDX-License-Identifier: MIT
 *
 * The arguments of one operator: positional ones first, then key=value. The
 * rows of the operator's parameters tell how each is read.
 */
#include <assert.h>
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "expr/escape.h"
#include "lang/parse.h"
#include "lang/usage.h"
#include "op/table.h"

struct args {
	struct parse *p;
	struct tree_stage *s;
	const struct param *row; /* the next positional parameter; at the end: kind NONE */
	bool keyed;              /* a key=value has been seen */
	bool plain;              /* argv form: `--` was seen, and everything after it is words */
};

/* Checks that a value is followed by something that ends it. */
static enum status
args_boundary(struct args *a, size_t from)
{
	struct lex *lx = &a->p->lx;
	const char *s = lx->text->data;
	size_t at = lx->at;

	if (at >= lx->end || lex_space(s[at]) || strchr("|);", s[at]) ||
	    (at > from && lex_space(s[at - 1])))
		return ST_OK;
	size_t end = at + 1;
	while (end < lx->end && !lex_space(s[end]) && !strchr("|);", s[end]))
		end++;
	return parse_say_surplus(a->p, a->s, at, end - at);
}

/* Recognizes `filter x > 3 || batch 4`: the name of an operator after `||`, in an expression
 * that cannot be read. Sets the error if so. */
static bool
args_meant_pipe(struct args *a, size_t limit)
{
	const char *s = a->p->lx.text->data;

	for (size_t at = a->p->lx.at; at + 2 < limit && s[at] != '\n'; at++) {
		size_t from = at + 2, end;
		if (s[at] != '|' || s[at + 1] != '|')
			continue;
		while (from < limit && s[from] == ' ')
			from++;
		for (end = from; end < limit && (isalnum((unsigned char)s[end]) || s[end] == '_');)
			end++;
		if (end > from && (end == limit || s[end] == ' ') && op_find(s + from, end - from)) {
			parse_say_or(a->p, at);
			return true;
		}
	}
	return false;
}

static enum status
args_expr(struct args *a, struct tree_arg *arg, size_t limit)
{
	struct lex *lx = &a->p->lx;

	arg->at = lx->at;
	arg->limit = limit;
	arg->inside = lx->depth > 0;
	arg->ast = lex_expr(lx, limit, a->p->e);
	if (!arg->ast)
		return (args_meant_pipe(a, limit), ST_DATA);
	if (arg->match)
		arg->ast = expr_match_of(arg->ast);
	size_t end = lx->at;
	while (end > arg->at && lex_space(lx->text->data[end - 1]))
		end--;
	arg->len = end - arg->at;
	return args_boundary(a, arg->at);
}

/* Whether x in the place of a scalar or word is the outer element: in the source of an inner
 * pipeline it is. */
static bool
args_takes_outer(struct args *a)
{
	struct lex *lx = &a->p->lx;

	if (!a->p->outer || a->s->desc->kind != OP_SOURCE)
		return false;
	size_t end = lex_group_end(lx);
	return (lx->text->data[lx->at] == '(' || lex_is_outer(lx->text->data + lx->at, end - lx->at));
}

/* Gives a word for one byte its one spelling: that byte, or \0. */
static void
args_byte(struct buf *word)
{
	struct buf b = { 0 };
	size_t used;

	if (word->len > 1 && word->data[0] == '\\' &&
	    escape_read((char *)word->data + 1, word->len - 1, &b, &used) &&
	    used == word->len - 1 && b.len == 1) {
		buf_reset(word);
		if (b.data[0])
			buf_byte(word, b.data[0]);
		else
			buf_str(word, "\\0");
	}
	buf_clear(&b);
}

static enum status
args_word(struct args *a, const struct param *row, struct tree_arg *arg)
{
	struct lex *lx = &a->p->lx;
	struct lex_word w = { .file = row->flags & PARAM_PATH, .byte = row->flags & PARAM_BYTE,
			      .keep = row->kind == PARAM_COMMAND || row->flags & PARAM_SCRIPT };

	if (!a->plain && args_takes_outer(a)) {
		arg->kind = TREE_BIND;
		return args_expr(a, arg, lx->text->data[lx->at] == '(' ? lex_group_end(lx) :
							    lex_limit(lx));
	}
	arg->kind = TREE_WORD;
	enum status st = lex_word(lx, &w, a->p->e);
	arg->at = w.at;
	arg->len = w.len;
	arg->given = w.given;
	arg->values = w.values;
	arg->n_values = w.n_values;
	if (st == ST_OK && memchr(w.text.data, 0, w.text.len)) {
		buf_clear(&w.text);
		return lex_fail(lx, arg->at, arg->len, a->p->e, "a NUL byte in a word");
	}
	if (st == ST_OK && w.byte)
		args_byte(&w.text);
	arg->text = buf_take(&w.text);
	return st;
}

/* Reads a scalar that is @name alone in argv form, where words are taken as they are. */
static enum status
args_param_word(struct args *a, struct tree_arg *arg)
{
	struct lex *lx = &a->p->lx, saved = *lx;
	struct lex_word w = { 0 };
	const struct spectext_word *word = spectext_word_at(lx->text, lx->at);

	lx->words = false;
	lx->end = word->at + word->len;
	enum status st = lex_word(lx, &w, a->p->e);
	*lx = saved;
	lx->at = w.at + w.len;
	arg->at = w.at;
	arg->len = w.len;
	arg->text = buf_take(&w.text);
	return st;
}

static enum status
args_scalar(struct args *a, const struct param *row, struct tree_arg *arg)
{
	struct lex *lx = &a->p->lx;
	char c = lx->text->data[lx->at];

	if (args_takes_outer(a)) {
		arg->kind = TREE_BIND;
		return args_expr(a, arg, c == '(' ? lex_group_end(lx) : lex_limit(lx));
	}
	if (c == '(') {
		arg->kind = TREE_CONST;
		return args_expr(a, arg, lex_group_end(lx));
	}
	enum status st;
	if (lx->words && (c == '@' || c == '$')) {
		st = args_param_word(a, arg);
		arg->kind = TREE_SCALAR;
	} else {
		st = args_word(a, row, arg);
		arg->kind = TREE_SCALAR;
	}
	return st;
}

/* Whether the operator was called by its word for x ~ PATTERN. */
static bool
args_is_match(const struct tree_stage *s)
{
	const char *word = s->desc->match;

	return word && strlen(word) == s->name_len &&
	       !memcmp(s->text->data + s->at, word, s->name_len);
}

static enum status
args_value(struct args *a, const struct param *row, struct tree_arg *arg, bool more)
{
	struct lex *lx = &a->p->lx;
	bool inner = a->s->desc->kind == OP_TRANSFORM || a->p->outer;

	arg->row = row;
	switch (row->kind) {
	case PARAM_WORD:
	case PARAM_WORDS:
	case PARAM_COMMAND:
		return args_word(a, row, arg);
	case PARAM_EXPR:
	case PARAM_NAMED:
		arg->kind = TREE_EXPR;
		arg->match = args_is_match(a->s);
		return args_expr(a, arg, lex_limit(lx));
	case PARAM_VALUE:
		arg->kind = a->p->outer && a->s->desc->kind == OP_SOURCE &&
			    lex_is_outer(lx->text->data + lx->at,
					 lex_group_end(lx) - lx->at) ? TREE_BIND : TREE_EXPR;
		/* Before another expression, this one ends at a blank: scan [0] [x]. */
		return args_expr(a, arg, more ? lex_group_end(lx) : lex_limit(lx));
	case PARAM_PIPE:
	case PARAM_PIPES:
	case PARAM_FRAGMENT:
		arg->kind = TREE_PIPE;
		arg->at = lx->at;
		arg->pipe = parse_group(a->p, row, inner);
		arg->len = lx->at - arg->at;
		return arg->pipe ? args_boundary(a, arg->at) : ST_DATA;
	default:
		return args_scalar(a, row, arg);
	}
}

static bool
args_has(const struct tree_stage *s, const struct param *row)
{
	for (size_t i = 0; i < s->n_args; i++)
		if (s->args[i].row == row)
			return true;
	return false;
}

/* Reads nulls=skip and nulls=fail. False: it is neither; a field may be called nulls as well. */
static bool
args_nulls(struct args *a)
{
	static const char *const words[] = { "skip", "fail" };
	struct lex *lx = &a->p->lx;
	const char *s = lx->text->data + lx->at;
	size_t n = lex_limit(lx) - lx->at, len = 0;

	while (len < n && isalnum((unsigned char)s[len]))
		len++;
	for (int i = 0; i < 2; i++)
		if (len == 4 && !memcmp(s, words[i], 4) && (len == n || s[len] != '(')) {
			a->s->nulls = words[i];
			a->s->nulls_at = lx->at;
			lx->at += len;
			return true;
		}
	return false;
}

static bool
args_is_common(const char *key, size_t n)
{
	return (n == 8 && !memcmp(key, "on_error", 8)) || (n == 10 && !memcmp(key, "per_stream", 10))
		|| (n == 5 && !memcmp(key, "nulls", 5));
}

/* Reads on_error=, nulls= and per_stream=, which every operator has. */
static enum status
args_common(struct args *a, size_t key_at, size_t n, bool any, bool *mine)
{
	static const struct param rows[] = { { .name = "on_error", .kind = PARAM_WORD },
					     { .name = "per_stream", .kind = PARAM_BOOL },
					     { 0 } };
	const struct param *row = param_find(rows, a->p->lx.text->data + key_at, n);
	struct tree_arg arg = { 0 };
	struct err *e = a->p->e;
	enum status st;
	bool on;

	*mine = row != NULL;
	if (!row && n == 5 && !memcmp(a->p->lx.text->data + key_at, "nulls", n)) {
		*mine = args_nulls(a);
		return *mine || any ? ST_OK : lex_fail(&a->p->lx, key_at, n, e, "nulls is skip or fail");
	}
	if (!row)
		return ST_OK;
	st = args_scalar(a, row, &arg);
	if (!st && row->kind == PARAM_BOOL) {
		if (arg.kind != TREE_SCALAR)
			st = lex_fail(&a->p->lx, arg.at, arg.len, e, "true or false is needed here");
		else if (param_set(row, &on, arg.text, strlen(arg.text), e))
			st = (err_place(e, a->s->text->file, a->s->text->data, a->s->text->len,
					arg.at, arg.len), e->kind = ST_DATA);
		else
			a->s->per_stream = on;
	} else if (!st) {
		if (arg.kind != TREE_SCALAR)
			st = lex_fail(&a->p->lx, arg.at, arg.len, e, "a word is needed here");
		mem_free(a->s->on_error);
		a->s->on_error = arg.text;
		a->s->on_error_at = arg.at;
		arg.text = NULL;
	}
	mem_free(arg.text);
	expr_ast_free(&arg.ast);
	return st;
}

static enum status
args_keyed(struct args *a, size_t n)
{
	struct parse *p = a->p;
	size_t key_at = p->lx.at;
	const char *key = p->lx.text->data + key_at;
	const struct param *row = param_find(a->s->desc->params, key, n), *any = NULL;
	bool mine = false;

	for (const struct param *r = a->s->desc->params; r && r->kind; r++)
		if (r->kind == PARAM_PIPES || r->kind == PARAM_NAMED)
			any = r;
	lex_note(&p->lx, "key", key_at, n, NULL);
	p->lx.at += n + 1;
	if (!row && !any) {
		if (!args_is_common(key, n))
			return parse_say_no_option(p, a->s, key_at, n);
	}
	a->keyed = true;
	size_t value_at = p->lx.at;
	struct lex look = p->lx;
	bool inside_word = p->lx.words && value_at < spectext_word_at(p->lx.text, key_at)->at +
						    spectext_word_at(p->lx.text, key_at)->len;
	if (value_at >= p->lx.end || (p->lx.words && !inside_word) ||
	    (!p->lx.words && (lex_space(key[n + 1]) ||
			      lex_ends(lex_look(&look))))) {
		const struct param *r = row ? row : any;
		lex_fail(&p->lx, key_at, n + 1, p->e, "`%.*s=` needs %s", (int)n, key,
			 r ? usage_kind(r) : "a value");
		err_help(p->e, "an empty place often means the shell expanded a $name inside "
			 "\"double quotes\"; use single quotes, or @name");
		return ST_DATA;
	}
	if (!row) {
		enum status st = args_common(a, key_at, n, any, &mine);
		if (st || mine)
			return st;
		row = any;
	}
	if (row != any && args_has(a->s, row) && !(row->flags & PARAM_REST))
		return lex_fail(&p->lx, key_at, n, p->e, "`%s` is given twice", row->name);
	struct tree_arg *arg = tree_arg_add(a->s);
	if (row == any)
		arg->name = mem_strndup(key, n);
	arg->named = true;
	return args_value(a, row, arg, false);
}

/* The next positional parameter without a value. */
static const struct param *
args_next_row(struct args *a)
{
	while (a->row && a->row->kind) {
		if (a->row->flags & PARAM_KEY_ONLY && a->row->kind != PARAM_COMMAND) {
			a->row++;
			continue;
		}
		if (!args_has(a->s, a->row) || a->row->flags & PARAM_REST ||
		    a->row->kind == PARAM_PIPES || a->row->kind == PARAM_COMMAND)
			return a->row;
		a->row++;
	}
	return NULL;
}

static bool
args_more_after(const struct param *row)
{
	return row[1].kind != PARAM_NONE && !(row[1].flags & PARAM_KEY_ONLY);
}

static enum status
args_positional(struct args *a)
{
	struct parse *p = a->p;
	const struct param *row = args_next_row(a);
	size_t at = p->lx.at, end;

	if (!row)
		return parse_say_surplus(p, a->s, at, lex_group_end(&p->lx) - at);
	if (a->keyed && row->kind != PARAM_COMMAND) {
		end = lex_group_end(&p->lx);
		lex_fail(&p->lx, p->lx.at, end > p->lx.at ? end - p->lx.at : 1, p->e,
			 "values without a name must come before name=value");
		return ST_DATA;
	}
	enum status st = args_value(a, row, tree_arg_add(a->s), args_more_after(row));
	/* Even an empty word of the argv form has characters in its text. */
	assert(st || p->lx.at > at);
	return st;
}

/* Steps over `--`: in argv form no word after it is an option; for a command it begins the
 * words. */
static bool
args_dashes(struct args *a)
{
	struct lex *lx = &a->p->lx;
	const char *s = lx->text->data + lx->at;
	size_t left = lx->end - lx->at;

	if (left < 2 || s[0] != '-' || s[1] != '-' ||
	    (left > 2 && !lex_space(s[2]) && !strchr("|);", s[2])))
		return false;
	const struct param *row = args_next_row(a);
	if (!row || (row->kind != PARAM_COMMAND && row->kind != PARAM_WORDS && row->kind != PARAM_WORD))
		return false;
	lx->at += 2;
	a->plain = true;
	return true;
}

/* Length of a key that begins here: known keys always count; an unknown key is a mistake, but
 * in argv form may be part of the name of a file. */
static size_t
args_key_len(struct args *a)
{
	struct lex *lx = &a->p->lx;
	size_t n = lex_key_len(lx);
	const struct param *row = a->row ? args_next_row(a) : NULL;

	if (n == 0 || a->plain)
		return 0;
	if (row && row->kind == PARAM_COMMAND && a->row->kind == PARAM_COMMAND &&
	    args_has(a->s, row))
		return 0;
	if (!lx->words || !row || (row->kind != PARAM_WORD && row->kind != PARAM_WORDS))
		return n;
	const char *key = lx->text->data + lx->at;
	return param_find(a->s->desc->params, key, n) || args_is_common(key, n) ? n : 0;
}

enum status
parse_args(struct parse *p, struct tree_stage *s)
{
	struct args a = { .p = p, .s = s, .row = s->desc->params };
	enum lex_mark m;
	size_t end = p->lx.at, n;

	for (;;) {
		m = lex_look(&p->lx);
		if (lex_ends(m))
			break;
		enum status st = ST_OK;
		if (!a.plain && args_dashes(&a))
			continue;
		if ((n = args_key_len(&a)))
			st = args_keyed(&a, n);
		else
			st = args_positional(&a);
		if (st)
			return st;
		end = p->lx.at;
	}
	end = lex_trim(&p->lx, s->at, end);
	s->len = end - s->at;
	for (const struct param *r = s->desc->params; r && r->kind; r++) {
		bool needed = !r->def && !(r->flags & PARAM_OPTIONAL);
		if (!needed || args_has(s, r))
			continue;
		if (r->flags & PARAM_KEY_ONLY && r->kind != PARAM_COMMAND) {
			lex_fail(&p->lx, s->at, s->len, p->e, "`%s` needs %s=, %s", s->desc->name,
				 r->name, usage_kind(r));
			return ST_DATA;
		}
		return parse_say_missing(p, s, r, s->n_args ? end : s->at, p->lx.at);
	}
	return ST_OK;
}
