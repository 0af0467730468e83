/* SPDX-License-Identifier: MIT
 * Rows of Arrow arrays. The input chooses a schema and an array for it, whose buffers are as long
 * as its lengths and offsets need and not a byte longer; everything else about it may be wrong: how
 * many rows the children have, offsets that fall, indices into dictionaries, text that is no UTF-8.
 * Elements that come out are well formed, the values of single columns are those in them, and the writer of
 * Arrow takes them or says why not. */
#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "value/arrow/arrow_cells.h"
#include "value/arrow/arrow_made.h"
#include "value/arrow/arrow_rows.h"
#include "value/mp.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { FUZZ_ROWS = 24, FUZZ_KIDS = 4, FUZZ_DEPTH = 5, FUZZ_POOL = 1 << 14, FUZZ_MAX = 1 << 16 };

static const uint8_t *fuzz_at, *fuzz_end;
static void *fuzz_pool[FUZZ_POOL];
static size_t fuzz_pooled;

static unsigned
fuzz_byte(void)
{
	return fuzz_at < fuzz_end ? *fuzz_at++ : 0;
}

/* Memory of just that size, zeroed. */
static void *
fuzz_room(size_t n)
{
	void *p = calloc(1, n ? n : 1);

	assert(p && fuzz_pooled < FUZZ_POOL);
	return fuzz_pool[fuzz_pooled++] = p;
}

static void *
fuzz_bytes(size_t n)
{
	uint8_t *p = fuzz_room(n);

	for (size_t i = 0; i < n; i++)
		p[i] = (uint8_t)fuzz_byte();
	return p;
}

/* The layouts: what lies in the buffers behind the first, which says what is null. */
enum fuzz_layout { NONE, BITS, FLAT, TEXT, LARGE_TEXT, VIEW, LIST, LARGE_LIST, FIXED_LIST, STRUCT, RAW };
static const struct fuzz_format { const char *text; enum fuzz_layout layout; unsigned width; } fuzz_formats[] = {
	{ "n", NONE, 0 }, { "b", BITS, 0 }, { "c", FLAT, 1 }, { "C", FLAT, 1 }, { "s", FLAT, 2 }, { "S", FLAT, 2 },
	{ "i", FLAT, 4 }, { "I", FLAT, 4 }, { "l", FLAT, 8 }, { "L", FLAT, 8 }, { "e", FLAT, 2 }, { "f", FLAT, 4 },
	{ "g", FLAT, 8 }, { "u", TEXT, 0 }, { "z", TEXT, 0 }, { "U", LARGE_TEXT, 0 }, { "Z", LARGE_TEXT, 0 },
	{ "vu", VIEW, 0 }, { "vz", VIEW, 0 },
	{ "w:3", FLAT, 3 }, { "w:0", FLAT, 0 }, { "d:9,2,32", FLAT, 4 }, { "d:18,3,64", FLAT, 8 }, { "d:38,10", FLAT, 16 },
	{ "d:76,-3,256", FLAT, 32 }, { "tdD", FLAT, 4 }, { "tdm", FLAT, 8 }, { "tts", FLAT, 4 }, { "ttm", FLAT, 4 },
	{ "ttu", FLAT, 8 }, { "ttn", FLAT, 8 }, { "tss:", FLAT, 8 }, { "tsm:UTC", FLAT, 8 }, { "tsu:Europe/Berlin", FLAT, 8 },
	{ "tsn:", FLAT, 8 }, { "tDs", FLAT, 8 }, { "tDn", FLAT, 8 }, { "tiM", FLAT, 4 }, { "+l", LIST, 0 },
	{ "+L", LARGE_LIST, 0 }, { "+m", LIST, 0 }, { "+w:2", FIXED_LIST, 2 }, { "+w:0", FIXED_LIST, 0 }, { "+s", STRUCT, 0 },
	{ "+s", STRUCT, 0 }, { "", RAW, 0 },
};
enum { FUZZ_FORMATS = sizeof fuzz_formats / sizeof *fuzz_formats };

/* Offsets that grow as a rule; gives the greatest, which is as far as data must go. */
static int64_t
fuzz_offsets(void *to, int64_t n, bool large)
{
	int64_t at = 0, most = 0;

	for (int64_t i = 0; i <= n; i++) {
		unsigned step = fuzz_byte();

		at += step < 240 ? (int64_t)(step % 8) : (int64_t)step - 250;
		if (large)
			((int64_t *)to)[i] = at;
		else
			((int32_t *)to)[i] = (int32_t)at;
		most = at > most ? at : most;
	}
	return most;
}

static void fuzz_column(unsigned depth, struct ArrowSchema *s, struct ArrowArray *a, const struct fuzz_format *f,
			int64_t rows);

/* Children: names, and about as many rows as they need. */
static void
fuzz_kids(unsigned depth, struct ArrowSchema *s, struct ArrowArray *a, unsigned n, int64_t rows)
{
	s->children = fuzz_room(n * sizeof *s->children);
	a->children = fuzz_room(n * sizeof *a->children);
	s->n_children = a->n_children = n;
	for (unsigned i = 0; i < n; i++) {
		unsigned less = fuzz_byte();

		s->children[i] = fuzz_room(sizeof(struct ArrowSchema));
		a->children[i] = fuzz_room(sizeof(struct ArrowArray));
		fuzz_column(depth + 1, s->children[i], a->children[i], &fuzz_formats[fuzz_byte() % FUZZ_FORMATS],
			    less < 250 ? rows : rows - (int64_t)(less - 249));
	}
}

static void
fuzz_data(unsigned depth, struct ArrowSchema *s, struct ArrowArray *a, const struct fuzz_format *f, int64_t all)
{
	bool large = f->layout == LARGE_TEXT || f->layout == LARGE_LIST;
	int64_t most;

	switch (f->layout) {
	case BITS:
		a->buffers[a->n_buffers++] = fuzz_bytes((size_t)(all + 7) / 8);
		break;
	case FLAT:
		a->buffers[a->n_buffers++] = fuzz_bytes((size_t)all * f->width);
		break;
	case VIEW: /* views, of which the short ones have their text in them, a heap, and the sizes of heaps */
		a->buffers[1] = fuzz_bytes((size_t)all * 16);
		a->buffers[2] = fuzz_bytes(40);
		a->buffers[3] = memcpy(fuzz_room(8), &(int64_t){ 40 }, 8);
		a->n_buffers = 4;
		break;
	case TEXT:
	case LARGE_TEXT:
	case LIST:
	case LARGE_LIST:
		a->buffers[1] = fuzz_room((size_t)(all + 1) * (large ? 8 : 4));
		most = fuzz_offsets((void *)(uintptr_t)a->buffers[1], all, large);
		a->n_buffers = 2;
		if (f->layout == TEXT || f->layout == LARGE_TEXT)
			a->buffers[a->n_buffers++] = fuzz_bytes((size_t)most);
		else
			fuzz_kids(depth, s, a, fuzz_byte() < 250 ? 1 : 2, most < FUZZ_ROWS * 8 ? most : FUZZ_ROWS * 8);
		break;
	case FIXED_LIST:
		fuzz_kids(depth, s, a, 1, all * f->width);
		break;
	case STRUCT:
		fuzz_kids(depth, s, a, fuzz_byte() % FUZZ_KIDS, all);
		break;
	default:
		break;
	}
}

/* A column with so many rows, and some before and behind them in its buffers. */
static void
fuzz_column(unsigned depth, struct ArrowSchema *s, struct ArrowArray *a, const struct fuzz_format *f, int64_t rows)
{
	unsigned how = fuzz_byte();
	char *name = fuzz_bytes(3);
	static const struct fuzz_format whole = { "l", FLAT, 8 };

	name[2] = 0;
	rows = rows > 0 ? rows : 0;
	if (depth >= FUZZ_DEPTH && f->layout >= LIST)
		f = &whole;
	s->name = name;
	s->format = f->text;
	s->flags = ARROW_FLAG_NULLABLE;
	a->offset = how & 3;
	a->length = rows;
	a->null_count = (how & 4) ? -1 : 0;
	a->buffers = fuzz_room(4 * sizeof *a->buffers);
	int64_t all = rows + a->offset;
	if (f->layout == RAW) { /* nobody knows how long its buffers are: it must be refused, or have none */
		char *text = fuzz_bytes(12);

		text[11] = 0;
		s->format = text;
		return;
	}
	if (f->layout != NONE)
		a->buffers[a->n_buffers++] = (how & 8) ? fuzz_bytes((size_t)(all + 7) / 8) : NULL;
	fuzz_data(depth, s, a, f, all);
	if ((how & 0xf0) == 0xf0 && f->layout == FLAT && depth < FUZZ_DEPTH) { /* its values are indices */
		s->dictionary = fuzz_room(sizeof *s->dictionary);
		a->dictionary = fuzz_room(sizeof *a->dictionary);
		fuzz_column(depth + 1, s->dictionary, a->dictionary, &fuzz_formats[fuzz_byte() % FUZZ_FORMATS], fuzz_byte() % 8);
	}
}

/* Compares what is told of a column and row alone with the value in the element. */
static void
fuzz_cell(const struct arrow_rows *r, size_t column, int64_t row, const uint8_t *p, const uint8_t *end)
{
	enum arrow_cells kind = arrow_cells_kind(r, column);
	struct buf one = { 0 };
	struct mp m;
	bool null;

	assert(arrow_cells_put(r, column, row, FUZZ_MAX, &one));
	assert(one.len == (size_t)(end - p) && !memcmp(one.data, p, one.len));
	buf_clear(&one);
	mp_head(p, end, &m);
	if (kind == ARROW_CELLS_INT) {
		int64_t v;

		arrow_cells_ints(r, column, row, 1, &v, &null);
		assert(null == (m.kind == MP_NIL) && (null || (m.kind == MP_INT && !m.unsigned_big && m.i == v)));
	} else if (kind == ARROW_CELLS_FLOAT) {
		double v;

		arrow_cells_floats(r, column, row, 1, &v, &null);
		assert(null == (m.kind == MP_NIL) && (null || (m.kind == MP_FLOAT && (m.f == v || (m.f != m.f && v != v)))));
	} else if (kind == ARROW_CELLS_BYTES) {
		const uint8_t *bytes;
		uint64_t len;

		assert(arrow_cells_bytes(r, column, row, &bytes, &len));
		assert(!bytes == (m.kind == MP_NIL) && (!bytes || (m.n == len && (!len || !memcmp(m.p, bytes, len)))));
	}
}

static void
fuzz_cells(const struct arrow_rows *r, int64_t row, const struct elem *x)
{
	const uint8_t *end = x->p + x->len;
	struct mp m;
	const uint8_t *p = mp_head(x->p, end, &m);

	for (size_t i = 0; i < m.n; i++) {
		const uint8_t *value = mp_skip(p, end);

		p = mp_skip(value, end);
		fuzz_cell(r, i, row, value, p);
	}
}

static void
fuzz_rows(struct arrow_rows *r, const struct ArrowArray *a)
{
	struct arrow_made *made = arrow_made_new(NULL, fuzz_byte() & 1);
	struct buf stream = { 0 };
	struct err e = { 0 };
	struct run run;
	enum status st;

	run_init(&run);
	for (int64_t i = 0; i < a->length; i++) {
		uint32_t had = run.n;

		st = arrow_rows_put(r, i, FUZZ_MAX, &run, (uint32_t)i, &e);
		assert((st == ST_OK && run.n == had + 1) || (st == ST_DATA && run.n == had));
		if (st != ST_OK)
			continue;
		assert(run.e[had].len <= FUZZ_MAX && mp_check(run.e[had].p, run.e[had].len));
		fuzz_cells(r, i, &run.e[had]);
		st = arrow_made_add(made, run.e[had].p, run.e[had].len, &e);
		assert(st == ST_OK || st == ST_DATA);
	}
	st = arrow_made_end(made, &stream, &e);
	assert(st == ST_OK || st == ST_DATA || st == ST_UNAVAIL); /* without the plugin */
	arrow_made_free(&made);
	buf_clear(&stream);
	run_clear(&run);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct fuzz_format root = { "+s", STRUCT, 0 };
	struct ArrowSchema s = { 0 };
	struct ArrowArray a = { 0 };
	struct arrow_rows *r = NULL;
	struct err e = { 0 };

	fuzz_at = data;
	fuzz_end = data + size;
	unsigned how = fuzz_byte();
	struct arrow_as as = { (enum arrow_times)(how % 3), (enum arrow_decimals)(how / 3 % 2) };
	fuzz_column(0, &s, &a, &root, fuzz_byte() % FUZZ_ROWS);
	enum status st = arrow_rows_new(&s, as, &r, &e);
	assert(st == ST_OK || st == ST_DATA);
	if (st == ST_OK) {
		struct types *arena = types_new();

		assert(arrow_rows_type(r, arena)->kind == TYPE_RECORD);
		types_free(&arena);
		st = arrow_rows_bind(r, &a, &e);
		assert(st == ST_OK || st == ST_DATA);
		if (st == ST_OK)
			fuzz_rows(r, &a);
	}
	arrow_rows_free(&r);
	while (fuzz_pooled)
		free(fuzz_pool[--fuzz_pooled]);
	return 0;
}
