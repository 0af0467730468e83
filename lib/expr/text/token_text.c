/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "expr/ast.h"
#include "expr/escape.h"
#include "expr/text/token.h"
#include "value/json/json_print.h"
#include "value/mp.h"

/* A text being read. */
struct token_text {
	struct tokens *t;
	const char *s;   /* the source text */
	size_t at, len;
	struct buf out;
};

static enum status
token_text_escape(struct token_text *x)
{
	size_t begin = x->at++, used;

	if (x->at >= x->len)
		return ST_OK; /* the missing quote is reported */
	bool ok = escape_read(x->s + x->at, x->len - x->at, &x->out, &used);
	size_t end = x->at += used;
	if (ok)
		return ST_OK;
	token_fault(x->t, begin, end - begin, "unknown escape `%.*s` in a text",
		    (int)(end - begin), x->s + begin);
	err_help(x->t->e, "a backslash itself is written \\\\; in '...' nothing is special");
	return ST_DATA;
}

static const char *
token_param_name(void *arg, size_t i)
{
	const struct expr_src *src = arg;

	return src->param_name ? src->param_name(src->arg, i) : NULL;
}

/* Reads the value of the parameter named [name, name + n), which is written at `at`. */
static enum status
token_param_value(struct tokens *t, size_t at, size_t len, size_t name, size_t n, struct buf *out)
{
	char word[64], near[200];

	if (t->src->param && t->src->param(t->src->arg, t->src->text + name, n, out))
		return ST_OK;
	snprintf(word, sizeof word, "%.*s", (int)(n < 63 ? n : 63), t->src->text + name);
	token_fault(t, at, len, "unknown parameter `%s`", word);
	if (str_suggest(word, token_param_name, t->src, near, sizeof near))
		err_help(t->e, "did you mean %s?", near);
	else
		err_help(t->e, "give it a value: --set %s=VALUE", word);
	return ST_DATA;
}

/* Reads @{name} inside a text. */
static enum status
token_text_param(struct token_text *x)
{
	size_t at = x->at, name = at + 2, end = name;
	struct buf value = { 0 };
	struct mp h;

	while (end < x->len && x->s[end] != '}' && ast_is_word(x->s + name, end + 1 - name))
		end++;
	if (end >= x->len || x->s[end] != '}' || end == name) {
		token_fault(x->t, at, 2, "`@{` in a text begins a parameter, as in @{name}");
		err_help(x->t->e, "for the two characters themselves write \\@{");
		return ST_DATA;
	}
	enum status st = token_param_value(x->t, at, end + 1 - at, name, end - name, &value);
	if (!st) {
		mp_head(value.data, buf_end(&value), &h);
		if (h.kind == MP_TEXT || h.kind == MP_INT || h.kind == MP_FLOAT || h.kind == MP_BOOL)
			text_print(value.data, value.len, &x->out);
		else
			st = token_fault(x->t, at, end + 1 - at,
					 "`@%.*s` is neither text nor a number",
					 (int)(end - name < 64 ? end - name : 64), x->s + name);
	}
	buf_clear(&value);
	x->at = end + 1;
	return st;
}

static enum status
token_text_body(struct token_text *x, char quote)
{
	enum status st = ST_OK;

	while (!st && x->at < x->len && x->s[x->at] != quote) {
		char c = x->s[x->at];

		if (quote == '"' && c == '\\') {
			st = token_text_escape(x);
		} else if (quote == '"' && c == '@' && x->at + 1 < x->len
			   && x->s[x->at + 1] == '{') {
			st = token_text_param(x);
		} else {
			buf_byte(&x->out, (uint8_t)c);
			x->at++;
		}
	}
	return st;
}

enum status
token_string(struct tokens *t, size_t at)
{
	struct token_text x = { .t = t, .s = t->src->text, .at = at + 1, .len = t->src->len };
	char quote = x.s[at];
	enum status st = token_text_body(&x, quote);

	if (!st && x.at >= x.len) {
		st = token_fault(t, at, 1, "this text has no end");
		err_help(t->e, "a closing %c is missing", quote);
	} else if (!st && str_utf8_valid(x.out.data, x.out.len) != x.out.len) {
		st = token_fault(t, at, x.at + 1 - at, "this text is not valid UTF-8");
		err_help(t->e, "bytes are written in hex: unhex(\"ff00\")");
	}
	if (!st) {
		uint8_t *p = buf_room(&t->now.value, x.out.len + MP_HEAD_MAX);
		uint8_t *end = mp_put_text_head(p, (uint32_t)x.out.len);

		if (x.out.len)
			memcpy(end, x.out.data, x.out.len);
		t->now.value.len = (size_t)(end - p) + x.out.len;
		t->now.kind = TOKEN_VALUE;
		t->now.len = x.at + 1 - at;
	}
	buf_clear(&x.out);
	return st;
}

enum status
token_regex(struct tokens *t, size_t at)
{
	static const char letters[] = "imsxa";
	const char *s = t->src->text;
	size_t end = at + 1, n = t->src->len;

	while (end < n && s[end] != '/' && s[end] != '\n')
		end += s[end] == '\\' && end + 1 < n && s[end + 1] != '\n' ? 2 : 1;
	if (end >= n || s[end] != '/') {
		token_fault(t, at, 1, "this regular expression has no end");
		err_help(t->e, "it is written /.../; a slash in it is written \\/");
		return ST_DATA;
	}
	if (end == at + 1) {
		token_fault(t, at, 2, "an empty regular expression");
		err_help(t->e, "`//` divides: a value is missing before it");
		return ST_DATA;
	}
	buf_put(&t->now.value, s + at + 1, end - at - 1);
	for (end++; end < n && ast_is_word(s + end, 1); end++) {
		const char *flag = strchr(letters, s[end]);

		if (!flag || !s[end]) {
			token_fault(t, end, 1, "unknown flag `%c` of a regular expression", s[end]);
			err_help(t->e, "flags are i (any case), m (lines), s (. takes newlines), "
				 "x (blanks ignored), a (classes are ASCII's)");
			return ST_DATA;
		}
		t->now.op |= 1u << (flag - letters);
	}
	t->now.kind = TOKEN_REGEX;
	t->now.len = end - at;
	if (str_utf8_valid(s + at, t->now.len) != t->now.len)
		return token_fault(t, at, t->now.len, "this regular expression is not valid UTF-8");
	return ST_OK;
}

enum status
token_param(struct tokens *t, size_t at)
{
	const char *s = t->src->text;
	size_t name = at + 1, end, n = t->src->len;
	bool braced = name < n && s[name] == '{';

	name += braced;
	for (end = name; end < n && ast_is_word(s + name, end + 1 - name); end++)
		;
	if (end == name || (braced && (end >= n || s[end] != '}'))) {
		token_fault(t, at, 1, "`%c` is followed by the name of a parameter", s[at]);
		err_help(t->e, "as in @name or @{name}");
		return ST_DATA;
	}
	t->now.kind = TOKEN_PARAM;
	t->now.len = end + braced - at;
	return token_param_value(t, at, t->now.len, name, end - name, &t->now.value);
}
