/* SPDX-License-Identifier: MIT */
#include "status_cells.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "value/format/format.h"

void
status_cells_text(struct mp m, struct buf *out)
{
	buf_plain(out, m.p, m.n, '?');
}

/* At most that many characters of a text; if it has more, a mark is the last one. Gives their number. */
static unsigned
status_cells_clip(const uint8_t *p, size_t len, unsigned width, struct buf *out)
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
status_cells_put(struct buf *out, struct mp m, unsigned width)
{
	struct buf b = { 0 };

	status_cells_text(m, &b);
	if (!b.len)
		buf_byte(&b, '-');
	for (unsigned n = status_cells_clip(b.data, b.len, width ? width : UINT_MAX, out); n < width; n++)
		buf_byte(out, ' ');
	buf_str(out, "  ");
	buf_clear(&b);
}

void
status_cells_duration(uint64_t ms, char out[24])
{
	static const struct {
		uint64_t s;
		char unit;
	} units[] = { { 86400, 'd' }, { 3600, 'h' }, { 60, 'm' }, { 1, 's' } };
	uint64_t s = ms / 1000;
	size_t i = 0;

	while (units[i].s > 1 && s < 2 * units[i].s)
		i++;
	snprintf(out, 24, "%" PRIu64 "%c", s / units[i].s, units[i].unit);
}

void
status_cells_detail(struct status_details *d, const char *name, struct mp value)
{
	if (!value.n)
		return;
	buf_str(d->out, d->any ? "  " : "    ");
	buf_str(d->out, name);
	status_cells_text(value, d->out);
	d->any = true;
}

void
status_cells_detail_text(struct status_details *d, const char *text)
{
	status_cells_detail(d, "", (struct mp){ .p = (const uint8_t *)text, .n = (uint32_t)strlen(text) });
}

void
status_cells_details_end(struct status_details *d)
{
	if (d->any)
		buf_byte(d->out, '\n');
}

void
status_cells_of(char *out, size_t room, const char *between, uint64_t n, uint64_t all)
{
	if (all)
		snprintf(out, room, "%" PRIu64 "%s%" PRIu64, n, between, all);
	else
		snprintf(out, room, "%" PRIu64, n);
}

void
status_cells_more(uint32_t n, struct buf *out)
{
	if (n > STATUS_TABLE_ROWS)
		buf_printf(out, "... and %" PRIu32 " more, see --json\n", n - STATUS_TABLE_ROWS);
}

void
status_cells_job(struct slice j, unsigned width, struct buf *out)
{
	struct mp name = record_text(j, "name");
	char number[24];

	snprintf(number, sizeof number, "%" PRIu64, record_uint(j, "job"));
	if (!name.n)
		name = (struct mp){ .p = (const uint8_t *)number, .n = (uint32_t)strlen(number) };
	status_cells_put(out, name, width);
}

void
status_cells_cut(const struct buf *text, unsigned width, struct buf *out)
{
	const uint8_t *p = text->data, *end = p + text->len;

	while (p < end) {
		const uint8_t *stop = memchr(p, '\n', (size_t)(end - p));

		status_cells_clip(p, (size_t)(stop - p), width, out);
		buf_byte(out, '\n');
		p = stop + 1;
	}
}
