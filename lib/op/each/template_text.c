/* SPDX-License-Identifier: MIT */
#include "op/each/template_text.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "expr/expr.h"
#include "value/format/table.h"
#include "value/json/json_print.h"
#include "value/mp.h"

enum { TEMPLATE_NUMBER = 1400 }; /* bytes of a number: 309 digits, and as many more as the precision allows */

static enum status
template_fail(const char *text, size_t at, size_t len, struct err *e)
{
	err_place(e, TEMPLATE_NAME, text, strlen(text), at, len);
	return ST_DATA;
}

/* Reads a number of at most three digits, or TEMPLATE_WIDTH. */
static int
template_digits(const char **p)
{
	long n = 0;

	for (; isdigit((unsigned char)**p); ++*p)
		n = n > TEMPLATE_WIDTH ? n : n * 10 + (**p - '0');
	return (int)n;
}

static enum status
template_format(const char *text, size_t *at, struct template_place *p, struct err *e)
{
	const char *s = text + *at, *from = s;

	if (*s == '%') {
		for (s++; *s && strchr("-+0 ", *s); s++) {
			p->left |= *s == '-';
			p->plus |= *s == '+';
			p->zero |= *s == '0';
			p->space |= *s == ' ';
		}
		p->width = template_digits(&s);
		if (*s == '.') {
			s++;
			p->precision = template_digits(&s);
		}
		p->conversion = *s && strchr("dxXoefgs", *s) ? *s : 0;
	}
	if (p->conversion && p->width <= TEMPLATE_WIDTH && p->precision <= TEMPLATE_WIDTH) {
		*at = (size_t)(s + 1 - text);
		return ST_OK;
	}
	size_t len = strcspn(from, "}");
	err_set(e, ST_DATA, "`%.*s` is not a format for a value", len > 40 ? 40 : (int)len, from);
	err_help(e, "%%d, %%x, %%o, %%e, %%f, %%g or %%s, with flags - + 0, width and precision up to %d: {.ms:%%8.2f}",
		 TEMPLATE_WIDTH);
	return template_fail(text, *at, len ? len : 1, e);
}

/* Reads a place, whose { stands at *at. */
static enum status
template_place(const char *text, size_t *at, struct template_text *out, struct err *e)
{
	struct expr_src src = { .file = TEMPLATE_NAME, .text = text, .len = strlen(text), .at = *at + 1 };
	struct template_place p = { .at = out->rest, .len = out->literal.len - out->rest, .precision = -1 };
	struct expr_ast *ast = expr_parse(&src, e);
	size_t end = src.at;

	if (!ast)
		return e->kind;
	expr_ast_free(&ast);
	if (out->n == TEMPLATE_PLACES) {
		err_set(e, ST_DATA, "more than %d places", TEMPLATE_PLACES);
		return template_fail(text, *at, 1, e);
	}
	out->list.data[*at] = out->n ? ',' : '[';
	memcpy(out->list.data + *at + 1, text + *at + 1, end - *at - 1);
	while (isspace((unsigned char)text[end]))
		end++;
	if (text[end] == ':') {
		end++;
		if (template_format(text, &end, &p, e) != ST_OK)
			return ST_DATA;
	}
	if (text[end] != '}') {
		err_set(e, ST_DATA, text[end] ? "a } is missing before this" : "a } is missing");
		err_help(e, "{EXPRESSION} or {EXPRESSION:%%.2f}; {{ is a brace");
		return template_fail(text, end, 1, e);
	}
	*at = end + 1;
	out->v = mem_grow(out->v, &out->cap, out->n + 1, sizeof *out->v);
	out->v[out->n++] = p;
	out->rest = out->literal.len;
	return ST_OK;
}

enum status
template_text_read(const char *text, struct template_text *out, struct err *e)
{
	size_t n = strlen(text), last = 0;

	/* one byte more than the text, for templates without a place */
	memset(buf_room(&out->list, n + 2), ' ', n + 2);
	out->list.len = n + 2;
	for (size_t at = 0; at < n;) {
		bool twice = text[at] == text[at + 1];

		if (text[at] == '{' && !twice) {
			if (template_place(text, &at, out, e) != ST_OK)
				return ST_DATA;
			last = at - 1;
		} else if (text[at] == '}' && !twice) {
			err_set(e, ST_DATA, "this } ends nothing");
			err_help(e, "}} is a brace");
			return template_fail(text, at, 1, e);
		} else {
			buf_byte(&out->literal, (uint8_t)text[at]);
			at += text[at] == '{' || text[at] == '}' ? 2 : 1;
		}
	}
	if (!out->n) {
		out->list.data[0] = '[';
		last = 1;
	}
	out->list.data[last] = ']';
	out->list.len = last + 1;
	return ST_OK;
}

void
template_text_clear(struct template_text *t)
{
	mem_free(t->v);
	buf_clear(&t->literal);
	buf_clear(&t->list);
	*t = (struct template_text){ 0 };
}

/* Appends a text with what fills it up to the width; columns: how many of a terminal it takes. */
static void
template_pad(const struct template_place *p, const uint8_t *v, size_t n, size_t columns, bool number, struct buf *out)
{
	size_t fill = (size_t)p->width > columns ? (size_t)p->width - columns : 0;
	bool zero = number && p->zero && !p->left;
	size_t sign = zero && n && strchr("-+ ", *v) ? 1 : 0;

	buf_put(out, v, sign);
	for (size_t i = 0; i < fill && !p->left; i++)
		buf_byte(out, zero ? '0' : ' ');
	buf_put(out, v + sign, n - sign);
	for (size_t i = 0; i < fill && p->left; i++)
		buf_byte(out, ' ');
}

static const char *
template_number(const struct template_place *p, const struct mp *m, struct buf *out)
{
	double f = m->kind == MP_FLOAT ? m->f : m->unsigned_big ? (double)m->u : (double)m->i;
	int precision = p->precision < 0 ? 6 : p->precision, n = 0;
	unsigned long long bits = m->u;
	bool negative = m->kind == MP_FLOAT ? f < 0 : !m->unsigned_big && m->i < 0;
	char text[TEMPLATE_NUMBER], *to = text + 1;
	size_t room = sizeof text - 1;

	text[0] = p->plus ? '+' : ' ';
	switch (p->conversion) {
	case 'd':
		n = m->unsigned_big ? snprintf(to, room, "%llu", bits) : snprintf(to, room, "%lld", (long long)m->i);
		break;
	case 'x': n = snprintf(to, room, "%llx", bits); break;
	case 'X': n = snprintf(to, room, "%llX", bits); break;
	case 'o': n = snprintf(to, room, "%llo", bits); break;
	case 'e': n = snprintf(to, room, "%.*e", precision, f); break;
	case 'f': n = snprintf(to, room, "%.*f", precision, f); break;
	default: n = snprintf(to, room, "%.*g", precision, f); break;
	}
	bool sign = (p->plus || p->space) && !negative && !strchr("xXo", p->conversion);
	template_pad(p, (uint8_t *)(sign ? text : to), (size_t)n + sign, (size_t)n + sign, true, out);
	return NULL;
}

const char *
template_text_put(const struct template_place *p, const uint8_t *v, size_t len, const struct json_rules *rules,
		  struct buf *out)
{
	static const char refused[] = "it has something that JSON cannot hold (`options nonfinite=`, `invalid_utf8=`)";
	struct buf text = { 0 };
	struct mp m;

	mp_head(v, v + len, &m);
	if (!p->conversion) {
		return text_write(v, len, rules, out, NULL) == ST_OK ? NULL : refused;
	}
	if (p->conversion != 's' && strchr("dxXo", p->conversion) && m.kind != MP_INT)
		return m.kind == MP_FLOAT ? "%d, %x and %o need an int (int(EXPR), round(EXPR))" : "%d, %x and %o need an int";
	if (p->conversion != 's' && m.kind != MP_INT && m.kind != MP_FLOAT)
		return "%e, %f and %g need a number";
	if (p->conversion != 's')
		return template_number(p, &m, out);
	if (text_write(v, len, rules, &text, NULL) != ST_OK) {
		buf_clear(&text);
		return refused;
	}
	size_t n = p->precision < 0 || !text.len ? text.len : table_cut(text.data, text.len, (size_t)p->precision);
	const uint8_t *from = text.data ? text.data : (const uint8_t *)"";
	template_pad(p, from, n, table_width(from, n), false, out);
	buf_clear(&text);
	return NULL;
}
