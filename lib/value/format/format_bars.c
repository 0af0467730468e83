/* SPDX-License-Identifier: MIT
 * bars: a line of blocks for each element, as long as its number. In a record or a list
 * that is the first number behind the first field, which is the label; so what group_by
 * gives can be shown as it is. A bare number has no label.
 */
#include <math.h>

#include "value/format/chart.h"
#include "value/format/format.h"
#include "value/format/format_desc.h"
#include "value/format/table.h"
#include "value/mp.h"

struct bars {
	struct chart chart;
	struct buf label, figure;
};

/* Whether the cell is a number or null; *v is nan for null. */
static bool
bars_number(struct table_cell c, double *v)
{
	struct mp m;

	mp_head(c.p, c.end, &m);
	*v = m.kind == MP_FLOAT ? m.f : m.kind != MP_INT ? NAN : m.unsigned_big ? (double)m.u : (double)m.i;
	return m.kind == MP_INT || m.kind == MP_FLOAT || m.kind == MP_NIL;
}

static enum status
bars_elem(void *state, const uint8_t *p, size_t n, struct buf *out, struct err *e)
{
	struct bars *b = state;
	struct table_row r = table_row(p, n);
	struct table_cell c = { p, p + n }, label = { 0 };
	const uint8_t *key;
	bool found = r.bare && bars_number(c, &(double){ 0 }), word = false;
	double v = NAN;

	(void)out;
	buf_reset(&b->label);
	buf_reset(&b->figure);
	for (uint32_t i = 0; i < r.n && !r.bare && !found; i++) {
		c = table_next(&r, &key);
		if (i == 0 && r.n > 1)
			label = c;
		else
			found = bars_number(c, &v);
	}
	if (!found) {
		err_set(e, ST_DATA, "it is %s without a number, which a bar could show", format_what(p, n));
		err_help(e, "`group_by x` counts equal elements, `select` picks fields");
		return ST_DATA;
	}
	bars_number(c, &v);
	table_text(c, "-", &b->figure);
	if (label.p)
		word = !table_text(label, "null", &b->label);
	return chart_add(&b->chart, &b->label, word, &b->figure, v, e);
}

static void
bars_rest(void *state, struct buf *out)
{
	struct bars *b = state;

	chart_show(&b->chart, out);
}

static enum status
bars_end(void *state, uint64_t count, struct buf *out, struct err *e)
{
	(void)count;
	(void)e;
	bars_rest(state, out);
	return ST_OK;
}

static void
bars_screen(void *state, size_t columns)
{
	((struct bars *)state)->chart.screen = columns;
}

static enum status
bars_set(void *state, const struct format_opts *o, const struct type *type, struct err *e)
{
	(void)type, (void)e;
	((struct bars *)state)->chart.blocks = o->blocks;
	return ST_OK;
}

static void
bars_clear(void *state)
{
	struct bars *b = state;

	chart_clear(&b->chart);
	buf_clear(&b->label);
	buf_clear(&b->figure);
}

const struct format_desc format_bars = { .flags = FORMAT_IS_FRAMED, .state_size = sizeof(struct bars),
	.set = bars_set, .elem = bars_elem, .end = bars_end, .rest = bars_rest, .screen = bars_screen,
	.clear = bars_clear };
