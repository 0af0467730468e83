/* SPDX-License-Identifier: MIT */
#include "host/work/run_stats.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { RUN_STATS_WIDTH = 40, RUN_STATS_NAME = 60 };

static struct run_stats_row *
run_stats_row(struct run_stats *m, const struct op_node *n)
{
	for (size_t i = 0; i < m->n; i++)
		if (m->rows[i].node == n)
			return &m->rows[i];
	m->rows = mem_grow(m->rows, &m->cap, m->n + 1, sizeof *m->rows);
	m->rows[m->n] = (struct run_stats_row){ .node = n };
	return &m->rows[m->n++];
}

/* A prefetch may have a thread that still counts when the pass ends early. */
#define run_stats_load(field) __atomic_load_n(&(field), __ATOMIC_RELAXED)

void
run_stats_add(struct run_stats *m, const struct op_inst *i, const struct op_node *skip)
{
	for (; i; i = i->n_in ? i->in[0] : NULL) {
		int64_t own = (int64_t)run_stats_load(i->stats.ns);
		for (size_t k = 0; k < i->n_in; k++) {
			if (!i->in[k])
				continue;
			own -= (int64_t)run_stats_load(i->in[k]->stats.ns);
			if (k)
				run_stats_add(m, i->in[k], skip);
		}
		if (i->node == skip)
			continue;
		struct run_stats_row *row = run_stats_row(m, i->node);
		row->elements += run_stats_load(i->stats.elements);
		row->failed += run_stats_load(i->stats.failed);
		/* below 0: a thread that runs ahead worked meanwhile */
		row->ns += own > 0 ? own : 0;
	}
}

void
run_stats_join(struct run_stats *m, const struct run_stats *from)
{
	for (size_t i = 0; i < from->n; i++) {
		struct run_stats_row *row = run_stats_row(m, from->rows[i].node);
		row->elements += from->rows[i].elements;
		row->failed += from->rows[i].failed;
		row->ns += from->rows[i].ns;
	}
}

void
run_stats_less(struct run_stats *m, const struct op_node *n, int64_t ns)
{
	struct run_stats_row *row = run_stats_row(m, n);

	row->ns = row->ns > ns ? row->ns - ns : 0;
}

static int
run_stats_order(const void *a, const void *b)
{
	const struct run_stats_row *x = a, *y = b;

	return (x->node->place > y->node->place) - (x->node->place < y->node->place);
}

static size_t
run_stats_width(const char *s)
{
	size_t n = 0;

	for (; *s; s++)
		n += ((unsigned char)*s & 0xc0) != 0x80;
	return n;
}

/* At most RUN_STATS_NAME bytes of an operator's text, and no half character. */
static int
run_stats_cut(const char *s, size_t most)
{
	size_t n = strlen(s);

	if (n <= most)
		return (int)n;
	for (n = most; n && ((unsigned char)s[n] & 0xc0) == 0x80; n--)
		;
	return (int)n;
}

static void
run_stats_line(struct buf *out, unsigned place, const char *name, size_t width, uint64_t elements,
	       int64_t ns, int64_t sum, uint64_t failed)
{
	char number[16] = "  ";
	struct buf text = { 0 };

	if (place) {
		buf_printf(&text, "%2u", place);
		memcpy(number, text.data, text.len < sizeof number ? text.len + 1 : sizeof number - 1);
		buf_reset(&text);
	}
	buf_printf(&text, "%.*s%s", run_stats_cut(name, RUN_STATS_WIDTH), name,
		   strlen(name) > RUN_STATS_WIDTH ? "…" : "");
	buf_printf(out, "  %s %s", number, (char *)text.data);
	for (size_t n = run_stats_width((char *)text.data); n < width; n++)
		buf_byte(out, ' ');
	buf_printf(out, " %12" PRIu64 " %9.3f s  %3.0f %%", elements, (double)ns / 1e9,
		   sum ? 100.0 * (double)ns / (double)sum : 0.0);
	if (failed)
		buf_printf(out, "  %" PRIu64 " failed", failed);
	buf_byte(out, '\n');
	buf_clear(&text);
}

static void
run_stats_sentence(const struct run_stats_row *most, int64_t output_ns, int64_t sum,
		   struct buf *out)
{
	int64_t ns = most && most->ns >= output_ns ? most->ns : output_ns;
	double share = 100.0 * (double)ns / (double)sum;

	if (ns == output_ns && !(most && most->ns == ns)) {
		buf_printf(out, "writing the output takes %.0f %% of the time\n", share);
		return;
	}
	const char *name = op_text(most->node);
	bool cut = strlen(name) > RUN_STATS_NAME;
	buf_printf(out, "operator %u `%.*s%s` takes %.0f %% of the time", most->node->place,
		   run_stats_cut(name, RUN_STATS_NAME), name, cut ? "…" : "", share);
	if (most->node->desc->flags & OP_LOCAL)
		buf_str(out, ": reading it, or waiting for it");
	else if (most->node->desc->flags & (OP_REMOTE | OP_BORDER))
		buf_str(out, ": waiting for the workers");
	else if (most->node->desc->flags & OP_EXEC)
		buf_str(out, ": waiting for the program");
	buf_byte(out, '\n');
}

void
run_stats_print(struct run_stats *m, uint64_t output, int64_t output_ns, struct buf *out)
{
	const struct run_stats_row *most = NULL;
	int64_t sum = output_ns;
	size_t width = 8;

	qsort(m->rows, m->n, sizeof *m->rows, run_stats_order);
	for (size_t i = 0; i < m->n; i++) {
		const struct run_stats_row *r = &m->rows[i];
		size_t n = run_stats_width(op_text(r->node));
		width = n > width ? n : width;
		sum += r->ns;
		if (!most || r->ns > most->ns)
			most = r;
	}
	width = width < RUN_STATS_WIDTH ? width : RUN_STATS_WIDTH + 1;
	buf_printf(out, "     %-*s %12s %11s %6s\n", (int)width, "operator", "elements", "time", "share");
	for (size_t i = 0; i < m->n; i++) {
		const struct run_stats_row *r = &m->rows[i];
		run_stats_line(out, r->node->place, op_text(r->node), width,
			       r->elements, r->ns, sum, r->failed);
	}
	run_stats_line(out, 0, "output", width, output, output_ns, sum, 0);
	if (sum > 0)
		run_stats_sentence(most, output_ns, sum, out);
}

void
run_stats_clear(struct run_stats *m)
{
	mem_free(m->rows);
	*m = (struct run_stats){ 0 };
}
