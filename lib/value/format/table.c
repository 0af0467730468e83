/* SPDX-License-Identifier: MIT */
#include "value/format/table.h"

#include <locale.h>
#include <string.h>
#include <wchar.h>

#include "base/mem.h"
#include "value/json/json_print.h"
#include "value/mp.h"

struct table_row
table_row(const uint8_t *p, size_t n)
{
	struct table_row r = { .end = p + n };
	struct mp m;
	const uint8_t *first = mp_head(p, p + n, &m);
	bool many = m.kind == MP_RECORD || m.kind == MP_LIST;

	r.record = m.kind == MP_RECORD;
	r.bare = !many;
	r.n = many ? m.n : 1;
	r.cells = many ? first : p;
	return r;
}

struct table_cell
table_next(struct table_row *r, const uint8_t **key)
{
	struct table_cell c;

	*key = r->record ? r->cells : NULL;
	c.p = r->record ? mp_skip(r->cells, r->end) : r->cells;
	c.end = mp_skip(c.p, r->end);
	r->cells = c.end;
	return c;
}

bool
table_fits(const struct table *t, const struct table_row *r)
{
	const uint8_t *have = t->keys.data, *key;
	struct table_row row = *r;

	if (!t->begun || t->records != r->record || t->n != r->n)
		return false;
	for (uint32_t i = 0; i < r->n && r->record; i++) {
		struct table_cell c = table_next(&row, &key);
		size_t n = (size_t)(c.p - key);

		if ((size_t)(buf_end(&t->keys) - have) < n || memcmp(have, key, n) != 0)
			return false;
		have += n;
	}
	return true;
}

void
table_begin(struct table *t, const struct table_row *r)
{
	struct table_row row = *r;
	const uint8_t *key;

	t->tables += t->begun;
	t->begun = true;
	t->shown = false;
	t->records = r->record;
	t->n = r->n;
	buf_reset(&t->keys);
	t->column = mem_grow(t->column, &t->cap, r->n + 1, sizeof *t->column);
	memset(t->column, 0, r->n * sizeof *t->column);
	for (uint32_t i = 0; i < r->n && r->record; i++) {
		struct table_cell c = table_next(&row, &key);

		buf_put(&t->keys, key, (size_t)(c.p - key));
	}
}

static void
table_put_visible(const uint8_t *p, size_t n, struct buf *out)
{
	static const char letters[] = { ['\t'] = 't', ['\n'] = 'n', ['\r'] = 'r' };

	for (size_t i = 0; i < n; i++) {
		if (p[i] >= ' ' && p[i] != 0x7f)
			buf_byte(out, p[i]);
		else if (p[i] < sizeof letters && letters[p[i]])
			buf_printf(out, "\\%c", letters[p[i]]);
		else
			buf_printf(out, "\\x%02x", p[i]);
	}
}

bool
table_text(struct table_cell c, const char *nothing, struct buf *out)
{
	struct buf text = { 0 };
	struct mp m;

	mp_head(c.p, c.end, &m);
	if (m.kind == MP_NIL) {
		buf_str(out, nothing);
	} else if (m.kind == MP_TEXT) {
		table_put_visible(m.p, m.n, out);
	} else {
		text_print(c.p, (size_t)(c.end - c.p), &text);
		table_put_visible(text.data, text.len, out);
		buf_clear(&text);
	}
	return m.kind == MP_INT || m.kind == MP_FLOAT || m.kind == MP_NIL;
}

/* wcwidth knows only the characters of the thread's locale. */
static locale_t
table_locale(void)
{
	static locale_t utf8;

	if (!utf8)
		utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
	return utf8;
}

/* Counts characters up to `most` columns: gives the columns, and the bytes in *used. */
static size_t
table_measure(const uint8_t *p, size_t n, size_t most, size_t *used)
{
	size_t columns = 0, i = 0;
	locale_t own = table_locale(), before = own ? uselocale(own) : (locale_t)0;
	mbstate_t state = { 0 };

	while (i < n) {
		wchar_t c;
		size_t len = p[i] < 0x80 ? 1 : mbrtowc(&c, (const char *)p + i, n - i, &state);
		int width = 1;

		if (len == 0 || len > n - i) { /* no character */
			len = 1;
			memset(&state, 0, sizeof state);
		} else if (p[i] >= 0x80) {
			width = wcwidth(c);
		}
		if (width < 0)
			width = 1;
		if (columns + (size_t)width > most)
			break;
		columns += (size_t)width;
		i += len;
	}
	if (before)
		uselocale(before);
	*used = i;
	return columns;
}

size_t
table_width(const uint8_t *p, size_t n)
{
	size_t used;

	return table_measure(p, n, SIZE_MAX, &used);
}

size_t
table_cut(const uint8_t *p, size_t n, size_t columns)
{
	size_t used;

	table_measure(p, n, columns, &used);
	return used;
}

void
table_clear(void *state)
{
	struct table *t = state;

	buf_clear(&t->keys);
	buf_clear(&t->cells);
	buf_clear(&t->one);
	mem_free(t->column);
}
