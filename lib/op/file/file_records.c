/* SPDX-License-Identifier: MIT */
#include "op/file/file_records.h"

#include <string.h>

#include "value/mp.h"

struct records_part {
	size_t begin, end; /* the text, from the start of the unread bytes */
	size_t next;       /* behind its separator */
	bool found;        /* else: begin is where it begins, and `next` where to look on */
};

static uint32_t
records_lines(const uint8_t *p, size_t n)
{
	const uint8_t *end = p + n;
	uint32_t lines = 0;

	for (; (p = memchr(p, '\n', (size_t)(end - p))); p++)
		lines++;
	return lines;
}

/* Looks for the text that begins at p, where bytes up to `from` were examined. */
static struct records_part
records_separated(const struct buf *separator, const uint8_t *p, size_t n, size_t from, bool eof)
{
	const uint8_t *stop = memmem(p + from, n - from, separator->data, separator->len);
	struct records_part part = { 0 };

	if (stop || (eof && n)) {
		part.found = true;
		part.end = stop ? (size_t)(stop - p) : n;
		part.next = stop ? part.end + separator->len : n;
	} else {
		part.next = n < separator->len ? 0 : n - separator->len + 1;
	}
	return part;
}

/* Looks for a text that ends at an empty line; those before it are passed over. */
static struct records_part
records_paragraph(const uint8_t *p, size_t n, size_t from, bool eof)
{
	struct records_part part = { 0 };
	size_t at = from;

	for (;;) {
		const uint8_t *stop = at < n ? memchr(p + at, '\n', n - at) : NULL;
		size_t end = stop ? (size_t)(stop - p) : n;
		bool empty = end == at || (end == at + 1 && p[at] == '\r');

		if (!stop && !eof)
			break;
		if (empty && at > part.begin) {
			part.end = at - 1;
			part.next = stop ? end + 1 : n;
			part.found = true;
			return part;
		}
		if (!stop) {
			part.end = part.next = n;
			part.found = !empty;
			part.begin = empty ? n : part.begin;
			return part;
		}
		at = end + 1;
		if (empty)
			part.begin = at;
	}
	part.next = at;
	return part;
}

/* How much of the rest of a paragraph can be passed over. */
static size_t
records_drop_paragraph(struct file_records *r, const uint8_t *p, size_t n)
{
	const uint8_t *end = p + n, *at = p, *stop;

	for (; (stop = memchr(at, '\n', (size_t)(end - at))); at = stop + 1) {
		bool empty = stop == at || (stop == at + 1 && *at == '\r');

		if (empty && !r->inside) {
			r->drops = false;
			return (size_t)(stop + 1 - p);
		}
		r->inside = false;
	}
	if (end - at == 1 && *at == '\r' && !r->inside)
		return n - 1;
	r->inside |= end > at;
	return n;
}

/* Passes over the rest of a text that is too long. */
static enum status
records_drop(struct file_records *r, const uint8_t *p, size_t n)
{
	size_t used = n;

	if (!r->separator.len) {
		used = records_drop_paragraph(r, p, n);
	} else {
		struct records_part part = records_separated(&r->separator, p, n, 0, false);

		r->drops = !part.found;
		used = part.next;
	}
	if (r->src.eof) {
		used = r->drops ? n : used;
		r->drops = false;
	}
	file_source_take(&r->src, used, records_lines(p, used));
	return used ? ST_OK : ST_END;
}

enum status
file_records(struct op_inst *self, struct file_source *s, struct run *out, struct err *e)
{
	struct file_records *r = self->state;
	const uint8_t *start = s->window->data + s->from, *end = s->window->data + s->to, *p = start;
	size_t max = file_source_element_max(self), text_max = max > MP_HEAD_MAX ? max - MP_HEAD_MAX : 0;
	size_t from = s->searched;
	uint32_t lines = 0;
	struct records_part part = { .found = true };

	if (r->drops)
		return records_drop(r, start, (size_t)(end - start));

	while (p < end && out->n < RUN_USUAL && (size_t)(p - start) < RUN_BYTES) {
		size_t n = (size_t)(end - p);

		part = r->separator.len ? records_separated(&r->separator, p, n, from, s->eof)
					: records_paragraph(p, n, from, s->eof);
		from = 0;
		lines += records_lines(p, part.begin);
		p += part.begin;
		part.end -= part.found ? part.begin : 0;
		part.next -= part.begin;
		if (!part.found || part.end > text_max)
			break;
		uint32_t len = (uint32_t)part.end;
		run_done(out, mp_put_text(run_room(out, MP_HEAD_MAX + len), p, len), lines);
		lines += records_lines(p, part.next);
		p += part.next;
	}
	if (p > start)
		file_source_take(s, (size_t)(p - start), lines);
	if (out->n)
		return ST_OK;
	bool too_long = part.found ? part.end > text_max : (size_t)(end - p) > max;
	if (!too_long) {
		s->searched = part.found ? 0 : part.next;
		return p > start ? ST_OK : ST_END;
	}
	enum status st = file_source_too_large(self, s, "record", e);
	r->drops = st == ST_OK;
	r->inside = false;
	return st;
}
