/* SPDX-License-Identifier: MIT
 * vertical: a line for each field, and an empty line between records; for records too wide
 * for a row. The fields of a list are counted from 0.
 */
#include "value/format/format_desc.h"
#include "value/format/table.h"
#include "value/mp.h"

/* Puts the name of the i-th field into t->one. */
static void
vertical_name(struct table *t, const uint8_t *key, const uint8_t *end, uint32_t i)
{
	buf_reset(&t->one);
	if (key)
		table_text((struct table_cell){ key, end }, "-", &t->one);
	else
		buf_printf(&t->one, "%u", i);
}

static enum status
vertical_elem(void *state, const uint8_t *p, size_t n, struct buf *out, struct err *e)
{
	struct table *t = state;
	struct table_row r = table_row(p, n), again = r;
	const uint8_t *key;
	size_t most = 0;

	(void)e;
	if (t->rows++ && !r.bare)
		buf_byte(out, '\n');
	for (uint32_t i = 0; i < r.n && !r.bare; i++) {
		struct table_cell c = table_next(&r, &key);

		vertical_name(t, key, c.p, i);
		size_t width = table_width(t->one.data, t->one.len);
		most = width > most ? width : most;
	}
	for (uint32_t i = 0; i < again.n; i++) {
		struct table_cell c = table_next(&again, &key);

		if (!r.bare) {
			vertical_name(t, key, c.p, i);
			buf_put(out, t->one.data, t->one.len);
			for (size_t k = table_width(t->one.data, t->one.len); k < most + 2; k++)
				buf_byte(out, ' ');
		}
		table_text(c, "-", out);
		buf_byte(out, '\n');
	}
	return ST_OK;
}

const struct format_desc format_vertical = { .flags = FORMAT_IS_FRAMED, .state_size = sizeof(struct table),
					     .elem = vertical_elem, .clear = table_clear };
