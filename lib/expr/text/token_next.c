/* SPDX-License-Identifier: MIT
 *
 * The next token: words, signs and numbers. Those with a text of their own are in
 * token_text.c.
 */
#include <string.h>

#include "expr/ast.h"
#include "expr/text/token.h"
#include "value/mp.h"
#include "value/num.h"

enum { TOKEN_NUMBER_MAX = 100 };

static bool
token_is_letter(int c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool
token_is_digit(int c)
{
	return c >= '0' && c <= '9';
}

static bool
token_is_hex(int c)
{
	return token_is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/* The byte at `at`, or -1 behind the end. */
static int
token_peek(const struct tokens *t, size_t at)
{
	return at < t->src->len ? (unsigned char)t->src->text[at] : -1;
}

/* Where the next line that has something on it begins, and whether it belongs
 * to this expression: it does when it begins with a blank. */
static bool
token_line_continues(const struct tokens *t, size_t at)
{
	for (;;) {
		size_t begin = at;
		int c;

		while ((c = token_peek(t, at)) == ' ' || c == '\t' || c == '\r')
			at++;
		if (c == '#')
			while ((c = token_peek(t, at)) != '\n' && c >= 0)
				at++;
		if (c != '\n')
			return c >= 0 && at > begin;
		at++;
	}
}

/* Behind blanks and comments; false: the expression ends with this line. */
static bool
token_blank(struct tokens *t, size_t *at)
{
	for (;;) {
		int c = token_peek(t, *at);

		if (c == '\n' && t->src->newline_ends && !t->depth
		    && !token_line_continues(t, *at + 1))
			return false;
		if (c == ' ' || c == '\t' || c == '\r' || c == '\n') {
			++*at;
		} else if (c == '#' && (*at == 0 || strchr(" \t\r\n", t->src->text[*at - 1]))) {
			while ((c = token_peek(t, *at)) != '\n' && c >= 0)
				++*at;
		} else {
			return true;
		}
	}
}

static enum status
token_number_fault(struct tokens *t, size_t at, size_t end)
{
	size_t digits = end;

	while (token_is_letter(token_peek(t, end)) || token_is_digit(token_peek(t, end)))
		end++;
	int shown = (int)(end - at < 60 ? end - at : 60);
	enum status st = token_fault(t, at, end - at, "`%.*s` is not a number", shown,
				     t->src->text + at);
	if (end > digits && digits > at)
		err_help(t->e, "units belong to options of operators; here write the number out, "
			 "as in 64 * 1024");
	return st;
}

/* Copies the digits of a class from *at on, without underscores between them. */
static size_t
token_digits(const struct tokens *t, size_t *at, bool (*is)(int), char *out, size_t n)
{
	size_t begin = n;

	while (n < TOKEN_NUMBER_MAX) {
		int c = token_peek(t, *at);

		if (c == '_' && n > begin && is(token_peek(t, *at + 1))) {
			++*at;
			continue;
		}
		if (!is(c))
			break;
		out[n++] = (char)c;
		++*at;
	}
	return n;
}

static enum status
token_int(struct tokens *t, size_t end, const char *digits, int base)
{
	uint64_t v = 0;

	for (const char *s = digits; *s; s++) {
		unsigned d = token_is_digit(*s) ? (unsigned)(*s - '0')
			: (unsigned)((*s | 32) - 'a' + 10);
		if (__builtin_mul_overflow(v, (uint64_t)base, &v)
		    || __builtin_add_overflow(v, d, &v)) {
			token_fault(t, t->now.at, end - t->now.at,
				    "this number does not fit 64 bits");
			err_help(t->e, "with a fraction (1e20, 1.0) it is a float");
			return ST_DATA;
		}
	}
	uint8_t *p = buf_room(&t->now.value, MP_INT_MAX);
	t->now.value.len += (size_t)(mp_put_uint(p, v) - p);
	return ST_OK;
}

static enum status
token_number(struct tokens *t, size_t at)
{
	char text[TOKEN_NUMBER_MAX + 4];
	size_t n = 0, end = at;
	bool real = false, hex = token_peek(t, at) == '0' && (token_peek(t, at + 1) | 32) == 'x';
	enum status st = ST_OK;

	t->now.kind = TOKEN_VALUE;
	if (hex) {
		end += 2;
		n = token_digits(t, &end, token_is_hex, text, 0);
		if (n == 0)
			return token_number_fault(t, at, end);
	} else {
		n = token_digits(t, &end, token_is_digit, text, 0);
		if (token_peek(t, end) == '.' && token_is_digit(token_peek(t, end + 1))) {
			real = true;
			text[n++] = '.';
			end++;
			n = token_digits(t, &end, token_is_digit, text, n);
		}
		int sign = token_peek(t, end + 1);
		bool signed_e = sign == '+' || sign == '-';
		if ((token_peek(t, end) | 32) == 'e' && n < TOKEN_NUMBER_MAX - 3
		    && token_is_digit(token_peek(t, end + 1 + signed_e))) {
			real = true;
			text[n++] = 'e';
			if (sign == '-')
				text[n++] = '-';
			end += 1u + signed_e;
			n = token_digits(t, &end, token_is_digit, text, n);
		}
	}
	text[n] = '\0';
	if (token_is_letter(token_peek(t, end)) || token_is_digit(token_peek(t, end)))
		return token_number_fault(t, at, end);
	if (real) {
		double v;
		if (!num_parse_float(text, n, &v))
			return token_fault(t, at, end - at, "this number is too large for a float");
		uint8_t *p = buf_room(&t->now.value, MP_FLOAT_MAX);
		t->now.value.len += (size_t)(mp_put_float(p, v) - p);
	} else {
		st = token_int(t, end, text, hex ? 16 : 10);
	}
	t->now.len = end - at;
	return st;
}

static size_t
token_word(const struct tokens *t, size_t at)
{
	size_t end = at;

	while (token_is_letter(token_peek(t, end)) || token_is_digit(token_peek(t, end)))
		end++;
	return end - at;
}

static bool
token_word_is(const struct tokens *t, size_t at, size_t n, const char *word)
{
	return strlen(word) == n && !memcmp(t->src->text + at, word, n);
}

static const struct { const char *word; uint8_t op; } token_words[] = {
	{ "or", AST_OR }, { "and", AST_AND }, { "in", AST_IN }, { "matches", AST_MATCH },
	{ "eq", AST_EQ }, { "ne", AST_NE }, { "lt", AST_LT }, { "le", AST_LE },
	{ "gt", AST_GT }, { "ge", AST_GE },
};
/* The longer before its beginnings. */
static const struct { const char *sign; uint8_t op; } token_signs[] = {
	{ "??", AST_COALESCE }, { "||", AST_OR }, { "&&", AST_AND }, { "==", AST_EQ },
	{ "!=", AST_NE }, { "!~", AST_NMATCH }, { "<=", AST_LE }, { ">=", AST_GE },
	{ "++", AST_CAT }, { "**", AST_POW }, { "//", AST_FLOOR }, { "<", AST_LT },
	{ ">", AST_GT }, { "~", AST_MATCH }, { "+", AST_ADD }, { "-", AST_SUB },
	{ "*", AST_MUL }, { "/", AST_DIV }, { "%", AST_MOD },
};

static void
token_take(struct tokens *t, enum token_kind kind, unsigned op, size_t len)
{
	t->now.kind = kind;
	t->now.op = op;
	t->now.len = len;
}

/* A word between values: an operator's, or the expression is over. */
static void
token_between_word(struct tokens *t, size_t at)
{
	size_t n = token_word(t, at);

	/* in= is the key of an option */
	if (token_peek(t, at + n) == '=' && token_peek(t, at + n + 1) != '=')
		return;
	for (size_t i = 0; i < sizeof token_words / sizeof *token_words; i++)
		if (token_word_is(t, at, n, token_words[i].word)) {
			token_take(t, TOKEN_OP, token_words[i].op, n);
			return;
		}
	if (token_word_is(t, at, n, "not")) {
		size_t in = at + n;

		while (token_peek(t, in) == ' ' || token_peek(t, in) == '\t')
			in++;
		if (in > at + n && token_word_is(t, in, token_word(t, in), "in"))
			token_take(t, TOKEN_NOT_IN, AST_IN, in + 2 - at);
	}
}

static void
token_between(struct tokens *t, size_t at)
{
	int c = token_peek(t, at);

	if (token_is_letter(c)) {
		token_between_word(t, at);
		return;
	}
	for (size_t i = 0; i < sizeof token_signs / sizeof *token_signs; i++) {
		size_t n = strlen(token_signs[i].sign);

		if (t->src->len - at >= n && !memcmp(t->src->text + at, token_signs[i].sign, n)) {
			token_take(t, TOKEN_OP, token_signs[i].op, n);
			return;
		}
	}
	/* An index or a field stands close to its value: [0] [1] are two. */
	if (c == '.' && t->now.tight && token_is_letter(token_peek(t, at + 1))) {
		t->now.at = at + 1;
		token_take(t, TOKEN_FIELD, 0, token_word(t, at + 1));
	} else if (c == '[' && t->now.tight) {
		token_take(t, TOKEN_SIGN, '[', 1);
	} else if (c == '=') {
		token_take(t, TOKEN_ASSIGN, 0, 1);
	} else if (c > 0 && strchr(")]},:?", c)) {
		token_take(t, TOKEN_SIGN, (unsigned)c, 1);
	}
}

static enum status
token_value(struct tokens *t, size_t at)
{
	int c = token_peek(t, at);

	if (token_is_digit(c))
		return token_number(t, at);
	if (token_is_letter(c)) {
		size_t n = token_word(t, at);

		for (size_t i = 0; i < sizeof token_words / sizeof *token_words; i++)
			if (token_word_is(t, at, n, token_words[i].word)) {
				t->now.len = n;
				return ST_OK; /* TOKEN_END: no value */
			}
		token_take(t, TOKEN_NAME, 0, n);
		if (token_word_is(t, at, n, "not"))
			token_take(t, TOKEN_OP, AST_NOT, n);
		return ST_OK;
	}
	switch (c) {
	case '"':
	case '\'':
		return token_string(t, at);
	case '/':
		return token_regex(t, at);
	case '@':
	case '$':
		return token_param(t, at);
	case '.':
		if (token_is_letter(token_peek(t, at + 1))) {
			t->now.at = at + 1;
			token_take(t, TOKEN_FIELD, 0, token_word(t, at + 1));
		} else if (token_is_digit(token_peek(t, at + 1))) {
			token_fault(t, at, 1 + token_word(t, at + 1), "a number begins with a digit");
			err_help(t->e, "write 0%.*s", (int)(1 + token_word(t, at + 1)),
				 t->src->text + at);
			return ST_DATA;
		} else if (token_peek(t, at + 1) >= 0x80) {
			token_fault(t, at, 2, "a field's name in other letters stands in quotes");
			err_help(t->e, "as in x[\"naïve name\"]");
			return ST_DATA;
		}
		return ST_OK;
	case '!':
	case '-':
		token_take(t, TOKEN_OP, c == '!' ? AST_NOT : AST_NEG, 1);
		return ST_OK;
	case '(': case '[': case '{': case ')': case ']': case '}': case ':': case ',':
		token_take(t, TOKEN_SIGN, (unsigned)c, 1);
		return ST_OK;
	default:
		t->now.len = c < 0 || strchr("|;\n ", c) ? 0 : 1;
		return ST_OK;
	}
}

enum status
token_next(struct tokens *t, bool value)
{
	size_t at = t->end;

	buf_reset(&t->now.value);
	t->now.kind = TOKEN_END;
	t->now.op = 0;
	t->now.len = 0;
	t->now.at = at;
	if (!token_blank(t, &at) || at >= t->src->len)
		return ST_OK;
	t->now.at = at;
	t->now.tight = at == t->end;
	if (value)
		return token_value(t, at);
	token_between(t, at);
	return ST_OK;
}
