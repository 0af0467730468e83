/* SPDX-License-Identifier: MIT
 * pretty: columns of equal width, for people. The first rows are held back until their widths
 * are known; later ones that are wider stand out of their column. On a terminal rows are cut
 * to its width. Empty records and lists are left out.
 */
#include <string.h>

#include "value/format/format_desc.h"
#include "value/format/table.h"
#include "value/mp.h"

enum { PRETTY_ROWS = 1000, PRETTY_BYTES = 1 << 20, PRETTY_GAP = 2, PRETTY_LEAST = 4, PRETTY_WIDEST = 200 };
#define PRETTY_MORE "\xe2\x80\xa6" /* a character of one column */

/* Writes a cell in its column; the last one of a row is not filled up. */
static void
pretty_cell(const struct table *t, uint32_t i, const uint8_t *p, size_t n, bool right, struct buf *out)
{
	size_t width = t->column[i].width, own = table_width(p, n);
	bool cut = t->screen && own > width, last = i + 1 == t->n;

	if (i)
		buf_str(out, "  ");
	if (cut) {
		n = table_cut(p, n, width - 1);
		own = table_width(p, n) + 1;
	}
	for (size_t k = own; right && k < width; k++)
		buf_byte(out, ' ');
	buf_put(out, p, n);
	if (cut)
		buf_str(out, PRETTY_MORE);
	for (size_t k = own; !right && !last && k < width; k++)
		buf_byte(out, ' ');
}

static void
pretty_header(struct table *t, struct buf *out)
{
	const uint8_t *p = t->keys.data, *end = buf_end(&t->keys), *next;

	for (uint32_t i = 0; i < t->n && t->records; i++, p = next) {
		next = mp_skip(p, end);
		buf_reset(&t->one);
		table_text((struct table_cell){ p, next }, "-", &t->one);
		pretty_cell(t, i, t->one.data, t->one.len, !t->column[i].text, out);
	}
	if (t->records && t->n)
		buf_byte(out, '\n');
}

/* The width of all columns, none of which is wider than `most`. */
static size_t
pretty_sum(const struct table *t, size_t most)
{
	size_t sum = 0;

	for (uint32_t i = 0; i < t->n; i++)
		sum += t->column[i].width < most ? t->column[i].width : most;
	return sum;
}

/* Takes width from the widest columns until a row fits the screen; narrow ones stay as they are. */
static void
pretty_fit(struct table *t)
{
	size_t gaps = t->n ? (size_t)(t->n - 1) * PRETTY_GAP : 0;
	size_t room = t->screen > gaps ? t->screen - gaps : 0, most = room > PRETTY_LEAST ? room : PRETTY_LEAST;

	while (most > PRETTY_LEAST && pretty_sum(t, most) > room)
		most--;
	for (uint32_t i = 0; i < t->n; i++)
		if (t->column[i].width > most)
			t->column[i].width = (uint32_t)most;
}

/* Writes what was held back. */
static void
pretty_show(struct table *t, struct buf *out)
{
	const uint8_t *p = t->cells.data;

	if (!t->begun)
		return;
	if (!t->shown) {
		if (t->tables)
			buf_byte(out, '\n');
		if (t->screen)
			pretty_fit(t);
		pretty_header(t, out);
	}
	t->shown = true;
	for (; t->rows; t->rows--) {
		for (uint32_t i = 0; i < t->n; i++) {
			size_t n = strlen((const char *)p);

			pretty_cell(t, i, p, n, !t->column[i].text, out);
			p += n + 1;
		}
		buf_byte(out, '\n');
	}
	buf_reset(&t->cells);
}

/* Makes the column as wide as this cell. One very wide cell does not fill up all others: it
 * stands out, as a later one does. */
static void
pretty_widen(struct table *t, uint32_t i, const uint8_t *p, size_t n)
{
	size_t width = table_width(p, n), most = t->screen > PRETTY_WIDEST ? t->screen : PRETTY_WIDEST;

	if (width > most)
		width = most;
	if (width > t->column[i].width)
		t->column[i].width = (uint32_t)width;
}

/* Adds a row to those that are held back. */
static void
pretty_add(struct table *t, struct table_row r)
{
	const uint8_t *key;

	for (uint32_t i = 0; i < t->n; i++) {
		struct table_cell c = table_next(&r, &key);
		size_t at = t->cells.len;
		bool number = table_text(c, "-", &t->cells);

		if (t->cells.len == at)
			buf_str(&t->cells, "\"\"");
		if (!t->shown) {
			t->column[i].text |= !number;
			pretty_widen(t, i, t->cells.data + at, t->cells.len - at);
		}
		buf_byte(&t->cells, '\0');
	}
	t->rows++;
}

/* Columns are as wide as their names at least. */
static void
pretty_begin(struct table *t, const struct table_row *r)
{
	const uint8_t *p, *end, *next;

	table_begin(t, r);
	p = t->keys.data;
	end = buf_end(&t->keys);
	for (uint32_t i = 0; i < t->n && t->records; i++, p = next) {
		next = mp_skip(p, end);
		buf_reset(&t->one);
		table_text((struct table_cell){ p, next }, "-", &t->one);
		pretty_widen(t, i, t->one.data, t->one.len);
	}
}

static enum status
pretty_elem(void *state, const uint8_t *p, size_t n, struct buf *out, struct err *e)
{
	struct table *t = state;
	struct table_row r = table_row(p, n);

	(void)e;
	if (!r.n)
		return ST_OK;
	if (!table_fits(t, &r)) {
		pretty_show(t, out);
		pretty_begin(t, &r);
	}
	pretty_add(t, r);
	if (t->shown || t->rows >= PRETTY_ROWS || t->cells.len >= PRETTY_BYTES)
		pretty_show(t, out);
	return ST_OK;
}

static enum status
pretty_end(void *state, uint64_t count, struct buf *out, struct err *e)
{
	(void)count;
	(void)e;
	pretty_show(state, out);
	return ST_OK;
}

static void
pretty_rest(void *state, struct buf *out)
{
	pretty_show(state, out);
}

static void
pretty_screen(void *state, size_t columns)
{
	((struct table *)state)->screen = columns;
}

const struct format_desc format_pretty = { .flags = FORMAT_IS_FRAMED,
	.state_size = sizeof(struct table), .elem = pretty_elem, .end = pretty_end, .rest = pretty_rest,
	.screen = pretty_screen, .clear = table_clear };
