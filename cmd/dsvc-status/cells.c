/* SPDX-License-Identifier: MIT */
#include "cells.h"

#include <limits.h>
#include <string.h>

void
cells_text(struct mp m, struct buf *out)
{
	buf_plain(out, m.p, m.n, '?');
}

unsigned
cells_clip(const uint8_t *p, size_t len, unsigned width, struct buf *out)
{
	size_t cut = len;
	unsigned n = 0;

	for (size_t i = 0; i < len; i++) {
		bool begins = (p[i] & 0xc0) != 0x80;

		if (begins && n == width - 1)
			cut = i;
		n += begins;
	}
	buf_put(out, p, n > width ? cut : len);
	if (n > width)
		buf_str(out, "…");
	return n > width ? width : n;
}

void
cells_put(struct buf *out, struct mp m, unsigned width)
{
	struct buf b = { 0 };

	cells_text(m, &b);
	if (!b.len)
		buf_byte(&b, '-');
	for (unsigned n = cells_clip(b.data, b.len, width ? width : UINT_MAX, out); n < width; n++)
		buf_byte(out, ' ');
	buf_str(out, "  ");
	buf_clear(&b);
}

void
cells_detail(struct cells_details *d, const char *name, struct mp value)
{
	if (!value.n)
		return;
	buf_str(d->out, d->any ? "  " : "    ");
	buf_str(d->out, name);
	cells_text(value, d->out);
	d->any = true;
}

void
cells_detail_text(struct cells_details *d, const char *text)
{
	cells_detail(d, "", (struct mp){ .p = (const uint8_t *)text, .n = (uint32_t)strlen(text) });
}

void
cells_details_end(struct cells_details *d)
{
	if (d->any)
		buf_byte(d->out, '\n');
}
