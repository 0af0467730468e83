/* SPDX-License-Identifier: MIT */
#include "value/format/chart.h"

#include <math.h>

#include "base/mem.h"
#include "value/format/table.h"

enum { CHART_EIGHTHS = 8, CHART_LEAST = 10 };

enum status
chart_add(struct chart *c, const struct buf *label, bool word, const struct buf *figure, double v, struct err *e)
{
	if (c->n == CHART_ROWS || c->texts.len + label->len + figure->len > CHART_BYTES) {
		err_set(e, ST_DATA, "more than %zu bars", c->n);
		err_help(e, "`top 30 .value` or `take 30` in the pipeline picks some of them");
		return ST_DATA;
	}
	c->v = mem_grow(c->v, &c->cap, c->n + 1, sizeof *c->v);
	c->v[c->n++] = (struct chart_row){ c->texts.len, (uint32_t)label->len, (uint32_t)figure->len, v };
	buf_put(&c->texts, label->data, label->len);
	buf_put(&c->texts, figure->data, figure->len);
	c->words |= word;
	return ST_OK;
}

static void
chart_fill(struct buf *out, char c, size_t n)
{
	while (n--)
		buf_byte(out, (uint8_t)c);
}

/* A bar of that many eighths of a column. */
static void
chart_bar(const struct chart *c, size_t eighths, bool negative, struct buf *out)
{
	static const char *const parts[] = { "", "\xe2\x96\x8f", "\xe2\x96\x8e", "\xe2\x96\x8d", "\xe2\x96\x8c",
					     "\xe2\x96\x8b", "\xe2\x96\x8a", "\xe2\x96\x89", "\xe2\x96\x88" };
	size_t whole = eighths / CHART_EIGHTHS, part = eighths % CHART_EIGHTHS;

	if (!c->blocks) {
		chart_fill(out, negative ? '-' : '#', whole + (part >= CHART_EIGHTHS / 2 || (!whole && part)));
		return;
	}
	for (size_t i = 0; i < whole; i++)
		buf_str(out, negative ? "\xe2\x96\x92" : parts[CHART_EIGHTHS]);
	buf_str(out, negative && part ? "\xe2\x96\x92" : parts[part]);
}

/* The widest label, at most a half of the screen, and the widest figure, in columns. */
static void
chart_measure(const struct chart *c, size_t screen, size_t *label, size_t *figure, double *most)
{
	*label = *figure = 0;
	*most = 0;
	for (size_t i = 0; i < c->n; i++) {
		const struct chart_row *r = &c->v[i];
		size_t w = table_width(c->texts.data + r->at, r->label);

		*label = w > *label ? w : *label;
		*figure = r->figure > *figure ? r->figure : *figure;
		if (isfinite(r->v) && fabs(r->v) > *most)
			*most = fabs(r->v);
	}
	if (*label > screen / 2)
		*label = screen / 2;
}

static size_t
chart_eighths(double v, double most, size_t room)
{
	if (isnan(v) || v == 0)
		return 0;
	double share = isinf(v) || most == 0 ? 1 : fabs(v) / most;
	size_t n = (size_t)(share * (double)(room * CHART_EIGHTHS) + 0.5);
	return n ? n : 1;
}

void
chart_show(struct chart *c, struct buf *out)
{
	size_t screen = c->screen ? c->screen : CHART_WIDTH, label, figure;
	double most;

	chart_measure(c, screen, &label, &figure, &most);
	size_t gaps = (label > 0) + 1, room = screen > label + figure + gaps ? screen - label - figure - gaps : 0;
	if (room < CHART_LEAST)
		room = CHART_LEAST;
	for (size_t i = 0; i < c->n; i++) {
		const struct chart_row *r = &c->v[i];
		const uint8_t *text = c->texts.data + r->at;
		size_t n = table_cut(text, r->label, label), width = table_width(text, n);
		size_t eighths = chart_eighths(r->v, most, room);

		if (!c->words)
			chart_fill(out, ' ', label - width);
		buf_put(out, text, n);
		if (c->words)
			chart_fill(out, ' ', label - width);
		if (label)
			buf_byte(out, ' ');
		size_t before = out->len;
		chart_bar(c, eighths, r->v < 0, out);
		if (out->len != before)
			buf_byte(out, ' ');
		buf_put(out, text + r->label, r->figure);
		buf_byte(out, '\n');
	}
	c->n = 0;
	buf_reset(&c->texts);
}

void
chart_clear(struct chart *c)
{
	mem_free(c->v);
	buf_clear(&c->texts);
	*c = (struct chart){ 0 };
}
