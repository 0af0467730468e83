/* SPDX-License-Identifier: MIT */
#include "value/csv/csv.h"

#include <string.h>

#include "value/csv/csv_inner.h"
#include "value/mp.h"

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

/* No number begins with a letter, but true and false do. */
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

/* Whether the row is "" alone: one empty field is written so, since an empty line is no row. */
static inline bool
csv_lone(const struct csv *c, const uint8_t *p)
{
	return c->row.n == 1 && c->row.quoted && c->row.ends[0] == 2 && !c->conf.text
		&& *p == c->conf.quote;
}

static uint8_t *
csv_put_record(const struct csv *c, uint8_t *w, const uint8_t *p)
{
	const struct csv_row *row = &c->row;

	w = mp_put_record_head(w, (uint32_t)c->n_out);
	if (csv_lone(c, p) && c->n_out) {
		memcpy(w, c->keys.data + c->out->key, c->out->key_len);
		return mp_put_nil(w + c->out->key_len);
	}
	for (size_t i = 0; i < c->n_out; i++) {
		const struct csv_column *o = &c->out[i];
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
	if (csv_lone(c, p))
		return mp_put_nil(w);
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

/* Handles a row that cannot be read: drops its first line, and begins again after it. */
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
	csv_row_reset(&c->row);
	if (step == CSV_MANY)
		return err_set(e, ST_DATA, "a row of more than %d fields", CSV_COLUMNS_MAX);
	if (step == CSV_BEHIND)
		err_set(e, ST_DATA, "field %u has text after its closing quote", field);
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
	csv_row_reset(&c->row);
	return ST_DATA;
}

/* Whether the bytes at p, where a row would begin, are a comment: its length with the line's end
 * in *len, which is 0 if there is no comment. False: more bytes are needed to tell. */
static bool
csv_comment(const struct csv *c, const uint8_t *p, const uint8_t *end, bool eof, size_t *len)
{
	size_t n = (size_t)(end - p), most = n < c->conf.n_comment ? n : c->conf.n_comment;

	*len = 0;
	if (memcmp(p, c->conf.comment, most))
		return true;
	if (most < c->conf.n_comment)
		return eof;
	const uint8_t *stop = memchr(p, '\n', n);
	*len = (size_t)((stop ? stop + 1 : end) - p);
	return stop || eof;
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
		csv_row_reset(&c->row);
		if (start >= end)
			return ST_END;
		if (c->conf.comment) {
			size_t skip;

			if (!csv_comment(c, start, end, eof, &skip))
				return ST_END;
			start += skip;
			*lines += skip > 0;
			scan.base = NULL;
			if (skip)
				continue;
		}
		enum csv_step step = csv_split(&c->conf, &c->row, &scan, start, end, eof);
		if (step == CSV_PART) {
			csv_row_reset(&c->row);
			return ST_END;
		}
		if (step != CSV_ROW)
			return csv_bad(c, step, start, end, eof, used, lines, e);
		*lines += csv_lines(&c->row, start);
		if (!csv_blank(&c->row))
			break;
		start += c->row.len;
	}
	csv_columns_begin(c, c->row.n);
	struct csv_conf text = c->conf;
	text.text = true;
	for (uint32_t i = 0, begin = 0; i < c->row.n; begin = c->row.ends[i++] + 1) {
		size_t len = c->row.ends[i] - begin;
		struct mp m;

		buf_reset(&name);
		uint8_t *w = buf_room(&name, len + MP_HEAD_MAX + CSV_SLACK);
		w = csv_put(&text, w, start + begin, len, c->row.quoted);
		mp_head(name.data, w, &m);
		csv_columns_add(c, m.p, m.n);
	}
	csv_columns_end(c);
	buf_clear(&name);
	*used = (size_t)(start - p) + c->row.len;
	csv_row_reset(&c->row);
	enum status st = c->conf.ragged ? csv_ragged_check(c, e) : ST_OK;
	return st == ST_OK ? csv_choose(c, e) : st;
}

enum status
csv_rows(struct csv *c, const uint8_t *p, size_t n, bool eof, uint32_t max, struct run *out,
	 size_t *used, uint32_t *lines, struct err *e)
{
	struct csv_scan scan = { 0 };
	const uint8_t *start = p, *end = p + n;
	bool records = c->n_all || c->conf.header, comments = c->conf.comment;
	size_t made = 0;

	*lines = 0;
	/* A long header makes long records of short rows: what is put out is bounded, too. */
	while (p < end && out->n < max && (size_t)(p - start) < RUN_BYTES && made < 4 * RUN_BYTES) {
		if (comments && !c->row.at) {
			size_t skip;

			if (!csv_comment(c, p, end, eof, &skip))
				break;
			p += skip;
			*lines += skip > 0;
			scan.base = NULL;
			if (skip)
				continue;
		}
		enum csv_step step = csv_split(&c->conf, &c->row, &scan, p, end, eof);
		bool first = p == start;

		if (step == CSV_PART)
			break;
		if (step == CSV_ROW && csv_blank(&c->row) && !(c->conf.escapes && c->n_all == 1)) {
			p += c->row.len;
			++*lines;
			csv_row_reset(&c->row);
			continue;
		}
		bool ragged = records && c->row.n != c->n_all;
		if (step != CSV_ROW || (ragged && !c->conf.ragged)) {
			if (!first) {
				/* the row comes again, as the first of a run */
				csv_row_reset(&c->row);
				break;
			}
			return step != CSV_ROW ? csv_bad(c, step, p, end, eof, used, lines, e)
					       : csv_ragged(c, p, used, lines, e);
		}
		uint8_t *w = run_room(out, c->row.len + 9 * (size_t)c->row.n + c->keys_len
				      + MP_HEAD_MAX + 2 * CSV_SLACK + (ragged ? csv_ragged_room(c) : 0));
		const uint8_t *at = w;
		w = ragged ? csv_put_ragged(c, csv_put, w, p) : records ? csv_put_record(c, w, p) : csv_put_list(c, w, p);
		made += (size_t)(w - at);
		run_done(out, w, *lines);
		*lines += csv_lines(&c->row, p);
		p += c->row.len;
		csv_row_reset(&c->row);
	}
	*used = (size_t)(p - start);
	return p == start ? ST_END : ST_OK;
}

uint8_t *
csv_put_typed(uint8_t *w, const uint8_t *p, size_t n)
{
	uint8_t *end = NULL;

	if (!n)
		return mp_put_nil(w);
	if (csv_maybe_number(*p))
		end = csv_put_number(w, p, n);
	return end ? end : mp_put_text(w, p, (uint32_t)n);
}

enum status
csv_row_of(struct csv *c, const uint8_t *p, size_t n, struct elem *out, struct err *e)
{
	uint32_t lines;
	size_t used;

	buf_reset(&c->line);
	buf_put(&c->line, p, n);
	buf_byte(&c->line, '\n');
	memset(buf_room(&c->line, CSV_PAD), 0, CSV_PAD);
	csv_forget(c);
	run_reset(&c->one);
	enum status st = csv_rows(c, c->line.data, c->line.len, true, 2, &c->one, &used, &lines, e);
	if (st != ST_OK && st != ST_END)
		return st;
	if (c->one.n != 1)
		return err_set(e, ST_DATA, c->one.n ? "this text is more than one row"
			       : "this text is not a row");
	*out = c->one.e[0];
	return ST_OK;
}
