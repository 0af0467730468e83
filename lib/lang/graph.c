/* SPDX-License-Identifier: MIT */
#include "lang/graph.h"

#include <string.h>

#include "lang/graph_boxes.h"
#include "value/format/table.h"

/* ---- text ---- */

enum graph_sign { SIGN_DOWN, SIGN_ACROSS, SIGN_NW, SIGN_NE, SIGN_SW, SIGN_SE, SIGN_IN, SIGN_OUT, SIGNS };

struct graph_text {
	const struct graph_boxes *b;
	const char *const *sign;
	struct buf *out;
};

static size_t
graph_width(const char *s)
{
	return table_width((const uint8_t *)s, strlen(s));
}

/* Begins a line in front of `column`: the lines of boxes above `at` that go on past it. */
static void
graph_rails(const struct graph_text *g, size_t at, size_t column)
{
	for (size_t c = 0; c < column; c++) {
		bool rail = false;

		for (size_t i = 0; i < at && c % GRAPH_STEP == GRAPH_RAIL; i++)
			rail |= g->b->v[i].to > at && g->b->v[i].column + GRAPH_RAIL == c;
		buf_str(g->out, rail ? g->sign[SIGN_DOWN] : " ");
	}
}

/* The upper or lower edge of a box: `lines` of lines meet it. */
static void
graph_edge(const struct graph_text *g, size_t at, size_t width, size_t lines, bool upper)
{
	graph_rails(g, at, g->b->v[at].column);
	buf_str(g->out, g->sign[upper ? SIGN_NW : SIGN_SW]);
	for (size_t c = 1; c + 1 < width; c++) {
		bool line = c % GRAPH_STEP == GRAPH_RAIL && c / GRAPH_STEP < lines;

		buf_str(g->out, g->sign[line ? upper ? SIGN_IN : SIGN_OUT : SIGN_ACROSS]);
	}
	buf_str(g->out, g->sign[upper ? SIGN_NE : SIGN_SE]);
	buf_byte(g->out, '\n');
}

static void
graph_text_box(const struct graph_text *g, size_t at)
{
	const struct graph_box *x = &g->b->v[at];
	size_t own = graph_width(x->text), least = x->inputs * GRAPH_STEP;
	size_t inner = own > least ? own : least, width = inner + 4;

	graph_edge(g, at, width, x->inputs, true);
	graph_rails(g, at, x->column);
	buf_printf(g->out, "%s %s", g->sign[SIGN_DOWN], x->text);
	for (size_t k = own; k < inner; k++)
		buf_byte(g->out, ' ');
	buf_printf(g->out, " %s%s\n", g->sign[SIGN_DOWN], x->remote ? "  on workers" : "");
	graph_edge(g, at, width, 1, false);
	graph_rails(g, at, x->column + GRAPH_RAIL);
	buf_printf(g->out, "%s %s\n", g->sign[SIGN_DOWN], x->type);
}

static void
graph_text(const struct graph_boxes *b, bool blocks, struct buf *out)
{
	static const char *const plain[SIGNS] = { "|", "-", "+", "+", "+", "+", "+", "+" };
	static const char *const lines[SIGNS] = { "\xe2\x94\x82", "\xe2\x94\x80", "\xe2\x94\x8c", "\xe2\x94\x90",
						  "\xe2\x94\x94", "\xe2\x94\x98", "\xe2\x94\xb4", "\xe2\x94\xac" };
	struct graph_text g = { b, blocks ? lines : plain, out };

	for (size_t i = 0; i < b->n; i++)
		graph_text_box(&g, i);
}

/* ---- dot ---- */

static void
graph_quoted(const char *s, struct buf *out)
{
	buf_byte(out, '"');
	for (; *s; s++) {
		if (*s == '"' || *s == '\\')
			buf_byte(out, '\\');
		buf_byte(out, (uint8_t)*s);
	}
	buf_byte(out, '"');
}

static void
graph_dot(const struct graph_boxes *b, struct buf *out)
{
	buf_str(out, "digraph pipeline {\n  node [shape=box, fontname=monospace];\n  edge [fontname=monospace];\n");
	for (size_t i = 0; i < b->n; i++) {
		buf_printf(out, "  n%zu [label=", i + 1);
		graph_quoted(b->v[i].text, out);
		buf_str(out, b->v[i].remote ? ", style=filled, fillcolor=lightgrey, tooltip=\"on workers\"];\n" : "];\n");
	}
	for (size_t i = 0; i < b->n; i++) {
		if (b->v[i].to == i)
			continue;
		buf_printf(out, "  n%zu -> n%zu [label=", i + 1, b->v[i].to + 1);
		graph_quoted(b->v[i].type, out);
		buf_str(out, "];\n");
	}
	buf_str(out, "}\n");
}

/* ---- svg ---- */

enum { SVG_CELL = 8, SVG_LINE = 20, SVG_BOX = 32, SVG_ROW = 68, SVG_EDGE = 10 };

static void
graph_escaped(const char *s, struct buf *out)
{
	for (; *s; s++)
		if (*s == '<')
			buf_str(out, "&lt;");
		else if (*s == '&')
			buf_str(out, "&amp;");
		else
			buf_byte(out, (uint8_t)*s);
}

static size_t
graph_svg_width(const struct graph_box *x)
{
	size_t own = graph_width(x->text), least = x->inputs * GRAPH_STEP;

	return ((own > least ? own : least) + 2) * SVG_CELL;
}

static void
graph_svg_box(const struct graph_boxes *b, size_t at, struct buf *out)
{
	const struct graph_box *x = &b->v[at];
	size_t left = SVG_EDGE + x->column * SVG_CELL, top = SVG_EDGE + at * SVG_ROW, rail = left + GRAPH_RAIL * SVG_CELL;
	size_t end = x->to == at ? top + SVG_BOX + SVG_LINE : SVG_EDGE + x->to * SVG_ROW;

	buf_printf(out, "<line x1=\"%zu\" y1=\"%zu\" x2=\"%zu\" y2=\"%zu\"/>\n", rail, top + SVG_BOX, rail, end);
	buf_printf(out, "<rect x=\"%zu\" y=\"%zu\" width=\"%zu\" height=\"%d\" rx=\"4\" fill=\"%s\"/>\n"
		   "<text x=\"%zu\" y=\"%zu\">",
		   left, top, graph_svg_width(x), SVG_BOX, x->remote ? "#dbe9f6" : "#ffffff", left + SVG_CELL,
		   top + SVG_LINE);
	graph_escaped(x->text, out);
	buf_printf(out, "</text>\n<text class=\"type\" x=\"%zu\" y=\"%zu\">", rail + SVG_CELL, top + SVG_BOX + SVG_LINE);
	graph_escaped(x->type, out);
	buf_str(out, x->remote ? ", on workers</text>\n" : "</text>\n");
}

static void
graph_svg(const struct graph_boxes *b, struct buf *out)
{
	size_t width = 0;

	for (size_t i = 0; i < b->n; i++) {
		size_t label = graph_width(b->v[i].type) + GRAPH_RAIL + 16, own = graph_svg_width(&b->v[i]) / SVG_CELL;
		size_t right = b->v[i].column + (label > own ? label : own);

		width = right > width ? right : width;
	}
	buf_printf(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%zu\" height=\"%zu\">\n"
		   "<style>text { font: 13px monospace } .type { fill: #555555 } rect, line { stroke: #333333 }</style>\n",
		   width * SVG_CELL + 2 * SVG_EDGE, b->n * SVG_ROW + SVG_EDGE);
	for (size_t i = 0; i < b->n; i++)
		graph_svg_box(b, i, out);
	buf_str(out, "</svg>\n");
}

enum status
plan_graph(const struct plan *p, enum graph_form form, bool blocks, const struct op_service *service,
	   struct buf *out, struct err *e)
{
	struct graph_boxes b = { 0 };
	enum status st = graph_boxes_of(p, service, &b, e);

	if (!st && form == GRAPH_TEXT)
		graph_text(&b, blocks, out);
	else if (!st && form == GRAPH_DOT)
		graph_dot(&b, out);
	else if (!st)
		graph_svg(&b, out);
	graph_boxes_clear(&b);
	return st;
}
