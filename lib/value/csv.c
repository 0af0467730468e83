/* SPDX-License-Identifier: MIT */
#include "value/csv.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "value/csv_inner.h"
#include "value/mp.h"

enum { CSV_SLACK = 32 }; /* short texts are copied by fixed lengths */

/* A column that is wanted. */
struct csv_out {
	uint32_t column; /* of the row */
	uint32_t key;    /* where its encoded name begins in keys */
	uint32_t key_len;
};

struct csv {
	struct csv_conf conf;
	const char *const *names; /* given; NULL: none */
	size_t n_names;
	const struct json_fields *fields;
	struct csv_row row;
	bool ready;              /* the names are known, or there are none */
	struct buf keys;         /* encoded names, end to end, and slack */
	struct csv_out *all;     /* each column of the file */
	size_t n_all, cap_all;
	struct csv_out *out;     /* those wanted, in their order */
	size_t n_out, cap_out;
	size_t keys_len;         /* bytes of the keys wanted */
	uint64_t *hashes;        /* of the names, while they are read: open addressing */
};

/* ---- columns ---- */

static const uint8_t *
csv_key(const struct csv *c, const struct csv_out *o, size_t *len)
{
	struct mp m;

	mp_head(c->keys.data + o->key, c->keys.data + o->key + o->key_len, &m);
	*len = m.n;
	return m.p;
}

size_t
csv_columns(const struct csv *c)
{
	return c->n_all;
}

const char *
csv_column(const struct csv *c, size_t i, size_t *len)
{
	return (const char *)csv_key(c, &c->all[i], len);
}

static bool
csv_find(const struct csv *c, const void *name, size_t n, size_t *at)
{
	size_t len;

	for (*at = 0; *at < c->n_all; ++*at) {
		const uint8_t *key = csv_key(c, &c->all[*at], &len);

		if (len == n && !memcmp(key, name, n))
			return true;
	}
	return false;
}

static void
csv_want(struct csv *c, size_t i)
{
	c->out = mem_grow(c->out, &c->cap_out, c->n_out + 1, sizeof *c->out);
	c->out[c->n_out++] = c->all[i];
	c->keys_len += c->all[i].key_len;
}

static bool
csv_wanted(const struct csv *c, size_t i)
{
	const struct json_fields *f = c->fields;
	size_t len;
	const uint8_t *key = csv_key(c, &c->all[i], &len);

	for (size_t k = 0; f && k < f->n; k++)
		if (f->lens[k] == len && !memcmp(f->names[k], key, len))
			return true;
	return !f;
}

static const char *
csv_next_name(void *arg, size_t i)
{
	struct buf *b = arg;
	const char *s = b->data ? (char *)b->data : "";

	for (; i && *s; i--)
		s += strlen(s) + 1;
	return *s ? s : NULL;
}

static enum status
csv_no_column(const struct csv *c, const char *name, struct err *e)
{
	struct buf b = { 0 };
	char near[ERR_HELP];

	err_set(e, ST_DATA, "there is no column `%.100s`", name);
	for (size_t i = 0; i < c->n_all && i < 1000; i++) {
		size_t len;
		const char *key = csv_column(c, i, &len);

		if (len && !memchr(key, 0, len)) {
			buf_put(&b, key, len);
			buf_byte(&b, 0);
		}
	}
	if (str_suggest(name, csv_next_name, &b, near, sizeof near))
		err_help(e, "did you mean %s?", near);
	buf_clear(&b);
	return ST_DATA;
}

/* The columns are known: chooses. */
static enum status
csv_choose(struct csv *c, struct err *e)
{
	c->n_out = c->keys_len = 0;
	if (c->conf.header && c->names) {
		for (size_t i = 0; i < c->n_names; i++) {
			size_t at;

			if (!csv_find(c, c->names[i], strlen(c->names[i]), &at))
				return csv_no_column(c, c->names[i], e);
			if (csv_wanted(c, at))
				csv_want(c, at);
		}
	} else {
		for (size_t i = 0; i < c->n_all; i++)
			if (csv_wanted(c, i))
				csv_want(c, i);
	}
	c->ready = true;
	return ST_OK;
}

/* The table of names is twice as large as there are columns. */
static bool
csv_seen(struct csv *c, size_t slots, const void *name, size_t n)
{
	uint64_t h = 1469598103934665603u;
	const uint8_t *p = name;

	for (size_t i = 0; i < n; i++)
		h = (h ^ p[i]) * 1099511628211u;
	for (size_t k = (size_t)(h % slots);; k = (k + 1) % slots) {
		size_t len;

		if (!c->hashes[k]) {
			c->hashes[k] = c->n_all + 1;
			return false;
		}
		const uint8_t *key = csv_key(c, &c->all[c->hashes[k] - 1], &len);
		if (len == n && !memcmp(key, name, n))
			return true;
	}
}

/* One more column; a name that is empty or there already is changed. */
static void
csv_add(struct csv *c, size_t slots, const void *name, size_t n)
{
	char *other = NULL;

	if (!n) {
		name = other = mem_printf("%zu", c->n_all + 1);
		n = strlen(other);
	}
	const char *base = name;
	size_t base_n = n;
	char *copy = NULL;
	for (unsigned k = 2; csv_seen(c, slots, name, n); k++) {
		struct buf b = { 0 };

		buf_put(&b, base, base_n);
		buf_printf(&b, "_%u", k);
		n = b.len;
		mem_free(copy);
		name = copy = buf_take(&b);
	}
	uint8_t *p = buf_room(&c->keys, MP_HEAD_MAX + n + CSV_SLACK);
	uint32_t len = (uint32_t)(mp_put_text(p, name, (uint32_t)n) - p);
	c->all = mem_grow(c->all, &c->cap_all, c->n_all + 1, sizeof *c->all);
	c->all[c->n_all] = (struct csv_out){ (uint32_t)c->n_all, (uint32_t)c->keys.len, len };
	c->keys.len += len;
	c->n_all++;
	mem_free(copy);
	mem_free(other);
}

static void
csv_begin_columns(struct csv *c, size_t slots)
{
	buf_reset(&c->keys);
	c->n_all = 0;
	mem_free(c->hashes);
	c->hashes = mem_array(slots, sizeof *c->hashes);
}

static void
csv_end_columns(struct csv *c)
{
	mem_free(c->hashes);
	c->hashes = NULL;
}

struct csv *
csv_new(const struct csv_conf *conf, const char *const *names, size_t n_names)
{
	struct csv *c = mem_zalloc(sizeof *c);

	c->conf = *conf;
	c->names = names;
	c->n_names = n_names;
	if (names && !conf->header) {
		csv_begin_columns(c, 2 * n_names + 1);
		for (size_t i = 0; i < n_names; i++)
			csv_add(c, 2 * n_names + 1, names[i], strlen(names[i]));
		csv_end_columns(c);
	}
	csv_restart(c);
	return c;
}

void
csv_free(struct csv **cp)
{
	struct csv *c = *cp;

	*cp = NULL;
	if (!c)
		return;
	buf_clear(&c->keys);
	mem_free(c->row.ends);
	mem_free(c->all);
	mem_free(c->out);
	mem_free(c);
}

static void
csv_row_reset(struct csv *c)
{
	c->row.n = 0;
	c->row.at = 0;
	c->row.quoted = c->row.inside = false;
}

void
csv_forget(struct csv *c)
{
	csv_row_reset(c);
}

void
csv_restart(struct csv *c)
{
	csv_row_reset(c);
	c->ready = false;
	if (!c->conf.header)
		csv_choose(c, NULL);
}

void
csv_project(struct csv *c, const struct json_fields *fields)
{
	c->fields = fields;
	if (c->ready)
		csv_choose(c, NULL);
}

bool
csv_ready(const struct csv *c)
{
	return c->ready;
}

/* ---- values ---- */

/* Copies the contents of a quoted field, or one with escapes, after its head. */
static uint8_t *
csv_put_unquoted(uint8_t *w, const uint8_t *p, size_t n, uint8_t quote)
{
	const uint8_t *end = p + n;
	size_t doubled = 0;

	for (const uint8_t *s = p; (s = memchr(s, quote, (size_t)(end - s))); s += 2)
		doubled++;
	if (!doubled)
		return mp_put_text(w, p, (uint32_t)n);
	w = mp_put_text_head(w, (uint32_t)(n - doubled));
	while (p < end) {
		const uint8_t *s = memchr(p, quote, (size_t)(end - p));
		size_t some = (size_t)((s ? s + 1 : end) - p);

		memcpy(w, p, some);
		w += some;
		p += some + (s != NULL);
	}
	return w;
}

static uint8_t *
csv_put_escaped(uint8_t *w, const uint8_t *p, size_t n)
{
	const uint8_t *end = p + n;
	size_t fewer = 0;

	for (const uint8_t *s = p; s + 1 < end; s++)
		if (*s == '\\' && memchr("tnr\\", s[1], 4))
			fewer++, s++;
	w = mp_put_text_head(w, (uint32_t)(n - fewer));
	for (; p < end; p++) {
		uint8_t next = *p == '\\' && p + 1 < end ? p[1] : 0;

		if (next == 't' || next == 'n' || next == 'r' || next == '\\') {
			*w++ = next == 't' ? '\t' : next == 'n' ? '\n' : next == 'r' ? '\r' : '\\';
			p++;
		} else {
			*w++ = *p;
		}
	}
	return w;
}

static inline uint8_t *
csv_put_text(uint8_t *w, const uint8_t *p, size_t n)
{
	if (n > 31)
		return mp_put_text(w, p, (uint32_t)n);
	*w++ = (uint8_t)(0xa0 | n);
	memcpy(w, p, 16);
	if (n > 16)
		memcpy(w + 16, p + 16, 16);
	return w + n;
}

/* Letters begin no number but true and false. */
static inline bool
csv_maybe_number(uint8_t c)
{
	return (unsigned)(c - '-') <= '9' - '-' || c == 't' || c == 'f';
}

static inline uint8_t *
csv_put(const struct csv_conf *conf, uint8_t *w, const uint8_t *p, size_t n, bool row_quoted)
{
	uint8_t *end;

	if (row_quoted && n && *p == conf->quote)
		return csv_put_unquoted(w, p + 1, n - 2, (uint8_t)conf->quote);
	if (conf->escapes && memchr(p, '\\', n))
		return csv_put_escaped(w, p, n);
	if (!conf->text) {
		if (!n)
			return mp_put_nil(w);
		if (csv_maybe_number(*p) && (end = csv_put_number(w, p, n)))
			return end;
	}
	return csv_put_text(w, p, n);
}

static uint8_t *
csv_put_record(const struct csv *c, uint8_t *w, const uint8_t *p)
{
	const struct csv_row *row = &c->row;

	w = mp_put_record_head(w, (uint32_t)c->n_out);
	for (size_t i = 0; i < c->n_out; i++) {
		const struct csv_out *o = &c->out[i];
		const uint8_t *key = c->keys.data + o->key;
		uint32_t begin = o->column ? row->ends[o->column - 1] + 1 : 0;

		memcpy(w, key, 16);
		if (o->key_len > 16)
			memcpy(w + 16, key + 16, o->key_len - 16);
		w = csv_put(&c->conf, w + o->key_len, p + begin, row->ends[o->column] - begin, row->quoted);
	}
	return w;
}

static uint8_t *
csv_put_list(const struct csv *c, uint8_t *w, const uint8_t *p)
{
	const struct csv_row *row = &c->row;
	uint32_t begin = 0;

	w = mp_put_list_head(w, row->n);
	for (uint32_t i = 0; i < row->n; i++) {
		w = csv_put(&c->conf, w, p + begin, row->ends[i] - begin, row->quoted);
		begin = row->ends[i] + 1;
	}
	return w;
}

/* ---- rows ---- */

static bool
csv_blank(const struct csv_row *row)
{
	return row->n == 1 && row->ends[0] == 0;
}

static uint32_t
csv_lines(const struct csv_row *row, const uint8_t *p)
{
	const uint8_t *end = p + row->len, *s = p;
	uint32_t n = 1;

	if (!row->quoted)
		return 1;
	for (; (s = memchr(s, '\n', (size_t)(end - s))); s++)
		n += s + 1 < end;
	return n;
}

/* The row cannot be read: its first line goes, and reading begins again behind it. */
static enum status
csv_bad(struct csv *c, enum csv_step step, const uint8_t *p, const uint8_t *end, bool eof,
	size_t *used, uint32_t *lines, struct err *e)
{
	const uint8_t *stop = memchr(p, '\n', (size_t)(end - p));
	uint32_t field = c->row.n + 1;

	if (!stop && !eof)
		return ST_END;
	*used = (size_t)((stop ? stop + 1 : end) - p);
	*lines = 1;
	csv_row_reset(c);
	if (step == CSV_MANY)
		return err_set(e, ST_DATA, "a row of more than %d fields", CSV_COLUMNS_MAX);
	if (step == CSV_BEHIND)
		err_set(e, ST_DATA, "field %u goes on behind its closing quote", field);
	else
		err_set(e, ST_DATA, "the quote that opens field %u is never closed", field);
	err_help(e, "a quote within quotes is written twice; quote=none takes quotes as they are");
	return ST_DATA;
}

static enum status
csv_ragged(struct csv *c, const uint8_t *p, size_t *used, uint32_t *lines, struct err *e)
{
	*used = c->row.len;
	*lines = csv_lines(&c->row, p);
	err_set(e, ST_DATA, "a row of %u field%s, where there are %zu columns", c->row.n,
		c->row.n == 1 ? "" : "s", c->n_all);
	csv_row_reset(c);
	return ST_DATA;
}

static size_t
csv_bom(const uint8_t *p, size_t n)
{
	return n >= 3 && !memcmp(p, "\xef\xbb\xbf", 3) ? 3 : 0;
}

enum status
csv_header(struct csv *c, const uint8_t *p, size_t n, bool eof, size_t *used, uint32_t *lines,
	   struct err *e)
{
	struct csv_scan scan = { 0 };
	const uint8_t *end = p + n, *start = p + csv_bom(p, n);
	struct buf name = { 0 };

	*used = 0;
	*lines = 0;
	for (;;) {
		csv_row_reset(c);
		if (start >= end)
			return ST_END;
		enum csv_step step = csv_split(&c->conf, &c->row, &scan, start, end, eof);
		if (step == CSV_PART) {
			csv_row_reset(c);
			return ST_END;
		}
		if (step != CSV_ROW)
			return csv_bad(c, step, start, end, eof, used, lines, e);
		*lines += csv_lines(&c->row, start);
		if (!csv_blank(&c->row))
			break;
		start += c->row.len;
	}
	size_t slots = 2 * (size_t)c->row.n + 1;
	csv_begin_columns(c, slots);
	struct csv_conf text = c->conf;
	text.text = true;
	for (uint32_t i = 0, begin = 0; i < c->row.n; begin = c->row.ends[i++] + 1) {
		size_t len = c->row.ends[i] - begin;
		struct mp m;

		buf_reset(&name);
		uint8_t *w = buf_room(&name, len + MP_HEAD_MAX + CSV_SLACK);
		w = csv_put(&text, w, start + begin, len, c->row.quoted);
		mp_head(name.data, w, &m);
		csv_add(c, slots, m.p, m.n);
	}
	csv_end_columns(c);
	buf_clear(&name);
	*used = (size_t)(start - p) + c->row.len;
	csv_row_reset(c);
	return csv_choose(c, e);
}

enum status
csv_rows(struct csv *c, const uint8_t *p, size_t n, bool eof, uint32_t max, struct run *out,
	 size_t *used, uint32_t *lines, struct err *e)
{
	struct csv_scan scan = { 0 };
	const uint8_t *start = p, *end = p + n;
	bool records = c->n_all || c->conf.header;

	*lines = 0;
	while (p < end && out->n < max && (size_t)(p - start) < RUN_BYTES) {
		enum csv_step step = csv_split(&c->conf, &c->row, &scan, p, end, eof);
		bool first = p == start;

		if (step == CSV_PART)
			break;
		if (step == CSV_ROW && csv_blank(&c->row)) {
			p += c->row.len;
			++*lines;
			csv_row_reset(c);
			continue;
		}
		if (step != CSV_ROW || (records && c->row.n != c->n_all)) {
			if (!first) {
				csv_row_reset(c); /* it comes again, alone */
				break;
			}
			return step != CSV_ROW ? csv_bad(c, step, p, end, eof, used, lines, e)
					       : csv_ragged(c, p, used, lines, e);
		}
		uint8_t *w = run_room(out, c->row.len + 9 * (size_t)c->row.n + c->keys_len
				      + MP_HEAD_MAX + 2 * CSV_SLACK);
		w = records ? csv_put_record(c, w, p) : csv_put_list(c, w, p);
		run_done(out, w, *lines);
		*lines += csv_lines(&c->row, p);
		p += c->row.len;
		csv_row_reset(c);
	}
	*used = (size_t)(p - start);
	return p == start ? ST_END : ST_OK;
}
