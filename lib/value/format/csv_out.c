/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/mem.h"
#include "value/format/csv_out.h"
#include "value/format/format_desc.h"
#include "value/json/json_out.h"
#include "value/json/json_print.h"
#include "value/mp.h"

/* ---- fields ---- */

static uint8_t *
csv_put_quoted(struct json_out *o, uint8_t *w, const uint8_t *p, size_t n)
{
	w = json_out_room(o, w, 2 * n + 2);
	*w++ = '"';
	for (size_t i = 0; i < n; i++) {
		if (p[i] == '"')
			*w++ = '"';
		*w++ = p[i];
	}
	*w++ = '"';
	return w;
}

static uint8_t *
csv_put_escaped(struct json_out *o, uint8_t *w, const uint8_t *p, size_t n)
{
	static const char letters[] = { ['\t'] = 't', ['\n'] = 'n', ['\r'] = 'r', ['\\'] = '\\' };

	w = json_out_room(o, w, 2 * n);
	for (size_t i = 0; i < n; i++) {
		if (p[i] < sizeof letters && letters[p[i]]) {
			*w++ = '\\';
			*w++ = (uint8_t)letters[p[i]];
		} else {
			*w++ = p[i];
		}
	}
	return w;
}

static uint8_t *
csv_put_text(const struct csv_out *c, struct json_out *o, uint8_t *w, const uint8_t *p, size_t n)
{
	bool special = false;

	for (size_t i = 0; i < n; i++)
		special |= c->special[p[i]];
	if (special)
		return c->tabs ? csv_put_escaped(o, w, p, n) : csv_put_quoted(o, w, p, n);
	w = json_out_room(o, w, n);
	if (n)
		memcpy(w, p, n);
	return w + n;
}

/* Writes one value; at.p ends after it. */
static struct json_at
csv_put_value(struct csv_out *c, struct json_out *o, struct json_at at, const uint8_t *end)
{
	const uint8_t *start = at.p;
	struct mp m;

	if (*at.p < 0x80)
		return json_put(o, at, end);
	at.p = mp_head(at.p, end, &m);
	switch (m.kind) {
	case MP_NIL:
		return at;
	case MP_TEXT:
		at.w = csv_put_text(c, o, at.w, m.p, m.n);
		return at;
	case MP_LIST:
	case MP_RECORD:
	case MP_EXT:
	case MP_BYTES:
		at.p = mp_skip(start, end);
		buf_reset(&c->json);
		json_print(start, (size_t)(at.p - start), &c->json);
		if (m.kind == MP_BYTES) { /* base64, without its quotes */
			c->json.data[c->json.len - 1] = 0;
			at.w = csv_put_text(c, o, at.w, c->json.data + 1, c->json.len - 2);
		} else {
			at.w = csv_put_text(c, o, at.w, c->json.data, c->json.len);
		}
		return at;
	default:
		return text_put(o, (struct json_at){ at.w, start }, end);
	}
}

/* Writes the i-th field of n. A row of one empty field must not look like an empty line. */
static struct json_at
csv_put_field(struct csv_out *c, struct json_out *o, struct json_at at, const uint8_t *end, size_t i,
	      size_t n)
{
	if (i)
		*at.w++ = c->tabs ? '\t' : ',';
	size_t before = (size_t)(at.w - o->b->data);
	at = csv_put_value(c, o, at, end);
	at.w = json_out_room(o, at.w, 0);
	if (n == 1 && !c->tabs && (size_t)(at.w - o->b->data) == before) {
		*at.w++ = '"';
		*at.w++ = '"';
	}
	return at;
}

/* Writes n values that follow each other as a row. */
static struct json_at
csv_put_row(struct csv_out *c, struct json_out *o, struct json_at at, const uint8_t *end, size_t n)
{
	for (size_t i = 0; i < n; i++)
		at = csv_put_field(c, o, at, end, i, n);
	*at.w++ = '\n';
	at.w = json_out_room(o, at.w, 0);
	return at;
}

/* ---- records ---- */

static enum status
csv_begin_records(struct csv_out *c, const uint8_t *p, const uint8_t *end, uint32_t n, struct buf *out,
		  struct err *e)
{
	struct mp m;

	c->key = mem_array(n ? n : 1, sizeof *c->key);
	c->value = mem_array(n ? n : 1, sizeof *c->value);
	for (; c->n < n; c->n++) {
		const uint8_t *key = p;

		p = mp_head(p, end, &m);
		if (m.kind != MP_TEXT)
			return err_set(e, ST_DATA, "a column's name must be text, but is %s",
				       format_what(key, (size_t)(end - key)));
		c->key[c->n] = (struct csv_key){ (uint32_t)c->keys.len, (uint32_t)(p - key) };
		buf_put(&c->keys, key, (size_t)(p - key));
		p = mp_skip(p, end);
	}
	struct json_out o;
	struct json_at at = { json_out_begin(&o, out), c->keys.data };
	if (n)
		at = csv_put_row(c, &o, at, buf_end(&c->keys), n);
	json_out_end(&o, at.w);
	return ST_OK;
}

/* Begins an error about `key`. */
static enum status
csv_key_fault(struct err *e, const char *what, const uint8_t *key, const uint8_t *end)
{
	struct mp m;

	mp_head(key, end, &m);
	err_set(e, ST_DATA, "it %s a field `%.*s`, which the first record %s", what,
		m.kind == MP_TEXT ? (m.n < 100 ? (int)m.n : 100) : 3,
		m.kind == MP_TEXT ? (const char *)m.p : "...", *what == 'l' ? "has" : "has not");
	err_help(e, "make the records alike: map {id: .id, ...}, or write -t ndjson");
	return ST_DATA;
}

/* Sorts the values into the order of the header, for a record in another order. */
static enum status
csv_sort_record(struct csv_out *c, const uint8_t *p, const uint8_t *end, uint32_t n, struct err *e)
{
	memset(c->value, 0, c->n * sizeof *c->value);
	for (uint32_t i = 0; i < n; i++) {
		const uint8_t *key = p, *value = mp_skip(p, end);
		size_t len = (size_t)(value - key), k = 0;

		while (k < c->n && (c->key[k].len != len || memcmp(c->keys.data + c->key[k].at, key, len)))
			k++;
		if (k == c->n)
			return csv_key_fault(e, "has", key, end);
		c->value[k] = value;
		p = mp_skip(value, end);
	}
	for (size_t k = 0; k < c->n; k++)
		if (!c->value[k])
			return csv_key_fault(e, "lacks", c->keys.data + c->key[k].at,
					     buf_end(&c->keys));
	return ST_OK;
}

/* Whether the keys are those of the header, in its order: fills value. */
static bool
csv_same_keys(struct csv_out *c, const uint8_t *p, const uint8_t *end)
{
	for (size_t k = 0; k < c->n; k++) {
		size_t len = c->key[k].len;

		if ((size_t)(end - p) < len || memcmp(p, c->keys.data + c->key[k].at, len))
			return false;
		c->value[k] = p + len;
		p = mp_skip(p + len, end);
	}
	return true;
}

static enum status
csv_record(struct csv_out *c, const uint8_t *p, const uint8_t *end, uint32_t n, struct buf *out,
	   struct err *e)
{
	struct json_out o;
	struct json_at at;

	if (n != c->n || !csv_same_keys(c, p, end)) {
		enum status st = csv_sort_record(c, p, end, n, e);
		if (st != ST_OK)
			return st;
	}
	at.w = json_out_begin(&o, out);
	for (size_t k = 0; k < c->n; k++) {
		at.p = c->value[k];
		at = csv_put_field(c, &o, at, end, k, c->n);
	}
	*at.w++ = '\n';
	json_out_end(&o, at.w);
	return ST_OK;
}

enum status
csv_out_elem(struct csv_out *c, bool tabs, const uint8_t *p, size_t size, struct buf *out,
	    struct err *e)
{
	const uint8_t *end = p + size, *first;
	enum status st = ST_OK;
	struct mp m;

	first = mp_head(p, end, &m);
	enum csv_mode mode = m.kind == MP_RECORD ? CSV_RECORDS : m.kind == MP_LIST ? CSV_LISTS : CSV_VALUES;
	if (c->mode == CSV_UNKNOWN) {
		c->mode = mode;
		c->tabs = tabs;
		for (const char *s = tabs ? "\t\n\r\\" : ",\"\n\r"; *s; s++)
			c->special[(uint8_t)*s] = true;
		if (mode == CSV_RECORDS)
			st = csv_begin_records(c, first, end, m.n, out, e);
	} else if (mode != c->mode) {
		st = err_set(e, ST_DATA, "it is %s, and the first one was %s", format_what(p, size),
			     c->mode == CSV_RECORDS ? "a record" : c->mode == CSV_LISTS ? "a list"
			     : "a single value");
	}
	if (st != ST_OK || mode == CSV_RECORDS)
		return st != ST_OK ? st : csv_record(c, first, end, m.n, out, e);
	struct json_out o;
	struct json_at at = { json_out_begin(&o, out), mode == CSV_LISTS ? first : p };
	at = csv_put_row(c, &o, at, end, mode == CSV_LISTS ? m.n : 1);
	json_out_end(&o, at.w);
	return ST_OK;
}

void
csv_out_clear(void *state)
{
	struct csv_out *c = state;

	buf_clear(&c->keys);
	buf_clear(&c->json);
	mem_free(c->key);
	mem_free(c->value);
}
