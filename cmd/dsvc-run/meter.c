/* SPDX-License-Identifier: MIT */
#include "meter.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { METER_WIDTH = 40, METER_NAME = 60 };

static struct meter_row *
meter_row(struct meter *m, const struct op_node *n)
{
	for (size_t i = 0; i < m->n; i++)
		if (m->rows[i].node == n)
			return &m->rows[i];
	m->rows = mem_grow(m->rows, &m->cap, m->n + 1, sizeof *m->rows);
	m->rows[m->n] = (struct meter_row){ .node = n };
	return &m->rows[m->n++];
}

/* A prefetch may have a thread that still counts when the pass ends early. */
#define meter_load(field) __atomic_load_n(&(field), __ATOMIC_RELAXED)

void
meter_add(struct meter *m, const struct op_inst *i, const struct op_node *skip)
{
	for (; i; i = i->n_in ? i->in[0] : NULL) {
		int64_t own = (int64_t)meter_load(i->stats.ns);
		for (size_t k = 0; k < i->n_in; k++) {
			if (!i->in[k])
				continue;
			own -= (int64_t)meter_load(i->in[k]->stats.ns);
			if (k)
				meter_add(m, i->in[k], skip);
		}
		if (i->node == skip)
			continue;
		struct meter_row *row = meter_row(m, i->node);
		row->elements += meter_load(i->stats.elements);
		row->failed += meter_load(i->stats.failed);
		row->ns += own > 0 ? own : 0; /* what a thread ahead did meanwhile */
	}
}

void
meter_join(struct meter *m, const struct meter *from)
{
	for (size_t i = 0; i < from->n; i++) {
		struct meter_row *row = meter_row(m, from->rows[i].node);
		row->elements += from->rows[i].elements;
		row->failed += from->rows[i].failed;
		row->ns += from->rows[i].ns;
	}
}

void
meter_less(struct meter *m, const struct op_node *n, int64_t ns)
{
	struct meter_row *row = meter_row(m, n);

	row->ns = row->ns > ns ? row->ns - ns : 0;
}

static int
meter_order(const void *a, const void *b)
{
	const struct meter_row *x = a, *y = b;

	return (x->node->place > y->node->place) - (x->node->place < y->node->place);
}

static size_t
meter_width(const char *s)
{
	size_t n = 0;

	for (; *s; s++)
		n += ((unsigned char)*s & 0xc0) != 0x80;
	return n;
}

/* At most METER_NAME bytes of an operator's text, and no half character. */
static int
meter_cut(const char *s, size_t most)
{
	size_t n = strlen(s);

	if (n <= most)
		return (int)n;
	for (n = most; n && ((unsigned char)s[n] & 0xc0) == 0x80; n--)
		;
	return (int)n;
}

static void
meter_line(struct buf *out, unsigned place, const char *name, size_t width, uint64_t elements,
	   int64_t ns, int64_t sum, uint64_t failed)
{
	char number[16] = "  ";
	struct buf text = { 0 };

	if (place) {
		buf_printf(&text, "%2u", place);
		memcpy(number, text.data, text.len < sizeof number ? text.len + 1 : sizeof number - 1);
		buf_reset(&text);
	}
	buf_printf(&text, "%.*s%s", meter_cut(name, METER_WIDTH), name,
		   strlen(name) > METER_WIDTH ? "…" : "");
	buf_printf(out, "  %s %s", number, (char *)text.data);
	for (size_t n = meter_width((char *)text.data); n < width; n++)
		buf_byte(out, ' ');
	buf_printf(out, " %12" PRIu64 " %9.3f s  %3.0f %%", elements, (double)ns / 1e9,
		   sum ? 100.0 * (double)ns / (double)sum : 0.0);
	if (failed)
		buf_printf(out, "  %" PRIu64 " failed", failed);
	buf_byte(out, '\n');
	buf_clear(&text);
}

static void
meter_sentence(const struct meter_row *most, int64_t output_ns, int64_t sum, struct buf *out)
{
	int64_t ns = most && most->ns >= output_ns ? most->ns : output_ns;
	double share = 100.0 * (double)ns / (double)sum;

	if (ns == output_ns && !(most && most->ns == ns)) {
		buf_printf(out, "writing the output takes %.0f %% of the time\n", share);
		return;
	}
	const char *name = most->node->text ? most->node->text : most->node->desc->name;
	bool cut = strlen(name) > METER_NAME;
	buf_printf(out, "operator %u `%.*s%s` takes %.0f %% of the time", most->node->place,
		   meter_cut(name, METER_NAME), name, cut ? "…" : "", share);
	if (most->node->desc->flags & OP_LOCAL)
		buf_str(out, ": reading it, or waiting for it");
	else if (most->node->desc->flags & (OP_REMOTE | OP_BORDER))
		buf_str(out, ": waiting for the workers");
	else if (most->node->desc->flags & OP_EXEC)
		buf_str(out, ": waiting for the program");
	buf_byte(out, '\n');
}

void
meter_print(struct meter *m, uint64_t output, int64_t output_ns, struct buf *out)
{
	const struct meter_row *most = NULL;
	int64_t sum = output_ns;
	size_t width = 8;

	qsort(m->rows, m->n, sizeof *m->rows, meter_order);
	for (size_t i = 0; i < m->n; i++) {
		const struct meter_row *r = &m->rows[i];
		size_t n = meter_width(r->node->text ? r->node->text : r->node->desc->name);
		width = n > width ? n : width;
		sum += r->ns;
		if (!most || r->ns > most->ns)
			most = r;
	}
	width = width < METER_WIDTH ? width : METER_WIDTH + 1;
	buf_printf(out, "     %-*s %12s %11s %6s\n", (int)width, "operator", "elements", "time", "share");
	for (size_t i = 0; i < m->n; i++) {
		const struct meter_row *r = &m->rows[i];
		meter_line(out, r->node->place, r->node->text ? r->node->text : r->node->desc->name, width,
			   r->elements, r->ns, sum, r->failed);
	}
	meter_line(out, 0, "output", width, output, output_ns, sum, 0);
	if (sum > 0)
		meter_sentence(most, output_ns, sum, out);
}

void
meter_clear(struct meter *m)
{
	mem_free(m->rows);
	*m = (struct meter){ 0 };
}
