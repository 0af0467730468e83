/* SPDX-License-Identifier: MIT
 *
 * Words: plain characters, quoted pieces and parameters, joined as a shell joins
 * them. The value of a parameter is put in as it is and never looked at again.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "expr/escape.h"
#include "lang/constant.h"
#include "lang/lex.h"

bool
lex_is_outer(const char *s, size_t n)
{
	size_t at = n && *s == 'x' ? (n > 1 && s[1] == 'x' ? 2 : 1) : 0;

	while (at < n) {
		if (s[at] == '.' && at + 1 < n && (isalpha((unsigned char)s[at + 1]) || s[at + 1] == '_')) {
			for (at++; at < n && (isalnum((unsigned char)s[at]) || s[at] == '_');)
				at++;
		} else if (s[at] == '[' && at > 0) {
			while (at < n && s[at] != ']')
				at++;
			if (at++ >= n)
				return false;
		} else {
			return false;
		}
	}
	return n > 0;
}

/* Length of @name, @{name}, $name or ${name} at s, and the name. */
static size_t
lex_param_len(const char *s, const char *end, const char **name, size_t *n)
{
	bool brace = s + 1 < end && s[1] == '{';
	const char *p = s + 1 + brace;

	*name = p;
	while (p < end && (isalnum((unsigned char)*p) || *p == '_'))
		p++;
	*n = (size_t)(p - *name);
	if (*n == 0 || isdigit((unsigned char)**name) || (brace && (p >= end || *p != '}')))
		return 0;
	return (size_t)(p + brace - s);
}

static void
lex_note_value(struct lex_word *w, size_t had, size_t from, size_t written)
{
	w->values = mem_realloc(w->values, (w->n_values + 1) * sizeof *w->values);
	w->values[w->n_values++] = (struct lex_value){ had, w->text.len - had, from, written };
}

static enum status
lex_param(struct lex *lx, size_t at, size_t len, const char *name, size_t n, struct lex_word *w,
	  struct err *e)
{
	struct buf value = { 0 };
	char near[128], own[64];

	lx->settings->lacking = NULL;
	snprintf(own, sizeof own, "%.*s", (int)n, name);
	if (settings_value(lx->settings, name, n, &value)) {
		size_t had = w->text.len;
		bool ok = constant_text(value.data, value.len, &w->text);
		buf_clear(&value);
		if (w->keep && ok)
			lex_note_value(w, had, at, len);
		if (!ok)
			return lex_fail(lx, at, len, e, "the parameter `%s` is a list or record; "
					"one word is needed here", own);
		if (at == w->at)
			w->given = settings_given(lx->settings, name, n);
		return ST_OK;
	}
	buf_clear(&value);
	if (lx->settings->lacking) {
		lex_fail(lx, at, len, e, "the parameter `%s` has no value", own);
		err_help(e, "give it one: --set %s=VALUE", own);
		return ST_DATA;
	}
	lex_fail(lx, at, len, e, "unknown parameter `%s`", own);
	if (str_suggest(own, settings_name, lx->settings, near, sizeof near))
		err_help(e, "did you mean %s?", near);
	else
		err_help(e, "declare it by `param %s = ...`, or give it with --set %s=VALUE", own, own);
	return ST_DATA;
}

/* Whether the next escape stays: in a word for one byte \t, \0 and \x09 need no quotes. */
static bool
lex_keeps_escape(struct lex *lx, struct lex_word *w)
{
	const char *s = lx->text->data + lx->at;

	if (!w->byte || !isalnum((unsigned char)s[1]))
		return false;
	buf_put(&w->text, s, 2);
	lx->at += 2;
	return true;
}

/* Reads an escape in double quotes. A character that is neither letter nor digit may have a
 * backslash before it, and stands for itself. */
static enum status
lex_escape(struct lex *lx, struct lex_word *w, struct err *e)
{
	const char *s = lx->text->data + lx->at;
	size_t had = w->text.len, used;
	bool ok = escape_read(s + 1, lx->end - lx->at - 1, &w->text, &used);

	if (!ok && !isalnum((unsigned char)s[1])) {
		buf_byte(&w->text, (uint8_t)s[1]);
		used = 1;
	} else if (!ok) {
		lex_fail(lx, lx->at, used + 1, e, "unknown escape `%.*s` in a word", (int)used + 1, s);
		err_help(e, "a backslash itself is written \\\\; in '...' nothing is special");
		return ST_DATA;
	}
	if (w->byte && w->text.len == had + 1 && !w->text.data[had]) {
		w->text.len = had;
		buf_str(&w->text, "\\0"); /* a NUL could not stand in a word */
	}
	if (memchr(w->text.data + had, '\0', w->text.len - had))
		return lex_fail(lx, lx->at, used + 1, e, "a NUL byte in a word");
	lx->at += used + 1;
	return ST_OK;
}

static enum status
lex_quoted(struct lex *lx, struct lex_word *w, struct err *e)
{
	const char *s = lx->text->data;
	size_t from = lx->at++, n, len;
	char quote = s[from];
	const char *name;

	while (lx->at < lx->end && s[lx->at] != quote) {
		char c = s[lx->at];
		if (quote == '"' && c == '\\' && lx->at + 1 < lx->end) {
			if (lex_escape(lx, w, e))
				return ST_DATA;
		} else if (quote == '"' && (c == '@' || c == '$') && lx->at + 1 < lx->end &&
			   s[lx->at + 1] == '{' &&
			   (len = lex_param_len(s + lx->at, s + lx->end, &name, &n))) {
			if (lex_param(lx, lx->at, len, name, n, w, e))
				return ST_DATA;
			/* A word "@{dir}/x" begins with the parameter, too. */
			if (lx->at == w->at + 1)
				w->given = settings_given(lx->settings, name, n);
			lx->at += len;
		} else {
			buf_byte(&w->text, (uint8_t)c);
			lx->at++;
		}
	}
	if (lx->at >= lx->end)
		return lex_fail(lx, from, 1, e, "this %c is not closed", quote);
	lx->at++;
	w->quoted = true;
	return ST_OK;
}

/* Reads a backslash in a word, which takes the next character literally. In a file name it
 * stays before the characters of globs, for the glob; in a word for one byte before letters
 * and digits. */
static void
lex_backslash(struct lex *lx, struct lex_word *w)
{
	char c = lx->text->data[lx->at + 1];

	if (lex_keeps_escape(lx, w))
		return;
	if (w->file && strchr("*?[\\", c))
		buf_byte(&w->text, '\\');
	buf_byte(&w->text, (uint8_t)c);
	lx->at += 2;
}

static enum status
lex_word_text(struct lex *lx, struct lex_word *w, struct err *e)
{
	const char *s = lx->text->data, *name;
	size_t open = 0, n, len;

	while (lx->at < lx->end) {
		char c = s[lx->at];
		if (lex_space(c) || c == '|' || c == ';' || (c == ')' && !open))
			break;
		bool first = lx->at == w->at, brace = lx->at + 1 < lx->end && s[lx->at + 1] == '{';
		if (c == '"' || c == '\'') {
			if (lex_quoted(lx, w, e))
				return ST_DATA;
		} else if (c == '\\' && lx->at + 1 < lx->end && s[lx->at + 1] != '\n') {
			lex_backslash(lx, w);
		} else if (((c == '@' && (first || brace)) || c == '$') &&
			   (len = lex_param_len(s + lx->at, s + lx->end, &name, &n))) {
			if (lex_param(lx, lx->at, len, name, n, w, e))
				return ST_DATA;
			lx->at += len;
			w->quoted = true;
		} else {
			open += c == '(';
			open -= c == ')';
			buf_byte(&w->text, (uint8_t)c);
			lx->at++;
		}
	}
	return ST_OK;
}

enum status
lex_word(struct lex *lx, struct lex_word *w, struct err *e)
{
	enum status st = ST_OK;

	w->at = lx->at;
	if (lx->words) {
		const struct spectext_word *word = spectext_word_at(lx->text, lx->at);
		size_t end = word->at + word->len;
		if (!word->empty)
			buf_put(&w->text, lx->text->data + lx->at, end - lx->at);
		w->quoted = true;
		lx->at = end;
	} else {
		st = lex_word_text(lx, w, e);
	}
	w->len = lx->at - w->at;
	/* Never NULL, so that it can be used as a C string. */
	buf_room(&w->text, 1);
	buf_str(&w->text, "");
	if (!st)
		lex_note(lx, "word", w->at, w->len, (char *)w->text.data);
	return st;
}
