/* SPDX-License-Identifier: MIT */
#include "value/json/json.h"

#include <string.h>

#include "base/mem.h"
#include "value/json/json_fault.h"
#include "value/json/json_simd.h"
#include "value/json/json_skim.h"
#include "value/json/json_tape.h"
#include "value/mp.h"
#include "value/num.h"

enum { JSON_BATCH_MIN = 4096, JSON_BATCH_MAX = 1 << 20, JSON_LINE_GUESS = 128 };

struct json {
	struct simd *simd;
	size_t line_avg; /* average length of recent lines, for the size of batches */
	struct buf pad;  /* copy made by json_value */
};

/* The state of one call of json_lines. */
struct json_work {
	struct json *j;
	const uint8_t *p;
	const struct json_fields *fields;
	struct run *out;
	uint32_t stop;   /* number of elements in out at which to stop */
	uint32_t first_pos;
	size_t at;       /* offset of the line to be read next */
	uint32_t line;   /* its index */
	size_t slash;    /* offset of the next backslash; before `at`: not known */
	struct err *e;
};

struct json *
json_new(void)
{
	struct json *j = mem_zalloc(sizeof *j);

	j->simd = simd_new(MP_DEPTH_MAX);
	j->line_avg = JSON_LINE_GUESS;
	return j;
}

void
json_free(struct json **j)
{
	if (!*j)
		return;
	simd_free((*j)->simd);
	buf_clear(&(*j)->pad);
	mem_free(*j);
	*j = NULL;
}

size_t
json_padding(void)
{
	return simd_padding();
}

static bool
json_blank(uint8_t c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static bool
json_is_number(uint8_t c)
{
	return c == '-' || (c >= '0' && c <= '9');
}

/* Reads a number that is a whole document: simdjson would copy all of the text after it. NULL:
 * it is not a valid number. */
static uint8_t *
json_put_number(const uint8_t *p, size_t n, uint8_t *w)
{
	struct json_number num;
	size_t len = json_number(p, n, &num);
	double f;

	for (size_t i = len; i < n; i++)
		if (!json_blank(p[i]))
			return NULL;
	switch (len ? num.kind : 0) {
	case 'l': return mp_put_int(w, num.i);
	case 'u': return mp_put_uint(w, num.u);
	case 'd': return num_parse_float((const char *)p, len, &f) ? mp_put_float(w, f) : NULL;
	default: return NULL;
	}
}

static enum status
json_refuse(const uint8_t *p, size_t n, enum simd_status why, struct err *e)
{
	struct json_fault f;

	if (why == SIMD_MEMORY)
		return err_set(e, ST_DATA, "%zu bytes are too many for one JSON value", n);
	if (!json_fault(p, n, &f))
		return err_set(e, ST_DATA, "not JSON");
	err_set(e, ST_DATA, "not JSON at byte %zu: %s", f.at + 1, f.reason);
	if (e)
		e->col = (unsigned)(f.at + 1);
	return ST_DATA;
}

/* Reads the text as one document; ST_END when it is blank. */
static enum status
json_one(struct json *j, const uint8_t *p, size_t n, struct simd_doc *d, struct err *e)
{
	enum simd_status st = simd_begin(j->simd, p, n);

	if (st == SIMD_END)
		return ST_END;
	if (st == SIMD_OK)
		st = simd_next(j->simd, d);
	if (st != SIMD_OK || d->next < n)
		return json_refuse(p, n, st, e);
	return ST_OK;
}

static void
json_done_line(struct json_work *k, size_t line_end)
{
	k->at = line_end + 1;
	k->line++;
}

static void
json_put_doc(struct json_work *k, const struct simd_doc *d, size_t line_len)
{
	uint8_t *w = run_room(k->out, json_tape_room(d, line_len));

	run_done(k->out, json_tape_put(d, k->fields, w), k->first_pos + k->line);
}

/* Reads a line by itself, when it or a line near it is wrong. */
static enum status
json_line(struct json_work *k, size_t line_end)
{
	const uint8_t *p = k->p + k->at;
	size_t n = line_end - k->at, blanks = 0;
	struct simd_doc d;
	enum status st = ST_OK;

	while (blanks < n && json_blank(p[blanks]))
		blanks++;
	if (blanks < n && json_is_number(p[blanks])) {
		uint8_t *w = run_room(k->out, MP_INT_MAX);

		w = json_put_number(p + blanks, n - blanks, w);
		if (w)
			run_done(k->out, w, k->first_pos + k->line);
		else
			st = json_refuse(p, n, SIMD_BAD, k->e);
	} else if (blanks < n) {
		st = json_one(k->j, p, n, &d, k->e);
		if (st == ST_OK)
			json_put_doc(k, &d, n);
	}
	json_done_line(k, line_end);
	return st;
}

static size_t
json_line_end(const struct json_work *k, size_t end)
{
	const uint8_t *nl = memchr(k->p + k->at, '\n', end - k->at);

	return nl ? (size_t)(nl - k->p) : end;
}

/* Reads a line of which few fields are wanted and which has nothing special in it. */
static bool
json_skimmed(struct json_work *k, size_t base, size_t line_end, size_t end)
{
	struct simd_marks x;
	uint8_t *w;

	if (!k->fields)
		return false;
	if (k->slash <= k->at) {
		const uint8_t *s = memchr(k->p + k->at, '\\', end - k->at);
		k->slash = s ? (size_t)(s - k->p) : end;
	}
	if (k->slash < line_end)
		return false;
	x = simd_found(k->j->simd);
	w = run_room(k->out, json_skim_room(line_end - k->at));
	if (!json_skim(k->p + base, &x, line_end - base, k->fields, &w))
		return false;
	run_done(k->out, w, k->first_pos + k->line);
	simd_taken(k->j->simd, x.at);
	json_done_line(k, line_end);
	return true;
}

/* Reads lines from k->at, whose structure is known, up to `end`. Ends early, with ST_AGAIN,
 * when a line had to be read by itself. */
static enum status
json_batch(struct json_work *k, size_t end)
{
	struct simd *simd = k->j->simd;
	size_t base = k->at;
	struct simd_doc d;

	while (k->at < end && k->out->n < k->stop) {
		size_t line_end = json_line_end(k, end), where = base + simd_where(simd);

		if (where >= line_end) { /* blank */
			json_done_line(k, line_end);
			continue;
		}
		if (json_is_number(k->p[where])) {
			enum status st = json_line(k, line_end);

			if (st)
				return st;
			simd_pass(simd, k->at - base);
			continue;
		}
		if (json_skimmed(k, base, line_end, end))
			continue;
		/* One document, which ends on this line, with nothing after it. */
		if (simd_next(simd, &d) != SIMD_OK || base + d.last >= line_end
		    || base + d.next < line_end) {
			enum status st = json_line(k, line_end);

			return st ? st : ST_AGAIN;
		}
		json_put_doc(k, &d, line_end - k->at);
		json_done_line(k, line_end);
	}
	return ST_OK;
}

/* The end of the next batch: a line end, not far beyond the elements wanted. */
static size_t
json_batch_end(const struct json_work *k, size_t n)
{
	size_t want = (size_t)(k->stop - k->out->n) * k->j->line_avg;
	const uint8_t *nl;

	want += want / 16 + 256;
	want = want < JSON_BATCH_MIN ? JSON_BATCH_MIN : want > JSON_BATCH_MAX ? JSON_BATCH_MAX : want;
	if (n - k->at <= want)
		return n;
	nl = memrchr(k->p + k->at, '\n', want);
	if (!nl)
		nl = memchr(k->p + k->at + want, '\n', n - k->at - want);
	return nl ? (size_t)(nl - k->p) + 1 : n;
}

static enum status
json_lines_some(struct json_work *k, size_t n)
{
	size_t end = json_batch_end(k, n), from = k->at;
	uint32_t line = k->line;
	enum status st = ST_OK;

	switch (simd_begin(k->j->simd, k->p + from, end - from)) {
	case SIMD_OK:
	case SIMD_END:
		st = json_batch(k, end);
		break;
	default: /* one of the lines spoils the whole batch */
		while (!st && k->at < end && k->out->n < k->stop)
			st = json_line(k, json_line_end(k, end));
	}
	if (k->line > line)
		k->j->line_avg = (k->j->line_avg * 3 + (k->at - from) / (k->line - line) + 3) / 4;
	return st == ST_AGAIN ? ST_OK : st;
}

enum status
json_lines(struct json *j, const uint8_t *p, size_t n, const struct json_fields *fields,
	   uint32_t max, uint32_t first_pos, struct run *out, size_t *used, uint32_t *lines,
	   struct err *e)
{
	struct json_work k = { .j = j, .p = p, .fields = fields, .out = out,
		.stop = max < UINT32_MAX - out->n ? out->n + max : UINT32_MAX,
		.first_pos = first_pos, .e = e };
	enum status st = ST_OK;

	while (!st && k.at < n && out->n < k.stop)
		st = json_lines_some(&k, n);
	*used = k.at < n ? k.at : n; /* the last line may have no line end */
	*lines = k.line;
	return st;
}

enum status
json_document(struct json *j, const uint8_t *p, size_t n, const struct json_fields *fields, uint32_t pos,
	      struct run *out, struct err *e)
{
	struct json_work k = { .j = j, .p = p, .fields = fields, .out = out, .first_pos = pos, .e = e };

	return json_line(&k, n);
}

enum status
json_value(struct json *j, const uint8_t *p, size_t n, struct buf *out, struct err *e)
{
	struct simd_doc d;
	size_t blanks = 0;
	uint8_t *w;

	while (blanks < n && json_blank(p[blanks]))
		blanks++;
	if (blanks < n && json_is_number(p[blanks])) {
		uint8_t *start = buf_room(out, MP_INT_MAX);

		w = json_put_number(p + blanks, n - blanks, start);
		if (!w)
			return json_refuse(p, n, SIMD_BAD, e);
		out->len += (size_t)(w - start);
		return ST_OK;
	}
	buf_reset(&j->pad);
	buf_put(&j->pad, p, n);
	memset(buf_room(&j->pad, simd_padding()), 0, simd_padding());
	enum status st = json_one(j, j->pad.data, n, &d, e);
	if (st == ST_END)
		return err_set(e, ST_DATA, "not JSON: there is nothing");
	if (st)
		return st;
	uint8_t *start = buf_room(out, json_tape_room(&d, n));
	w = json_tape_put(&d, NULL, start);
	out->len += (size_t)(w - start);
	return ST_OK;
}
