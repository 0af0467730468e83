/* SPDX-License-Identifier: MIT
 *
 * Lines of blocks with a label before and a figure behind them, for the formats bars and hist.
 * All rows are held back until the longest is known.
 *
 *	label |bar bar bar| figure
 *
 * Blocks are those of Unicode in eighths of a column, or # where they cannot be shown; negative
 * figures are drawn with a lighter block, or -.
 */
#ifndef FORMAT_CHART_H
#define FORMAT_CHART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

enum { CHART_ROWS = 100000, CHART_BYTES = 64 << 20, CHART_WIDTH = 80 };

struct chart_row {
	size_t at;       /* its label in `texts`, and behind that the figure as text */
	uint32_t label, figure; /* their lengths in bytes */
	double v;        /* nan: no bar */
};

/* Zero is an empty chart. */
struct chart {
	struct chart_row *v;
	size_t n, cap;
	struct buf texts;
	bool blocks;     /* Unicode */
	bool words;      /* a label is no number: labels begin at the left */
	size_t screen;   /* columns; 0: CHART_WIDTH */
};

/* ST_DATA: there are too many rows. */
enum status chart_add(struct chart *c, const struct buf *label, bool word, const struct buf *figure, double v,
		      struct err *e);
/* Appends the lines, and forgets them. */
void chart_show(struct chart *c, struct buf *out);
void chart_clear(struct chart *c);

#endif
