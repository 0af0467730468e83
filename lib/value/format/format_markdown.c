/* SPDX-License-Identifier: MIT
 * markdown: tables as GitHub's dialect has them. Columns whose first cell is a number are set
 * to the right; the columns of lists, which have no names, are counted from 0. Empty records and lists are left out.
 */
#include "value/format/format_desc.h"
#include "value/format/table.h"
#include "value/mp.h"

/* Appends a text without signs that would end its cell or be taken for markup of the table. */
static void
markdown_text(struct table *t, struct table_cell c, struct buf *out)
{
	buf_reset(&t->one);
	table_text(c, "", &t->one);
	for (size_t i = 0; i < t->one.len; i++) {
		if (t->one.data[i] == '|')
			buf_byte(out, '\\');
		buf_byte(out, t->one.data[i]);
	}
}

static bool
markdown_is_number(struct table_cell c)
{
	struct mp m;

	mp_head(c.p, c.end, &m);
	return m.kind == MP_INT || m.kind == MP_FLOAT;
}

static void
markdown_header(struct table *t, struct table_row r, struct buf *out)
{
	struct table_row again = r;
	const uint8_t *key;

	if (t->tables)
		buf_byte(out, '\n');
	for (uint32_t i = 0; i < t->n; i++) {
		struct table_cell c = table_next(&r, &key);

		buf_str(out, "| ");
		if (key)
			markdown_text(t, (struct table_cell){ key, c.p }, out);
		else if (again.bare)
			buf_str(out, "value");
		else
			buf_printf(out, "%u", i);
		buf_byte(out, ' ');
	}
	buf_str(out, "|\n");
	for (uint32_t i = 0; i < t->n; i++)
		buf_str(out, markdown_is_number(table_next(&again, &key)) ? "| ---: " : "| --- ");
	buf_str(out, "|\n");
}

static enum status
markdown_elem(void *state, const uint8_t *p, size_t n, struct buf *out, struct err *e)
{
	struct table *t = state;
	struct table_row r = table_row(p, n);
	const uint8_t *key;

	(void)e;
	if (!r.n)
		return ST_OK;
	if (!table_fits(t, &r)) {
		table_begin(t, &r);
		markdown_header(t, r, out);
	}
	for (uint32_t i = 0; i < t->n; i++) {
		buf_str(out, "| ");
		markdown_text(t, table_next(&r, &key), out);
		buf_byte(out, ' ');
	}
	buf_str(out, "|\n");
	return ST_OK;
}

const struct format_desc format_markdown = { .flags = FORMAT_IS_FRAMED, .state_size = sizeof(struct table),
					     .elem = markdown_elem, .clear = table_clear };
