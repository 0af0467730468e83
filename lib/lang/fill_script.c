/* SPDX-License-Identifier: MIT
 *
 * The words of commands and scripts. The value of a parameter is one word in a
 * script, or part of one; in no word is a place of the element seen in it.
 */
#include <string.h>

#include "base/mem.h"
#include "lang/lex.h"
#include "lang/planner.h"
#include "op/exec_args.h"
#include "base/script.h"

/* A place in the script, and where it is written in the spec. */
struct script_mark {
	struct script_spot spot;
	size_t from, written;
	bool value;
};

struct script {
	struct planner *pl;
	const struct tree_stage *s;
	struct op_words kind;
	struct buf text;          /* all words, separated by blanks */
	struct script_mark *v;
	size_t n, cap;
};

static bool
script_is_word(const struct tree_arg *a)
{
	return a->kind == TREE_WORD &&
	       (a->row->kind == PARAM_COMMAND || a->row->flags & PARAM_SCRIPT);
}

/* Whether a script consists of one parameter only, whose value is the script. */
static bool
script_is_value(const struct tree_arg *a)
{
	return a->row->flags & PARAM_SCRIPT && a->n_values == 1 && a->values[0].at == 0 &&
	       !a->text[a->values[0].len];
}

static void
script_mark(struct script *x, size_t at, size_t len, size_t from, size_t written, bool value)
{
	x->v = mem_grow(x->v, &x->cap, x->n + 1, sizeof *x->v);
	x->v[x->n++] = (struct script_mark){ { at, len }, from, written, value };
}

/* Finds where the k-th p[0..n) of a word is written in the spec; if nowhere, the whole word. */
static void
script_written(const struct script *x, const struct tree_arg *a, const char *p, size_t n, size_t k,
	       size_t *from, size_t *written)
{
	const char *s = x->s->text->data;

	*from = a->at;
	*written = a->len;
	for (size_t at = a->at; at + n <= a->at + a->len; at++) {
		if (memcmp(s + at, p, n) || k--)
			continue;
		*from = at;
		*written = n;
		return;
	}
}

/* Notes the places for the element between two values: text[from, end). */
static void
script_places(struct script *x, const struct tree_arg *a, size_t word, size_t from)
{
	const char *text = (char *)x->text.data, *p = text + from;
	size_t n, at, written;

	if (!x->kind.places)
		return;
	for (; (n = exec_args_find(p, x->kind.script, &p)); p += n) {
		size_t k = 0;

		for (const char *c = text + word; c + n <= p; c++)
			k += !memcmp(c, p, n);
		script_written(x, a, p, n, k, &at, &written);
		script_mark(x, (size_t)(p - text), n, at, written, false);
	}
}

/* Adds one word, with its values quoted as necessary. */
static void
script_word(struct script *x, const struct tree_arg *a)
{
	size_t word = x->text.len, from = 0, begin;

	for (size_t i = 0; !script_is_value(a) && i < a->n_values; i++) {
		const struct lex_value *v = &a->values[i];

		begin = x->text.len;
		buf_put(&x->text, a->text + from, v->at - from);
		script_places(x, a, word, begin);
		begin = x->text.len;
		if (x->kind.script)
			script_quote(a->text + v->at, v->len, &x->text);
		else if (x->kind.places)
			exec_args_quote(a->text + v->at, v->len, &x->text);
		else
			buf_put(&x->text, a->text + v->at, v->len);
		script_mark(x, begin, x->text.len - begin, v->from, v->written, true);
		from = v->at + v->len;
	}
	begin = x->text.len;
	buf_str(&x->text, a->text + from);
	script_places(x, a, word, begin);
}

static enum status
script_refuse(struct script *x, const struct script_mark *m, const char *where)
{
	const char *p = x->s->text->data + m->from;
	const char *hidden = strstr(where, "double") ? "\"\"" : strstr(where, "single") ? "''" : NULL;
	struct err *e = x->pl->e;
	int n = m->written < 60 ? (int)m->written : 60;

	err_set(e, ST_DATA, "%.*s stands %s: %s would be read as script there", n, p, where,
		m->value ? "its value" : "the element");
	if (!x->kind.script)
		err_help(e, "give it to the script as an argument: sh -c '... \"$1\"' sh %.*s%s", n, p,
			 m->value ? "" : "; or use `sh`");
	else if (m->value || !hidden)
		err_help(e, "write it on its own: it is one word, whatever it contains");
	else
		err_help(e, "write it outside quotes: it is one word, whatever it contains; "
			 "as text %.*s is written {%s%.*s", n, p, hidden, n - 1, p + 1);
	return plan_fail_at(x->pl, x->s, m->from, m->written, ST_DATA);
}

static enum status
script_check(struct script *x)
{
	struct script_spot *spots = mem_array(x->n + 1, sizeof *spots);
	const char *where;
	size_t bad;

	for (size_t i = 0; i < x->n; i++)
		spots[i] = x->v[i].spot;
	where = script_misplaced((char *)x->text.data, x->text.len, spots, x->n, &bad);
	mem_free(spots);
	return where ? script_refuse(x, &x->v[bad], where) : ST_OK;
}

/* Puts the word into the operator's field. */
static enum status
script_set(struct script *x, struct op_node *n, const struct tree_arg *a, const char *p, size_t len)
{
	if (a->row->kind != PARAM_COMMAND)
		return param_set(a->row, n->params, p, len, x->pl->e);
	words_add((struct words *)((char *)n->params + a->row->offset), p, len);
	return ST_OK;
}

static enum status
script_fill(struct script *x, struct op_node *n)
{
	enum status st = ST_OK;
	size_t script_from = 0, script_end = 0, word = 0;

	for (size_t i = 0; i < x->s->n_args; i++) {
		const struct tree_arg *a = &x->s->args[i];
		struct words *words = (struct words *)((char *)n->params + a->row->offset);

		if (!script_is_word(a))
			continue;
		if (!word++ && a->row->kind == PARAM_COMMAND) {
			script_end = script_of_words(words, &script_from);
			words_clear(words);
		}
		size_t had = x->text.len, marks = x->n;
		script_word(x, a);
		if ((st = script_set(x, n, a, (char *)x->text.data + had, x->text.len - had)))
			return st;
		if (!x->kind.script && word > script_from && word <= script_end && a->row->kind == PARAM_COMMAND &&
		    x->n > marks)
			return script_refuse(x, &x->v[marks], "in the script of a shell");
		buf_byte(&x->text, ' ');
	}
	return x->kind.script ? script_check(x) : ST_OK;
}

enum status
fill_script(struct planner *pl, struct op_node *n, const struct tree_stage *s)
{
	struct script x = { .pl = pl, .s = s, .kind = n->desc->words(n) };
	enum status st = script_fill(&x, n);

	buf_clear(&x.text);
	mem_free(x.v);
	return st;
}
