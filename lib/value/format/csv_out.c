/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/same.h"
#include "value/format/csv_out.h"
#include "value/format/format.h"
#include "value/format/format_desc.h"
#include "value/json/json_out.h"
#include "value/json/json_print.h"
#include "value/json/json_refuse.h"
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

	if ((*at.p & 0xe0) == 0xa0) { /* a short text */
		size_t n = *at.p & 31u;

		at.w = csv_put_text(c, o, at.w, at.p + 1, n);
		at.p += 1 + n;
		return at;
	}
	if (*at.p < 0x80 || *at.p >= 0xe0 || (*at.p >= 0xca && *at.p <= 0xd3)) /* numbers */
		return text_put(o, at, end);
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
		if (json_write(start, (size_t)(at.p - start), &c->rules, &c->json, NULL) != ST_OK) {
			o->refused = true;
			return at;
		}
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
		*at.w++ = c->delim;
	size_t before = (size_t)(at.w - o->b->data);
	if (at.p)
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

/* Says which of n values the rules refuse: only those within values are JSON. ST_OK: none. */
static enum status
csv_refused(const struct csv_out *c, const uint8_t *p, const uint8_t *end, uint32_t n, bool named, struct err *e)
{
	struct mp key = { 0 }, m;
	enum status st = ST_OK;
	char name[64];

	for (uint32_t i = 0; i < n && !st; i++) {
		if (named)
			p = mp_head(p, end, &key);
		const uint8_t *next = mp_skip(p, end);
		if (named)
			snprintf(name, sizeof name, ".%.*s", key.n < 60 ? (int)key.n : 60, (const char *)key.p);
		else
			snprintf(name, sizeof name, "x[%u]", i);
		mp_head(p, end, &m);
		if (m.kind == MP_LIST || m.kind == MP_RECORD || m.kind == MP_EXT)
			st = json_refuse_in(name, p, (size_t)(next - p), &c->rules, e);
		p = next;
	}
	return st;
}

/* ---- records ---- */

static void
csv_header(struct csv_out *c, struct buf *out)
{
	struct json_out o;

	if (c->no_header || !c->n)
		return;
	struct json_at at = { json_out_begin(&o, out, &c->rules), c->keys.data };
	at = csv_put_row(c, &o, at, buf_end(&c->keys), c->n);
	json_out_end(&o, at.w);
}

static void
csv_add_key(struct csv_out *c, const uint8_t *key, size_t len)
{
	c->key = mem_grow(c->key, &c->cap_key, c->n + 1, sizeof *c->key);
	c->value = mem_grow(c->value, &c->cap_value, c->n + 1, sizeof *c->value);
	c->key[c->n] = (struct csv_key){ (uint32_t)c->keys.len, (uint32_t)len };
	c->value[c->n++] = NULL;
	buf_put(&c->keys, key, len);
}

/* ST_DATA: the key cannot be the name of a column. */
static enum status
csv_check_key(const uint8_t *key, const uint8_t *end, struct err *e)
{
	struct mp m;

	mp_head(key, end, &m);
	return m.kind == MP_TEXT ? ST_OK : err_set(e, ST_DATA, "a column's name must be text, but is %s",
						   format_what(key, (size_t)(end - key)));
}

static enum status
csv_begin_records(struct csv_out *c, const uint8_t *p, const uint8_t *end, uint32_t n, struct buf *out,
		  struct err *e)
{
	for (uint32_t i = 0; i < n; i++) {
		const uint8_t *key = p;

		p = mp_skip(p, end);
		enum status st = csv_check_key(key, p, e);
		if (st != ST_OK)
			return st;
		csv_add_key(c, key, (size_t)(p - key));
		p = mp_skip(p, end);
	}
	csv_header(c, out);
	return ST_OK;
}

/* The column of a key, tried at `near` first; c->n: there is none. */
static size_t
csv_column(const struct csv_out *c, const uint8_t *key, size_t len, size_t near)
{
	size_t k = near;

	if (k < c->n && c->key[k].len == len && !memcmp(c->keys.data + c->key[k].at, key, len))
		return k;
	for (k = 0; k < c->n; k++)
		if (c->key[k].len == len && !memcmp(c->keys.data + c->key[k].at, key, len))
			break;
	return k;
}

/* ---- records that differ ---- */

/* Holds a record back, and gives each of its keys a column. */
static enum status
csv_hold(struct csv_out *c, const uint8_t *record, const uint8_t *p, const uint8_t *end, uint32_t n, struct err *e)
{
	const uint8_t *fields = p;

	for (uint32_t i = 0; i < n; i++) {
		const uint8_t *key = p;

		p = mp_skip(p, end);
		size_t len = (size_t)(p - key);
		if (csv_column(c, key, len, i) == c->n) {
			enum status st = csv_check_key(key, p, e);
			if (st != ST_OK)
				return st;
			if (c->n == CSV_KEYS)
				return err_set(e, ST_DATA, "the records have more than %d different fields", CSV_KEYS);
			csv_add_key(c, key, len);
		}
		p = mp_skip(p, end);
	}
	if ((size_t)(end - record) > CSV_HELD - c->held.len) {
		err_set(e, ST_DATA, "the records take more than 1 GiB, and --unsparsify holds all of them back");
		err_help(e, "name the columns instead: `select a b c` gives records that are alike");
		return ST_DATA;
	}
	enum status st = csv_refused(c, fields, end, n, true, e);
	if (!st)
		buf_put(&c->held, record, (size_t)(end - record));
	return st;
}

static void
csv_put_held(struct csv_out *c, const uint8_t *p, const uint8_t *end, uint32_t n, struct buf *out)
{
	struct json_out o;
	struct json_at at = { json_out_begin(&o, out, &c->rules), NULL };

	memset(c->value, 0, c->n * sizeof *c->value);
	for (uint32_t i = 0; i < n; i++) {
		const uint8_t *key = p, *value = mp_skip(p, end);

		c->value[csv_column(c, key, (size_t)(value - key), i)] = value;
		p = mp_skip(value, end);
	}
	for (size_t k = 0; k < c->n; k++) {
		at.p = c->value[k];
		at = csv_put_field(c, &o, at, end, k, c->n);
	}
	*at.w++ = '\n';
	json_out_end(&o, at.w);
}

void
csv_out_rest(void *state, struct buf *out)
{
	struct csv_out *c = state;
	const uint8_t *p = c->held.data, *end = buf_end(&c->held), *next;
	struct mp m;

	if (!c->held.len)
		return;
	csv_header(c, out);
	for (; p < end; p = next) {
		const uint8_t *first = mp_head(p, end, &m);

		next = mp_skip(p, end);
		csv_put_held(c, first, next, m.n, out);
	}
	buf_reset(&c->held);
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
	err_help(e, "--unsparsify gives each field of any record a column; or make the records alike: "
		 "select id name");
	return ST_DATA;
}

/* Sorts the values into the order of the header, for a record in another order. */
static enum status
csv_sort_record(struct csv_out *c, const uint8_t *p, const uint8_t *end, uint32_t n, struct err *e)
{
	memset(c->value, 0, c->n * sizeof *c->value);
	for (uint32_t i = 0; i < n; i++) {
		const uint8_t *key = p, *value = mp_skip(p, end);
		size_t k = csv_column(c, key, (size_t)(value - key), i);

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

		if ((size_t)(end - p) < len || !same_bytes(p, c->keys.data + c->key[k].at, len))
			return false;
		c->value[k] = p + len;
		p = mp_past(p + len);
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
	at.w = json_out_begin(&o, out, &c->rules);
	for (size_t k = 0; k < c->n; k++) {
		at.p = c->value[k];
		at = csv_put_field(c, &o, at, end, k, c->n);
	}
	*at.w++ = '\n';
	json_out_end(&o, at.w);
	return o.refused ? csv_refused(c, p, end, n, true, e) : ST_OK;
}

static void
csv_begin(struct csv_out *c, enum csv_mode mode, bool tabs)
{
	c->mode = mode;
	c->tabs = tabs;
	if (!c->delim)
		c->delim = tabs ? '\t' : ',';
	for (const char *s = tabs ? "\t\n\r\\" : "\"\n\r"; *s; s++)
		c->special[(uint8_t)*s] = true;
	c->special[c->delim] = true;
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
		csv_begin(c, mode, tabs);
		if (mode == CSV_RECORDS && !c->unsparsify)
			st = csv_begin_records(c, first, end, m.n, out, e);
	} else if (mode != c->mode) {
		st = err_set(e, ST_DATA, "it is %s, and the first one was %s", format_what(p, size),
			     c->mode == CSV_RECORDS ? "a record" : c->mode == CSV_LISTS ? "a list"
			     : "a single value");
	}
	if (st != ST_OK)
		return st;
	if (mode == CSV_RECORDS)
		return c->unsparsify ? csv_hold(c, p, first, end, m.n, e) : csv_record(c, first, end, m.n, out, e);
	struct json_out o;
	struct json_at at = { json_out_begin(&o, out, &c->rules), mode == CSV_LISTS ? first : p };
	uint32_t n = mode == CSV_LISTS ? m.n : 1;
	at = csv_put_row(c, &o, at, end, n);
	json_out_end(&o, at.w);
	return o.refused ? csv_refused(c, mode == CSV_LISTS ? first : p, end, n, false, e) : ST_OK;
}

/* ---- options, end ---- */

static void
csv_take_type(struct csv_out *c, const struct type *type)
{
	uint8_t head[MP_HEAD_MAX];

	if (!type || type->kind != TYPE_RECORD || type->open)
		return;
	c->n_typed = type->n_fields;
	for (size_t i = 0; i < type->n_fields; i++) {
		const char *name = type->fields[i].name;
		size_t len = strlen(name);

		buf_put(&c->typed, head, (size_t)(mp_put_text_head(head, (uint32_t)len) - head));
		buf_put(&c->typed, name, len);
	}
}

enum status
csv_out_set(void *state, const struct format_opts *o, const struct type *type, struct err *e)
{
	struct csv_out *c = state;
	const char *d = o->delim;

	c->rules = o->json;
	c->unsparsify = o->unsparsify;
	c->no_header = o->no_header;
	csv_take_type(c, type);
	if (!d)
		return ST_OK;
	c->delim = strcmp(d, "\\t") ? (uint8_t)d[0] : '\t';
	if (*d && (!d[1] || !strcmp(d, "\\t")) && !strchr("\"\r\n", *d) && c->delim < 0x80)
		return ST_OK;
	err_set(e, ST_USAGE, "--delim: '%.40s' is not one ASCII character that can stand between fields", d);
	err_help(e, "--delim ';', or --delim '\\t' for tabs");
	return ST_USAGE;
}

enum status
csv_out_end(void *state, uint64_t count, struct buf *out, struct err *e)
{
	struct csv_out *c = state;
	const uint8_t *p = c->typed.data, *next;

	(void)e;
	csv_out_rest(c, out);
	if (count || c->mode != CSV_UNKNOWN)
		return ST_OK;
	csv_begin(c, CSV_RECORDS, c->tabs);
	for (size_t i = 0; i < c->n_typed; i++, p = next) {
		next = mp_skip(p, buf_end(&c->typed));
		csv_add_key(c, p, (size_t)(next - p));
	}
	csv_header(c, out);
	return ST_OK;
}

void
csv_out_clear(void *state)
{
	struct csv_out *c = state;

	buf_clear(&c->keys);
	buf_clear(&c->json);
	buf_clear(&c->held);
	buf_clear(&c->typed);
	mem_free(c->key);
	mem_free(c->value);
}
