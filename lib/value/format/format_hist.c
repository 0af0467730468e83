/* SPDX-License-Identifier: MIT
 * hist: numbers counted in up to twenty ranges of a round width, a line of blocks for each.
 * Nulls and numbers without a place, nan and inf, have lines of their own at the end.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "value/format/chart.h"
#include "value/format/format.h"
#include "value/format/format_desc.h"
#include "value/format/ranges.h"
#include "value/mp.h"

enum hist_odd { HIST_NULL, HIST_NAN, HIST_LOW, HIST_HIGH, HIST_ODDS };
enum { HIST_EDGE = 40 };

struct hist {
	struct ranges ranges;
	struct chart chart;
	uint64_t odd[HIST_ODDS];
};

static enum status
hist_elem(void *state, const uint8_t *p, size_t n, struct buf *out, struct err *e)
{
	struct hist *h = state;
	struct mp m;

	(void)out;
	mp_head(p, p + n, &m);
	if (m.kind == MP_NIL) {
		h->odd[HIST_NULL]++;
		return ST_OK;
	}
	if (m.kind != MP_INT && m.kind != MP_FLOAT) {
		err_set(e, ST_DATA, "it is %s, and only numbers have a distribution", format_what(p, n));
		err_help(e, "`map .ms` picks a field; -t bars shows counts of other values after `group_by x`");
		return ST_DATA;
	}
	double x = m.kind == MP_FLOAT ? m.f : m.unsigned_big ? (double)m.u : (double)m.i;
	if (isfinite(x))
		ranges_add(&h->ranges, x);
	else
		h->odd[isnan(x) ? HIST_NAN : x < 0 ? HIST_LOW : HIST_HIGH]++;
	return ST_OK;
}

static void
hist_line(struct hist *h, const char *label, uint64_t count)
{
	struct buf text = { 0 }, figure = { 0 };

	buf_str(&text, label);
	buf_printf(&figure, "%llu", (unsigned long long)count);
	chart_add(&h->chart, &text, true, &figure, (double)count, &(struct err){ 0 });
	buf_clear(&text);
	buf_clear(&figure);
}

static void
hist_range(struct hist *h, struct ranges_width w, int64_t k, int wide, uint64_t count)
{
	char from[HIST_EDGE], to[HIST_EDGE], label[2 * HIST_EDGE + 8];

	ranges_edge(w, k, from, sizeof from);
	ranges_edge(w, k + 1, to, sizeof to);
	if (!h->ranges.fractions && w.unit == 1 && w.power == 0)
		snprintf(label, sizeof label, "%*s", wide, from);
	else
		snprintf(label, sizeof label, "%*s up to %*s", wide, from, wide, to);
	hist_line(h, label, count);
}

static void
hist_rest(void *state, struct buf *out)
{
	static const char *const names[HIST_ODDS] = { "null", "nan", "-inf", "inf" };
	struct hist *h = state;
	uint64_t counts[RANGES_SHOWN];
	struct ranges_width w;
	int64_t first;
	size_t n = ranges_shown(&h->ranges, &w, &first, counts), wide = 0;

	for (size_t k = 0; k <= n && n; k++) {
		char edge[HIST_EDGE];

		ranges_edge(w, first + (int64_t)k, edge, sizeof edge);
		wide = strlen(edge) > wide ? strlen(edge) : wide;
	}
	for (size_t k = 0; k < n; k++)
		hist_range(h, w, first + (int64_t)k, (int)wide, counts[k]);
	for (int k = 0; k < HIST_ODDS; k++)
		if (h->odd[k])
			hist_line(h, names[k], h->odd[k]);
	chart_show(&h->chart, out);
}

static enum status
hist_end(void *state, uint64_t count, struct buf *out, struct err *e)
{
	(void)count;
	(void)e;
	hist_rest(state, out);
	return ST_OK;
}

static void
hist_screen(void *state, size_t columns)
{
	((struct hist *)state)->chart.screen = columns;
}

static enum status
hist_set(void *state, const struct format_opts *o, const struct type *type, struct err *e)
{
	(void)type, (void)e;
	((struct hist *)state)->chart.blocks = o->blocks;
	return ST_OK;
}

static void
hist_clear(void *state)
{
	struct hist *h = state;

	ranges_clear(&h->ranges);
	chart_clear(&h->chart);
}

const struct format_desc format_hist = { .flags = FORMAT_IS_FRAMED, .state_size = sizeof(struct hist),
	.set = hist_set, .elem = hist_elem, .end = hist_end, .rest = hist_rest, .screen = hist_screen,
	.clear = hist_clear };
