/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "value/format/textform.h"
#include "value/format/format.h"

/* Calls put for each field of a record; names that are not texts are printed. */
typedef void textform_put_fn(const uint8_t *key, size_t n, const uint8_t *text, size_t len,
			     bool first, struct buf *out);

static enum status
textform_each(const uint8_t *p, size_t n, textform_put_fn *put, const struct json_rules *rules, struct buf *out,
	      struct err *e)
{
	const uint8_t *end = p + n, *value;
	struct buf key = { 0 }, text = { 0 };
	enum status st = ST_OK;
	struct mp m;

	mp_head(p, end, &m);
	if (m.kind != MP_RECORD)
		return err_set(e, ST_DATA, "this element is not a record");
	p = m.p;
	for (uint32_t k = 0; k < m.n; k++) {
		buf_reset(&key);
		buf_reset(&text);
		value = mp_skip(p, end);
		st = text_write(p, (size_t)(value - p), rules, &key, e);
		p = mp_skip(value, end);
		if (!st && *value != 0xc0) /* null has no text */
			st = text_write(value, (size_t)(p - value), rules, &text, e);
		if (st)
			break;
		put(key.data, key.len, text.data, text.len, k == 0, out);
	}
	buf_clear(&key);
	buf_clear(&text);
	return st;
}

static bool
textform_plain(const uint8_t *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (p[i] <= ' ' || p[i] == '"' || p[i] == '=' || p[i] == '\\' || p[i] == 0x7f)
			return false;
	return n > 0;
}

static void
textform_quote(const uint8_t *p, size_t n, struct buf *out)
{
	buf_byte(out, '"');
	for (size_t i = 0; i < n; i++) {
		if (p[i] == '\n' || p[i] == '\t' || p[i] == '\r') {
			buf_byte(out, '\\');
			buf_byte(out, p[i] == '\n' ? 'n' : p[i] == '\t' ? 't' : 'r');
			continue;
		}
		if (p[i] == '"' || p[i] == '\\')
			buf_byte(out, '\\');
		buf_byte(out, p[i]);
	}
	buf_byte(out, '"');
}

static void
textform_kv_field(const uint8_t *key, size_t n, const uint8_t *text, size_t len, bool first,
		  struct buf *out)
{
	if (!first)
		buf_byte(out, ' ');
	for (size_t i = 0; i < n; i++) /* names have no quotes in this form */
		buf_byte(out, key[i] <= ' ' || key[i] == '=' || key[i] == '"' ? '_' : key[i]);
	buf_byte(out, '=');
	if (textform_plain(text, len))
		buf_put(out, text, len);
	else
		textform_quote(text, len, out);
}

enum status
textform_put_kv(const uint8_t *p, size_t n, const struct json_rules *rules, struct buf *out, struct err *e)
{
	return textform_each(p, n, textform_kv_field, rules, out, e);
}

static void
textform_escape(const uint8_t *p, size_t n, struct buf *out)
{
	static const char hex[] = "0123456789ABCDEF";

	for (size_t i = 0; i < n; i++) {
		uint8_t c = p[i], low = c | 32;

		if ((low >= 'a' && low <= 'z') || (c >= '0' && c <= '9') || (c && strchr("-_.~", c))) {
			buf_byte(out, c);
		} else {
			buf_byte(out, '%');
			buf_byte(out, (uint8_t)hex[c >> 4]);
			buf_byte(out, (uint8_t)hex[c & 15]);
		}
	}
}

static void
textform_url_field(const uint8_t *key, size_t n, const uint8_t *text, size_t len, bool first,
		   struct buf *out)
{
	if (!first)
		buf_byte(out, '&');
	textform_escape(key, n, out);
	buf_byte(out, '=');
	textform_escape(text, len, out);
}

enum status
textform_put_url(const uint8_t *p, size_t n, const struct json_rules *rules, struct buf *out, struct err *e)
{
	return textform_each(p, n, textform_url_field, rules, out, e);
}

/* Appends one field: CSV quotes it if necessary, TSV escapes. */
static void
textform_csv_field(const uint8_t *p, size_t n, uint8_t delim, struct buf *out)
{
	bool quote = false;

	if (delim == '\t') {
		for (size_t i = 0; i < n; i++) {
			const char *at = p[i] ? strchr("\t\n\r\\", p[i]) : NULL;

			if (at) {
				buf_byte(out, '\\');
				buf_byte(out, (uint8_t)(p[i] == '\t' ? 't' : p[i] == '\n' ? 'n' : p[i] == '\r' ? 'r' : '\\'));
			} else {
				buf_byte(out, p[i]);
			}
		}
		return;
	}
	for (size_t i = 0; i < n && !quote; i++)
		quote = p[i] == delim || p[i] == '"' || p[i] == '\n' || p[i] == '\r';
	if (!quote) {
		buf_put(out, p, n);
		return;
	}
	buf_byte(out, '"');
	for (size_t i = 0; i < n; i++) {
		if (p[i] == '"')
			buf_byte(out, '"');
		buf_byte(out, p[i]);
	}
	buf_byte(out, '"');
}

enum status
textform_put_csv(const uint8_t *p, size_t n, uint8_t delim, const struct json_rules *rules, struct buf *out,
		 struct err *e)
{
	const uint8_t *end = p + n, *next;
	struct buf text = { 0 };
	enum status st = ST_OK;
	struct mp m;

	mp_head(p, end, &m);
	if (m.kind != MP_RECORD && m.kind != MP_LIST)
		return err_set(e, ST_DATA, "this element is neither a record nor a list");
	p = m.p;
	for (uint32_t k = 0; k < m.n && !st; k++) {
		if (m.kind == MP_RECORD)
			p = mp_skip(p, end);
		next = mp_skip(p, end);
		buf_reset(&text);
		if (*p != 0xc0)
			st = text_write(p, (size_t)(next - p), rules, &text, e);
		if (k)
			buf_byte(out, delim);
		if (text.len)
			textform_csv_field(text.data, text.len, delim, out);
		p = next;
	}
	buf_clear(&text);
	return st;
}
