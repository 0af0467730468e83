/* SPDX-License-Identifier: MIT */
#include "value/format/textform.h"

#include <string.h>

#include "base/mem.h"
#include "value/csv/csv.h"

void
textform_clear(struct textform *t)
{
	buf_clear(&t->text);
	mem_free(t->v);
	memset(t, 0, sizeof *t);
}

static bool
textform_blank(uint8_t c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* Adds a field, or finds the one of the same name, whose value is replaced. */
static struct textform_field *
textform_field(struct textform *t, size_t key, struct err *e)
{
	size_t len = t->text.len - key;

	for (size_t i = 0; i < t->n; i++) {
		struct textform_field *f = &t->v[i];

		if (f->key_len == len && !memcmp(t->text.data + f->key, t->text.data + key, len)) {
			f->quoted = f->bare = false;
			return f;
		}
	}
	if (t->n == TEXTFORM_FIELDS) {
		err_set(e, ST_DATA, "more than %d fields", TEXTFORM_FIELDS);
		return NULL;
	}
	t->v = mem_grow(t->v, &t->cap, t->n + 1, sizeof *t->v);
	struct textform_field *f = &t->v[t->n++];
	*f = (struct textform_field){ .key = key, .key_len = len };
	return f;
}

/* Reads a quoted value that begins at p, after its quote; gives the place after the closing
 * quote. */
static const uint8_t *
textform_quoted(struct textform *t, const uint8_t *p, const uint8_t *end)
{
	for (; p < end && *p != '"'; p++) {
		uint8_t c = *p;

		if (c == '\\' && p + 1 < end) {
			c = *++p;
			c = c == 'n' ? '\n' : c == 't' ? '\t' : c == 'r' ? '\r' : c;
		}
		buf_byte(&t->text, c);
	}
	return p < end ? p + 1 : NULL;
}

/* Length of the separator of fields at p; 0: there is none. */
static size_t
textform_pair(const struct textform_conf *conf, const uint8_t *p, const uint8_t *end)
{
	if (!conf->pair)
		return textform_blank(*p);
	return (size_t)(end - p) >= conf->pair_len && !memcmp(p, conf->pair, conf->pair_len)
		? conf->pair_len : 0;
}

static size_t
textform_is(const struct textform_conf *conf, const uint8_t *p, const uint8_t *end)
{
	if (!conf->is)
		return *p == '=';
	return (size_t)(end - p) >= conf->is_len && !memcmp(p, conf->is, conf->is_len)
		? conf->is_len : 0;
}

/* Reads the value of a field, from after the sign that follows its key. NULL: not closed. */
static const uint8_t *
textform_value(struct textform *t, const struct textform_conf *conf, struct textform_field *f,
	       const uint8_t *p, const uint8_t *end)
{
	const uint8_t *from = p;

	f->quoted = p < end && *p == '"';
	if (f->quoted)
		return textform_quoted(t, p + 1, end);
	while (p < end && !textform_pair(conf, p, end))
		p++;
	buf_put(&t->text, from, (size_t)(p - from));
	return p;
}

static enum status
textform_kv_read(struct textform *t, const struct textform_conf *conf, const uint8_t *p,
		 const uint8_t *end, struct err *e)
{
	while (p < end) {
		size_t key = t->text.len, len;
		const uint8_t *from = p;

		if ((len = textform_pair(conf, p, end))) {
			p += len;
			continue;
		}
		while (p < end && !(len = textform_is(conf, p, end)) && !textform_pair(conf, p, end))
			p++;
		if (p == from)
			return err_set(e, ST_DATA, "a value without a name before `%.*s`", (int)len,
				       (const char *)p);
		buf_put(&t->text, from, (size_t)(p - from));
		struct textform_field *f = textform_field(t, key, e);
		if (!f)
			return ST_DATA;
		f->bare = p == end || !len;
		f->value = t->text.len;
		if (!f->bare && !(p = textform_value(t, conf, f, p + len, end)))
			return err_set(e, ST_DATA, "a quote that is not closed");
		f->value_len = t->text.len - f->value;
	}
	return ST_OK;
}

static int
textform_hex(uint8_t c)
{
	return c >= '0' && c <= '9' ? c - '0' : (c | 32) >= 'a' && (c | 32) <= 'f'
		       ? (c | 32) - 'a' + 10 : -1;
}

/* Reads up to one of the bytes that end it, and decodes %XX and +. */
static const uint8_t *
textform_unescape(struct textform *t, const uint8_t *p, const uint8_t *end, const char *ends)
{
	for (; p < end && !strchr(ends, *p ? *p : 1); p++) {
		if (*p == '%' && end - p > 2 && textform_hex(p[1]) >= 0 && textform_hex(p[2]) >= 0) {
			buf_byte(&t->text, (uint8_t)(textform_hex(p[1]) * 16 + textform_hex(p[2])));
			p += 2;
		} else {
			buf_byte(&t->text, *p == '+' ? ' ' : *p);
		}
	}
	return p;
}

static enum status
textform_url_read(struct textform *t, const uint8_t *p, const uint8_t *end, struct err *e)
{
	if (p < end && *p == '?')
		p++;
	while (p < end) {
		size_t key = t->text.len;

		p = textform_unescape(t, p, end, "=&;");
		struct textform_field *f = textform_field(t, key, e);
		if (!f)
			return ST_DATA;
		f->value = t->text.len;
		if (p < end && *p == '=')
			p = textform_unescape(t, p + 1, end, "&;");
		f->value_len = t->text.len - f->value;
		if (p < end)
			p++;
	}
	return ST_OK;
}

static uint8_t *
textform_put_value(const struct textform *t, const struct textform_field *f, bool typed,
		   uint8_t *p)
{
	const char *s = (const char *)t->text.data + f->value;
	size_t n = f->value_len;

	if (f->bare)
		return mp_put_bool(p, true);
	if (typed && !f->quoted)
		return csv_put_typed(p, (const uint8_t *)s, n);
	return mp_put_text(p, s, (uint32_t)n);
}

static enum status
textform_put(struct textform *t, bool typed, struct buf *out)
{
	buf_room(&t->text, 8); /* csv_put_typed may read them */
	uint8_t *p = buf_room(out, MP_HEAD_MAX + t->text.len + t->n * (2 * MP_HEAD_MAX + MP_FLOAT_MAX));
	uint8_t *from = p;

	p = mp_put_record_head(p, (uint32_t)t->n);
	for (size_t i = 0; i < t->n; i++) {
		p = mp_put_text(p, t->text.data + t->v[i].key, (uint32_t)t->v[i].key_len);
		p = textform_put_value(t, &t->v[i], typed, p);
	}
	out->len += (size_t)(p - from);
	return ST_OK;
}

static void
textform_reset(struct textform *t)
{
	buf_reset(&t->text);
	buf_room(&t->text, 1); /* so that the pointers are never NULL */
	t->n = 0;
}

enum status
textform_kv(struct textform *t, const struct textform_conf *conf, const uint8_t *p, size_t n,
	    struct buf *out, struct err *e)
{
	textform_reset(t);
	enum status st = textform_kv_read(t, conf, p, p + n, e);

	return st == ST_OK ? textform_put(t, conf->typed, out) : st;
}

enum status
textform_url(struct textform *t, const struct textform_conf *conf, const uint8_t *p, size_t n,
	     struct buf *out, struct err *e)
{
	textform_reset(t);
	enum status st = textform_url_read(t, p, p + n, e);

	return st == ST_OK ? textform_put(t, conf->typed, out) : st;
}
