/* SPDX-License-Identifier: MIT */
#include "op/file/file_json.h"

#include <string.h>

#include "value/json/json.h"

static bool
json_blank(uint8_t c)
{
	return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

static uint32_t
json_newlines(const uint8_t *p, size_t n)
{
	const uint8_t *end = p + n;
	uint32_t lines = 0;

	for (; (p = memchr(p, '\n', (size_t)(end - p))); p++)
		lines++;
	return lines;
}

/* Passes over the rest of a text; gives where it goes on. */
static size_t
json_in_text(struct file_json *j, const uint8_t *p, size_t i, size_t n)
{
	if (j->escaped && i < n) {
		j->escaped = false;
		i++;
	}
	for (; i < n; i++) {
		if (p[i] == '"') {
			j->text = false;
			return i + 1;
		}
		if (p[i] != '\\')
			continue;
		if (++i == n)
			j->escaped = true;
	}
	return n;
}

/* Looks for the end of the value at p from i on. True: it is at *end; else it is not in n bytes. */
static bool
json_end(struct file_json *j, const uint8_t *p, size_t i, size_t n, bool eof, size_t *end)
{
	bool word = !j->depth && !j->text && j->inside;

	if (!j->inside) {
		*j = (struct file_json){ .src = j->src, .arrays = j->arrays, .place = j->place, .inside = true };
		j->text = *p == '"';
		j->depth = *p == '{' || *p == '[';
		word = !j->text && !j->depth;
		i = 1;
	}
	while (i < n && !word) {
		if (j->text)
			i = json_in_text(j, p, i, n);
		else if (p[i] == '"')
			j->text = true, i++;
		else if (p[i] == '{' || p[i] == '[')
			j->depth++, i++;
		else if (p[i] == '}' || p[i] == ']')
			j->depth--, i++;
		else
			i++;
		if (!j->text && !j->depth) {
			*end = i;
			return true;
		}
	}
	if (!word)
		return false;
	while (i < n && !json_blank(p[i]) && !memchr(",:[]{}\"", p[i], 7))
		i++;
	*end = i;
	return i < n || eof;
}

/* Whether the byte is a mark between values, and where it leads to. */
static bool
json_mark(struct file_json *j, uint8_t c)
{
	if (c == '[' && j->place == JSON_OUTSIDE && j->arrays == FILE_JSON_ITEMS)
		j->place = JSON_BEGUN;
	else if (c == ']' && (j->place == JSON_BEGUN || j->place == JSON_ITEM))
		j->place = JSON_OUTSIDE;
	else if (c == ',' && j->place == JSON_ITEM)
		j->place = JSON_COMMA;
	else
		return false;
	return true;
}

/* Passes over a value, whether it was given or not. */
static void
json_past(struct file_json *j)
{
	j->inside = j->drops = false;
	if (j->place != JSON_OUTSIDE)
		j->place = JSON_ITEM;
}

/* Bytes that are no value: what follows in this file cannot be read. */
static enum status
json_lost(struct op_inst *self, struct file_json *j, struct err *e)
{
	struct file_source *s = &j->src;
	uint8_t c = s->window->data[s->from];

	if (j->inside)
		err_set(e, ST_DATA, "the file ends within a value");
	else
		err_set(e, ST_DATA, c > ' ' && c < 0x7f ? "not JSON: '%c', where %s" : "not JSON: byte %#x, where %s", c,
			j->place == JSON_ITEM ? "a comma or the end of the array is due" : "a value is due");
	enum status st = file_source_bad(self, s, e);
	if (st == ST_OK) {
		file_source_take(s, s->to - s->from, 0);
		s->eof = true;
		j->place = JSON_OUTSIDE;
		j->inside = j->drops = false;
	}
	return st;
}

/* The value that begins at the first unread byte is `n` bytes. Gives it, or drops it. */
static enum status
json_give(struct op_inst *self, struct file_json *j, size_t n, uint32_t pos, struct run *out, struct err *e)
{
	struct file_source *s = &j->src;
	const uint8_t *p = s->window->data + s->from;
	enum status st = ST_OK;

	if (!j->drops) {
		st = json_document(file_json_parser(), p, n, self->node->project, pos, out, e);
		if (st == ST_DATA && out->n) {
			/* those before it are given first; it comes again */
			j->inside = false;
			s->searched = 0;
			return ST_AGAIN;
		}
		if (st == ST_DATA)
			st = file_source_bad(self, s, e);
		if (st != ST_OK)
			return st;
	}
	file_source_take(s, n, json_newlines(p, n));
	json_past(j);
	return ST_OK;
}

/* The value is not complete. */
static enum status
json_part(struct op_inst *self, struct file_json *j, struct run *out, struct err *e)
{
	struct file_source *s = &j->src;
	const uint8_t *p = s->window->data + s->from;
	size_t n = s->to - s->from;

	if (out->n) {
		s->searched = n;
		return ST_OK;
	}
	if (s->eof)
		return json_lost(self, j, e);
	if (n > file_source_element_max(self) && !j->drops) {
		enum status st = file_source_too_large(self, s, "value", e);

		if (st != ST_OK)
			return st;
		j->drops = true;
	}
	if (j->drops)
		file_source_take(s, n, json_newlines(p, n));
	else
		s->searched = n;
	return ST_END;
}

enum status
file_json(struct op_inst *self, struct file_source *s, struct run *out, struct err *e)
{
	struct file_json *j = self->state;
	uint64_t line = s->line;
	size_t taken = 0, n, i;

	while (s->from < s->to && out->n < RUN_USUAL && taken < RUN_BYTES) {
		const uint8_t *p = s->window->data + s->from;

		n = s->to - s->from;
		for (i = 0; !j->inside && i < n && (json_blank(p[i]) || json_mark(j, p[i])); i++)
			;
		if (i) {
			file_source_take(s, i, json_newlines(p, i));
			taken += i;
			continue;
		}
		if (!j->inside && (j->place == JSON_ITEM || memchr(",:]}", *p, 4)))
			return out->n ? ST_OK : json_lost(self, j, e);
		if (!json_end(j, p, s->searched, n, s->eof, &i))
			return json_part(self, j, out, e);
		enum status st = json_give(self, j, i, (uint32_t)(s->line - line), out, e);
		if (st != ST_OK)
			return st == ST_AGAIN ? ST_OK : st;
		taken += i;
	}
	return out->n || taken ? ST_OK : ST_END;
}

static enum status
json_begin(struct op_inst *self, struct file_source *s, const char *path, bool inside, struct err *e)
{
	struct file_json *j = self->state;

	(void)s, (void)path, (void)e;
	j->inside = j->drops = false;
	if (!inside)
		j->place = JSON_OUTSIDE;
	return ST_OK;
}

static enum status
json_finish(struct op_inst *self, struct file_source *s, struct err *e)
{
	struct file_json *j = self->state;

	(void)s;
	if (j->place == JSON_OUTSIDE && !j->inside)
		return ST_OK;
	return err_set(e, ST_DATA, "the file ends within %s", j->inside ? "a value" : "an array");
}

enum status
file_json_open(struct op_inst *self, struct err *e)
{
	struct file_json *j = self->state;

	j->src.text = true;
	j->src.delim = '\n';
	j->src.pad = json_padding();
	j->src.begin = json_begin;
	j->src.finish = json_finish;
	return file_source_open(self, e);
}

void
file_json_save(struct op_inst *self, struct buf *out)
{
	const struct file_json *j = self->state;

	buf_byte(out, (uint8_t)j->place);
	file_source_save(self, out);
}

enum status
file_json_restore(struct op_inst *self, const uint8_t *p, size_t n, struct err *e)
{
	struct file_json *j = self->state;

	if (!n || *p > JSON_COMMA)
		return err_set(e, ST_DATA, "%s: malformed position", self->desc->name);
	j->place = *p;
	return file_source_restore(self, p + 1, n - 1, e);
}
