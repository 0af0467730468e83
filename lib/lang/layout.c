/* SPDX-License-Identifier: MIT */
#include "lang/layout.h"

#include <ctype.h>
#include <string.h>

#include "base/mem.h"
#include "lang/tree.h"

enum { LAYOUT_TRIES = 256 /* how many $name are tried, each with another reading of the text */ };

struct layout {
	const char *s;        /* the text */
	size_t len;
	const struct tree *tree;
	bool tidy;            /* collapse blanks inside operators, too */
	struct buf *out;
};

struct layout_comment {
	size_t at, end;
	unsigned newlines;    /* line ends since the previous piece of text */
};

/* Finds the next comment in [*at, end), which holds only blanks, marks and comments, and how
 * many lines ended before it; false: there is none, and *newlines counts all of them. */
static bool
layout_comment(const struct layout *l, size_t *at, size_t end, struct layout_comment *c)
{
	c->newlines = 0;
	for (; *at < end; ++*at) {
		if (l->s[*at] == '\n') {
			c->newlines++;
		} else if (l->s[*at] == '#') {
			const char *nl = memchr(l->s + *at, '\n', end - *at);
			c->at = *at;
			*at = c->end = nl ? (size_t)(nl - l->s) : end;
			while (c->end > c->at && l->s[c->end - 1] == '\r')
				c->end--;
			return true;
		}
	}
	return false;
}

static void
layout_put_comment(struct layout *l, const struct layout_comment *c)
{
	buf_put(l->out, l->s + c->at, c->end - c->at);
}

/* Writes part of a statement: runs of blanks outside quotes and patterns become one. Blanks at
 * the start of a line inside brackets stay as they are. */
static void
layout_piece(struct layout *l, size_t at, size_t end)
{
	char quote = 0, before = 'x'; /* the last character that is not a blank */
	bool start = false; /* at the start of a line */

	for (size_t i = at; i < end; i++) {
		char c = l->s[i];
		bool blank = c == ' ' || c == '\t' || c == '\r';
		if (quote) {
			if (c == '\\' && quote != '\'' && i + 1 < end)
				buf_byte(l->out, (uint8_t)l->s[i++]);
			else if (c == quote)
				quote = 0;
		} else if (l->tidy && c == '#' && i > at && isspace((unsigned char)l->s[i - 1])) {
			for (; i < end && l->s[i] != '\n'; i++)
				buf_byte(l->out, (uint8_t)l->s[i]);
			i--;
			continue;
		} else if (c == '\\' && i + 1 < end && l->s[i + 1] != '\n') {
			buf_byte(l->out, (uint8_t)c);
			c = l->s[++i]; /* stands for itself, even a blank or a quote */
			blank = false;
		} else if (c == '\'' || c == '"' || (c == '/' && strchr("~(,", before))) {
			quote = c;
		} else if (l->tidy && blank && !start) {
			while (i + 1 < end && strchr(" \t\r", l->s[i + 1]))
				i++;
			if (i + 1 < end && l->s[i + 1] != '\n')
				buf_byte(l->out, ' ');
			continue;
		}
		start = c == '\n' || (start && blank);
		if (!blank && c != '\n')
			before = c;
		buf_byte(l->out, (uint8_t)l->s[i]);
	}
}

static size_t
layout_stage_end(const struct tree_pipe *p, size_t i)
{
	return p->stages[i]->at + p->stages[i]->len;
}

/* Whether anything but marks and blanks of one line lies between the stages, so that the
 * pipeline is written on several lines. */
static bool
layout_is_long(const struct layout *l, const struct tree_part *part)
{
	const struct tree_pipe *p = part->pipe;
	size_t end = layout_stage_end(p, p->n - 1);

	return memchr(l->s + part->at, '\n', end - part->at) != NULL;
}

/* Writes the head of a let and its operators on one line. */
static void
layout_one_line(struct layout *l, const struct tree_pipe *p, const char *head)
{
	if (head)
		buf_printf(l->out, "let %s = ", head);
	for (size_t i = 0; i < p->n; i++) {
		if (i || p->fragment)
			buf_str(l->out, i ? " | " : "| ");
		layout_piece(l, p->stages[i]->at, layout_stage_end(p, i));
	}
}

/* Writes the comments between two operators: the first may stay on the line of the one before. */
static void
layout_between(struct layout *l, size_t at, size_t end)
{
	const char *bar = memchr(l->s + at, '|', end - at);
	struct layout_comment c;

	while (layout_comment(l, &at, end, &c)) {
		bool behind = !c.newlines && (!bar || bar > l->s + c.at);
		buf_str(l->out, behind ? "  " : "\n  ");
		layout_put_comment(l, &c);
	}
}

static void
layout_lines(struct layout *l, const struct tree_part *part, const char *head)
{
	const struct tree_pipe *p = part->pipe;
	size_t at = part->at;
	struct layout_comment c;

	if (head && p->fragment)
		buf_printf(l->out, "let %s =", head);
	/* Comments before the first operator: if a let has a source of its own, they go before
	 * the let. */
	while (layout_comment(l, &at, p->stages[0]->at, &c)) {
		buf_str(l->out, p->fragment ? "\n  " : "");
		layout_put_comment(l, &c);
		buf_str(l->out, p->fragment ? "" : "\n");
	}
	if (head && !p->fragment)
		buf_printf(l->out, "let %s = ", head);
	for (size_t i = 0; i < p->n; i++) {
		if (i)
			layout_between(l, layout_stage_end(p, i - 1), p->stages[i]->at);
		if (i || p->fragment)
			buf_str(l->out, "\n  | ");
		layout_piece(l, p->stages[i]->at, layout_stage_end(p, i));
	}
}

static void
layout_pipe(struct layout *l, const struct tree_part *part)
{
	const struct tree_pipe *p = part->pipe;
	size_t from = l->out->len;
	char *head = NULL;

	if (part->pipe != l->tree->result) {
		size_t at = part->at + 3, n = 0; /* let NAME */
		while (isspace((unsigned char)l->s[at]))
			at++;
		while (isalnum((unsigned char)l->s[at + n]) || l->s[at + n] == '_')
			n++;
		head = mem_strndup(l->s + at, n);
	}
	bool lines = layout_is_long(l, part);
	if (!lines) {
		layout_one_line(l, p, head);
		size_t width = 0;
		for (size_t i = from; i < l->out->len; i++)
			width += (l->out->data[i] & 0xc0) != 0x80;
		lines = width > LAYOUT_WIDTH && p->n > 1;
		if (lines)
			l->out->len = from;
	}
	if (lines)
		layout_lines(l, part, head);
	mem_free(head);
}

/* Writes param NAME: TYPE = VALUE. */
static void
layout_param(struct layout *l, const struct tree_part *part)
{
	size_t at = part->at, n;

	for (n = 0; at + n < part->end && l->s[at + n] != ':' && l->s[at + n] != '='; n++)
		;
	while (n && isspace((unsigned char)l->s[at + n - 1]))
		n--;
	layout_piece(l, at, at + n);
	for (at += n; at < part->end && isspace((unsigned char)l->s[at]); at++)
		;
	if (at < part->end && l->s[at] == ':') {
		buf_str(l->out, ": ");
		for (at++; at < part->end && isspace((unsigned char)l->s[at]); at++)
			;
		for (n = 0; at + n < part->end && l->s[at + n] != '='; n++)
			;
		size_t next = at + n;
		while (n && isspace((unsigned char)l->s[at + n - 1]))
			n--;
		layout_piece(l, at, at + n);
		at = next;
	}
	if (at < part->end && l->s[at] == '=') {
		buf_str(l->out, " = ");
		for (at++; at < part->end && isspace((unsigned char)l->s[at]); at++)
			;
		layout_piece(l, at, part->end);
	}
}

static size_t
layout_part_end(const struct tree_part *part)
{
	return part->pipe ? layout_stage_end(part->pipe, part->pipe->n - 1) : part->end;
}

/* Writes what is between two statements: comments, empty lines. */
static void
layout_gap(struct layout *l, size_t at, size_t end)
{
	bool begin = at == 0, last = end == l->len;
	struct layout_comment c;

	while (layout_comment(l, &at, end, &c)) {
		if (!begin)
			buf_str(l->out, !c.newlines ? "  " : c.newlines > 1 ? "\n\n" : "\n");
		layout_put_comment(l, &c);
		begin = false;
	}
	if (last && l->out->len)
		buf_byte(l->out, '\n');
	else if (!begin)
		buf_str(l->out, c.newlines > 1 ? "\n\n" : "\n");
}

static void
layout_all(const struct tree *t, bool tidy, struct buf *out)
{
	struct layout l = { .s = t->texts->data, .len = t->texts->len, .tree = t, .tidy = tidy,
			    .out = out };
	size_t at = 0;

	for (size_t i = 0; i < t->n_parts; i++) {
		const struct tree_part *part = &t->parts[i];
		layout_gap(&l, at, part->at);
		at = layout_part_end(part);
		if (part->pipe)
			layout_pipe(&l, part);
		else if (tidy && !strncmp(l.s + part->at, "param", 5))
			layout_param(&l, part);
		else
			layout_piece(&l, part->at, part->end);
	}
	layout_gap(&l, at, l.len);
}

/* The meaning of a spec as text: the tree, and the values of parameters. */
static void
layout_meaning(const struct tree *t, struct buf *out)
{
	tree_print(t, out);
	for (size_t i = 0; i < t->settings.names.n; i++) {
		const struct setting *s = t->settings.names.items[i].value;
		buf_printf(out, "param %s %zu ", s->name, s->value.len);
		if (s->value.len)
			buf_put(out, s->value.data, s->value.len);
	}
}

static bool
layout_same(const struct spec_src *like, const struct buf *text, const struct buf *meaning)
{
	struct spec_src src = *like;
	struct tree *t;
	struct buf m = { 0 };

	src.text = text->data ? (char *)text->data : "";
	src.len = text->len;
	bool same = !tree_make(&src, NULL, &t, NULL);
	if (same) {
		layout_meaning(t, &m);
		same = m.len == meaning->len && !memcmp(m.data, meaning->data, m.len);
	}
	tree_free(&t);
	buf_clear(&m);
	return same;
}

/* Changes $name to @name outside comments, where that means the same. */
static void
layout_dollars(const struct spec_src *like, const struct tree *t, const struct buf *meaning,
	       struct buf *text)
{
	unsigned tries = 0;

	for (size_t i = 0; i < t->n_parts; i++) {
		size_t end = layout_part_end(&t->parts[i]);
		for (size_t at = t->parts[i].at; at < end && tries < LAYOUT_TRIES; at++) {
			uint8_t *s = text->data + at, next = at + 1 < end ? s[1] : 0;
			if (*s == '#' && at && isspace(s[-1]))
				while (at < end && text->data[at] != '\n')
					at++;
			if (*s != '$' || !(isalpha(next) || next == '_' || next == '{'))
				continue;
			tries++;
			*s = '@';
			if (!layout_same(like, text, meaning))
				*s = '$';
		}
	}
}

/* The folder that names in the spec are relative to, for reading it again; gives. */
static char *
layout_dir(const struct spec_src *src, const struct tree *t)
{
	return mem_strdup(src->base_dir ? src->base_dir : t->texts->dir);
}

enum status
spec_layout(const struct spec_src *src, struct buf *before, struct buf *out, struct err *e)
{
	struct tree *t, *again = NULL;
	struct buf meaning = { 0 }, text = { 0 }, done = { 0 };
	enum status st = tree_make(src, NULL, &t, e);

	if (st)
		return st;
	char *dir = layout_dir(src, t), *file = mem_strdup(t->texts->file);
	struct spec_src like = { .file = file, .base_dir = dir, .sets = src->sets, .with = src->with,
				 .dirs = src->dirs, .flags = src->flags, .service = src->service,
				 .known = t->texts->next };
	buf_put(&text, t->texts->data, t->texts->len);
	if (before)
		buf_put(before, text.data, text.len);
	layout_meaning(t, &meaning);
	layout_dollars(&like, t, &meaning, &text);
	like.text = (char *)text.data;
	like.len = text.len;
	st = tree_make(&like, NULL, &again, e);
	for (int tidy = 1; !st && tidy >= 0; tidy--) {
		buf_reset(&done);
		layout_all(again, tidy, &done);
		if (layout_same(&like, &done, &meaning))
			break;
		if (!tidy && done.len > SPEC_BYTES)
			st = err_set(e, ST_DATA, "%s: in this layout the spec would be longer than %d bytes",
				     file, SPEC_BYTES);
		else if (!tidy)
			st = err_set(e, ST_BUG, "%s: in this layout it would mean something else", file);
	}
	if (!st)
		buf_put(out, done.data, done.len);
	tree_free(&again);
	tree_free(&t);
	buf_clear(&meaning);
	buf_clear(&text);
	buf_clear(&done);
	mem_free(dir);
	mem_free(file);
	return st;
}
