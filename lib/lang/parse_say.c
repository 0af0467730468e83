/* SPDX-License-Identifier: MIT
 *
 * What is said about mistakes in the shape of a spec.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "base/str.h"
#include "expr/fn.h"
#include "lang/elsewhere.h"
#include "lang/parse.h"
#include "lang/usage.h"
#include "op/table.h"

/* The i-th name that may be used as an operator: operators and lets. */
static const char *
parse_op_name(void *arg, size_t i)
{
	struct parse *p = arg;
	const struct op_desc *d = op_at(i);

	if (d)
		return d->name;
	size_t n = 0;
	while (op_at(n))
		n++;
	i -= n;
	return i < p->tree->lets.n ? ((struct tree_pipe *)p->tree->lets.items[i].value)->name : NULL;
}

/* Sets the error for a spec that is just the name of a file: -f was forgotten. */
static bool
parse_say_file(struct parse *p)
{
	const struct spectext *t = p->lx.text;
	struct stat st;

	if (memchr(t->data, '\n', t->len) || t->len >= 4096 || strcmp(t->file, "<arg>") ||
	    stat(t->data, &st) || !S_ISREG(st.st_mode))
		return false;
	size_t n = str_utf8_valid(t->data, t->len < 200 ? t->len : 200);
	lex_fail(&p->lx, 0, t->len, p->e, "`%.*s` is a file, not a spec", (int)n, t->data);
	err_help(p->e, "give a spec in a file with -f: -f %.*s", (int)n, t->data);
	return true;
}

enum status
parse_say_unknown(struct parse *p, size_t at, size_t len)
{
	const struct spectext *t = p->lx.text;
	const char *here;
	char name[64], near[128];

	snprintf(name, sizeof name, "%.*s", (int)len, t->data + at);
	lex_fail(&p->lx, at, len, p->e, "unknown operator `%s`", name);
	if (at == 0 && parse_say_file(p)) {
		return ST_DATA;
	} else if (t->words && memchr(name, ' ', strlen(name))) {
		err_help(p->e, "of several operands each is one word of the pipeline; a pipeline in "
			 "one operand must be the only one, after all options");
	} else if ((here = elsewhere_find(name))) {
		err_help(p->e, "here it is written: %s", here);
	} else if (fn_find(name, strlen(name))) {
		err_help(p->e, "%s() is a function, which stands in an expression: map %s(x)", name, name);
	} else if (str_suggest(name, parse_op_name, p, near, sizeof near)) {
		err_help(p->e, "did you mean %s?", near);
	} else {
		err_help(p->e, "`dsvc-run --ops` lists the operators");
	}
	return ST_DATA;
}

enum status
parse_say_missing(struct parse *p, const struct tree_stage *s, const struct param *row, size_t at,
		  size_t end)
{
	struct buf usage = { 0 };

	lex_fail(&p->lx, at, end > at ? end - at : 1, p->e, "`%s` needs %s here", s->desc->name,
		 usage_kind(row));
	if (row->kind < PARAM_PIPE || row->kind == PARAM_COMMAND) {
		err_help(p->e, "an empty place often means the shell expanded a $name inside "
			 "\"double quotes\"; use single quotes, or @name");
	} else {
		usage_print(s->desc, &usage);
		err_help(p->e, "it is written: %.400s", (char *)usage.data);
		buf_clear(&usage);
	}
	return ST_DATA;
}

struct parse_options {
	const struct op_desc *desc;
};

static const char *
parse_option_name(void *arg, size_t i)
{
	const struct op_desc *d = ((struct parse_options *)arg)->desc;
	size_t n = param_count(d->params);

	if (i < n)
		return d->params[i].name;
	bool exprs = false;
	for (const struct param *r = d->params; r && r->kind; r++)
		exprs |= r->kind == PARAM_EXPR || r->kind == PARAM_NAMED;
	return i == n ? "on_error" : i == n + 1 ? "per_stream" : i == n + 2 && exprs ? "nulls" : NULL;
}

enum status
parse_say_no_option(struct parse *p, const struct tree_stage *s, size_t at, size_t len)
{
	struct parse_options o = { s->desc };
	struct buf list = { 0 };
	char key[64], near[128];
	const char *name;

	snprintf(key, sizeof key, "%.*s", (int)len, p->lx.text->data + at);
	lex_fail(&p->lx, at, len, p->e, "`%s` has no option `%s`", s->desc->name, key);
	for (size_t i = 0; (name = parse_option_name(&o, i)); i++)
		buf_printf(&list, "%s%s", i ? ", " : "", name);
	if (str_suggest(key, parse_option_name, &o, near, sizeof near))
		err_help(p->e, "did you mean %s? options of %s: %.300s", near, s->desc->name,
			 (char *)list.data);
	else if (!strcmp(key, "x") || !strcmp(key, "s") || !strcmp(key, "i") || !strcmp(key, "xx"))
		err_help(p->e, "compare values with ==, match text with ~");
	else
		err_help(p->e, "options of %s: %.300s", s->desc->name, (char *)list.data);
	buf_clear(&list);
	return ST_DATA;
}

/* Whether the word before `at` is an operator that follows `||`, written where a | was meant. */
static bool
parse_after_or(const struct parse *p, size_t at, size_t *or_at)
{
	const char *s = p->lx.text->data;

	while (at > 0 && lex_space(s[at - 1]))
		at--;
	size_t end = at;
	while (at > 0 && (isalnum((unsigned char)s[at - 1]) || s[at - 1] == '_'))
		at--;
	if (at == end || !op_find(s + at, end - at))
		return false;
	while (at > 0 && lex_space(s[at - 1]))
		at--;
	if (at < 2 || s[at - 1] != '|' || s[at - 2] != '|')
		return false;
	*or_at = at - 2;
	return true;
}

enum status
parse_say_or(struct parse *p, size_t at)
{
	lex_fail(&p->lx, at, 2, p->e,
		 "`||` is the \"or\" of expressions; operators are joined by a single `|`");
	return ST_DATA;
}

enum status
parse_say_surplus(struct parse *p, const struct tree_stage *s, size_t at, size_t len)
{
	const char *what = p->lx.text->data + at, *here;
	bool expr = s->n_args && s->args[s->n_args - 1].kind == TREE_EXPR;
	struct buf usage = { 0 };
	size_t or_at;

	if (parse_after_or(p, at, &or_at))
		return parse_say_or(p, or_at);
	lex_fail(&p->lx, at, len ? len : 1, p->e, "`%s` does not take `%.*s` here", s->desc->name,
		 len > 40 ? 40 : (int)len, what);
	usage_print(s->desc, &usage);
	if (len && *what == '=' && expr)
		err_help(p->e, "compare values with ==, match text with ~");
	else if ((expr || isalpha((unsigned char)*what)) && (here = elsewhere_behind(what, len ? len : 1)))
		err_help(p->e, "%s", here);
	else
		err_help(p->e, "it is written: %.400s", (char *)usage.data);
	buf_clear(&usage);
	return ST_DATA;
}

/* Sets the error for a missing operator between `from` and the next mark. */
enum status
parse_say_no_operator(struct parse *p, size_t from)
{
	const char *s = p->lx.text->data + p->lx.at;

	if (p->lx.at == 0 && parse_say_file(p))
		return ST_DATA;
	if (p->lx.at < p->lx.end && !lex_space(*s) && *s != '|' && *s != ')' &&
	    *s != ';') {
		lex_fail(&p->lx, p->lx.at, 1, p->e, "the name of an operator is expected here");
		err_help(p->e, "`dsvc-run --ops` lists the operators");
		return ST_DATA;
	}
	lex_fail(&p->lx, from, p->lx.at > from ? p->lx.at - from : 1, p->e,
		 "an operator is missing here");
	err_help(p->e, "an empty place often means the shell expanded a $name inside "
		 "\"double quotes\"; use single quotes, or @name");
	return ST_DATA;
}
