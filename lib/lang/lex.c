/* SPDX-License-Identifier: MIT */
#include "lang/lex.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"

void
lex_init(struct lex *lx, const struct spectext *t, struct settings *s, struct buf *log)
{
	*lx = (struct lex){ .text = t, .end = t->len, .words = t->words, .settings = s, .log = log };
}

enum status
lex_fail(const struct lex *lx, size_t at, size_t len, struct err *e, const char *fmt, ...)
{
	va_list ap;
	char text[ERR_TEXT];

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	err_set(e, ST_DATA, "%s", text);
	err_place(e, lx->text->file, lx->text->data, lx->text->len, at, len);
	return ST_DATA;
}

static bool
lex_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static bool
lex_name_first(char c)
{
	return isalpha((unsigned char)c) || c == '_';
}

static bool
lex_name_char(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* Whether a comment begins here. */
static bool
lex_comment(const struct lex *lx, size_t at)
{
	const char *s = lx->text->data;

	return s[at] == '#' && (at == 0 || lex_blank(s[at - 1]) || s[at - 1] == '\n');
}

/* From the newline at `at`: the start of the line that continues this one, or 0 when none
 * does. Lines that are blank or comments are skipped. */
static size_t
lex_continued(const struct lex *lx, size_t at)
{
	const char *s = lx->text->data;

	while (at < lx->end) {
		size_t line = ++at;
		while (at < lx->end && lex_blank(s[at]))
			at++;
		if (at < lx->end && s[at] == '#')
			while (at < lx->end && s[at] != '\n')
				at++;
		if (at >= lx->end)
			return 0;
		if (s[at] != '\n')
			return at > line || s[at] == '|' || s[at] == ')' ? at : 0;
	}
	return 0;
}

void
lex_blanks(struct lex *lx)
{
	const char *s = lx->text->data;

	while (lx->at < lx->end) {
		char c = s[lx->at];
		size_t next;

		if (lx->words) {
			const struct spectext_word *w = spectext_word_at(lx->text, lx->at);
			if (lx->at != w->at + w->len)
				return;
			lx->at++;
			return;
		}
		if (lex_blank(c)) {
			lx->at++;
		} else if (lex_comment(lx, lx->at)) {
			while (lx->at < lx->end && s[lx->at] != '\n')
				lx->at++;
		} else if (c == '\n' && lx->depth) {
			lx->at++;
		} else if (c == '\n' && (next = lex_continued(lx, lx->at))) {
			lx->at = next;
		} else {
			return;
		}
	}
}

/* The mark that a word in argv form is, if any. */
static enum lex_mark
lex_word_mark(const struct spectext *t, const struct spectext_word *w)
{
	const char *s = t->data + w->at;

	if (w->empty)
		return LEX_NONE;
	if (w->len == 4 && !memcmp(s, "then", 4))
		return LEX_PIPE;
	if (w->len != 1)
		return LEX_NONE;
	return *s == '|' ? LEX_PIPE : *s == '(' ? LEX_OPEN : *s == ')' ? LEX_CLOSE : LEX_NONE;
}

enum lex_mark
lex_look(struct lex *lx)
{
	lex_blanks(lx);
	if (lx->at >= lx->end)
		return LEX_END;
	if (lx->words) {
		const struct spectext_word *w = spectext_word_at(lx->text, lx->at);
		return w->at == lx->at ? lex_word_mark(lx->text, w) : LEX_NONE;
	}
	const char *s = lx->text->data + lx->at;
	switch (*s) {
	case '|':
		return lx->at + 1 < lx->end && s[1] == '|' ? LEX_OR : LEX_PIPE;
	case '\n':
		return LEX_NEWLINE;
	case ';':
		return LEX_STOP;
	case '(':
		return LEX_OPEN;
	case ')':
		return LEX_CLOSE;
	default:
		return LEX_NONE;
	}
}

bool
lex_ends(enum lex_mark m)
{
	return m != LEX_NONE && m != LEX_OPEN;
}

void
lex_step(struct lex *lx, enum lex_mark m)
{
	if (m == LEX_NONE || m == LEX_END)
		return;
	size_t n = lx->words ? spectext_word_at(lx->text, lx->at)->len : m == LEX_OR ? 2 : 1;
	if (m != LEX_NEWLINE)
		lex_note(lx, "mark", lx->at, n, NULL);
	lx->at += n;
	if (m == LEX_OPEN)
		lx->depth++;
	else if (m == LEX_CLOSE && lx->depth)
		lx->depth--;
	/* An operator may follow on the next line, indented or not. */
	if (m == LEX_PIPE && !lx->words)
		while (lx->at < lx->end && (lex_blanks(lx), lx->at < lx->end) &&
		       lx->text->data[lx->at] == '\n')
			lx->at++;
}

size_t
lex_trim(const struct lex *lx, size_t at, size_t end)
{
	const char *s = lx->text->data;

	for (; end > at && lex_space(s[end - 1]); end--) {
		size_t slashes = 0;

		while (!lx->words && slashes < end - 1 - at && s[end - 2 - slashes] == '\\')
			slashes++;
		if (slashes % 2 && s[end - 1] != '\n')
			break;
	}
	return end;
}

size_t
lex_name_len(const struct lex *lx)
{
	const char *s = lx->text->data;
	size_t at = lx->at;

	if (at >= lx->end || !lex_name_first(s[at]))
		return 0;
	while (at < lx->end && lex_name_char(s[at]))
		at++;
	return at - lx->at;
}

size_t
lex_key_len(const struct lex *lx)
{
	const char *s = lx->text->data;
	size_t n = lex_name_len(lx), eq = lx->at + n;

	if (n == 0 || eq >= lx->end || s[eq] != '=')
		return 0;
	if (lx->words && spectext_word_at(lx->text, lx->at)->at != lx->at)
		return 0;
	return eq + 1 < lx->end && s[eq + 1] == '=' ? 0 : n;
}

void
lex_note(struct lex *lx, const char *kind, size_t at, size_t len, const char *value)
{
	struct err where;

	if (!lx->log)
		return;
	err_clear(&where);
	err_place(&where, lx->text->file, lx->text->data, lx->text->len, at, len);
	buf_printf(lx->log, "%u:%u\t%s\t", where.line, where.col, kind);
	if (value)
		buf_str(lx->log, value);
	else
		buf_put(lx->log, lx->text->data + at, len);
	buf_byte(lx->log, '\n');
}

size_t
lex_limit(const struct lex *lx)
{
	const struct spectext *t = lx->text;

	if (!lx->words)
		return lx->end;
	const struct spectext_word *w = spectext_word_at(t, lx->at);
	for (; w < t->words + t->n_words; w++)
		if (w->at >= lx->at && (w->empty || lex_word_mark(t, w) == LEX_PIPE))
			return w->at > lx->at ? w->at - 1 : lx->at;
	return lx->end;
}

size_t
lex_group_end(const struct lex *lx)
{
	const char *s = lx->text->data;
	size_t limit = lex_limit(lx), at = lx->at;
	unsigned depth = 0;

	for (; at < limit; at++) {
		char c = s[at];
		if (c == '"' || c == '\'') {
			for (at++; at < limit && s[at] != c; at++)
				if (s[at] == '\\' && c == '"')
					at++;
		} else if (c == '(' || c == '[' || c == '{') {
			depth++;
		} else if (c == ')' || c == ']' || c == '}') {
			if (depth == 0)
				break;
			if (--depth == 0)
				return at + 1;
		} else if (depth == 0 && (lex_space(c) || c == '|' || c == ';')) {
			break;
		}
	}
	return at < limit ? at : limit;
}

struct expr_ast *
lex_expr_again(const struct spectext *t, struct settings *s, size_t at, size_t limit, bool inside,
	       struct err *e)
{
	struct expr_src src = {
		.file = t->file, .text = t->data, .len = limit, .at = at,
		.newline_ends = !inside && !t->words,
		.param = settings_value, .param_name = settings_name, .arg = s,
	};
	return expr_parse(&src, e);
}

/* Sets the error for a parameter without a value, rather than for an unknown one. */
static void
lex_lacking(struct settings *s, struct err *e)
{
	if (!s->lacking || !e)
		return;
	char name[64];
	snprintf(name, sizeof name, "%s", s->lacking);
	snprintf(e->text, sizeof e->text, "the parameter `%s` has no value", name);
	err_help(e, "give it one: --set %s=VALUE", name);
}

/* Adds a help to an error at a word of the command line that is the name of a file: the shell
 * may have expanded a pattern. */
static void
lex_globbed(const struct lex *lx, struct err *e)
{
	struct stat st;
	char name[256];

	if (!lx->text->words || !e || e->line != 1 || !e->col)
		return;
	const struct spectext_word *w = spectext_word_at(lx->text, e->col - 1);
	if (!w || w->len >= sizeof name)
		return;
	snprintf(name, sizeof name, "%.*s", (int)w->len, lx->text->data + w->at);
	if (!stat(name, &st))
		err_help(e, "a file of that name exists: the shell replaces something like x*x by the "
			 "names of matching files; use single quotes");
}

struct expr_ast *
lex_expr(struct lex *lx, size_t limit, struct err *e)
{
	struct expr_src src = {
		.file = lx->text->file, .text = lx->text->data, .len = limit, .at = lx->at,
		.newline_ends = !lx->depth && !lx->words,
		.param = settings_value, .param_name = settings_name, .arg = lx->settings,
	};

	lx->settings->lacking = NULL;
	struct expr_ast *a = expr_parse(&src, e);
	if (!a) {
		lex_globbed(lx, e);
		lex_lacking(lx->settings, e);
		return NULL;
	}
	size_t from = lx->at;
	lx->at = src.at;
	while (src.at > from && lex_space(lx->text->data[src.at - 1]))
		src.at--;
	lex_note(lx, "expr", from, src.at - from, NULL);
	return a;
}
