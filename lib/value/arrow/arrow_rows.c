/* SPDX-License-Identifier: MIT */
#include "value/arrow/arrow_rows.h"

#include <string.h>

#include "value/arrow/arrow_inner.h"
#include "value/arrow/arrow_text.h"
#include "value/half.h"
#include "value/mp.h"

/* Views: 4 bytes of length, then the bytes, or 4 of them, the number of a buffer and an offset in it. */
enum { ROWS_VIEW = 16, ROWS_INLINE = 12 };

/* A size, worked out before anything is written. */
struct rows_sum {
	size_t bytes, max;
	const char *wrong; /* NULL: nothing */
};

#define ROWS_NUMBER(TYPE)                                                               \
	static inline TYPE rows_##TYPE(const uint8_t *p, int64_t i)                     \
	{                                                                               \
		TYPE v;                                                                 \
		memcpy(&v, p + (size_t)i * sizeof v, sizeof v);                         \
		return v;                                                               \
	}
ROWS_NUMBER(int16_t)
ROWS_NUMBER(uint16_t)
ROWS_NUMBER(int32_t)
ROWS_NUMBER(uint32_t)
ROWS_NUMBER(int64_t)
ROWS_NUMBER(uint64_t)
ROWS_NUMBER(float)
ROWS_NUMBER(double)

/* ---- ranges of texts, lists and dictionaries ---- */

/* The bytes of a text or bytes. False: they are not within its buffers. */
static bool
rows_heap(const struct arrow_node *n, int64_t i, const uint8_t **p, uint64_t *len)
{
	int64_t from, to;

	i += n->offset;
	if (n->kind == ARROW_VIEW) {
		const uint8_t *v = n->data + i * ROWS_VIEW;
		int64_t size = rows_int32_t(v, 0), heap = rows_int32_t(v, 2), at = rows_int32_t(v, 3);

		*len = (uint64_t)size;
		*p = v + 4;
		if (size <= ROWS_INLINE)
			return size >= 0;
		if (heap < 0 || heap >= n->n_heaps || at < 0 || !n->heaps[heap] || at > n->heap_sizes[heap]
		    || size > n->heap_sizes[heap] - at)
			return false;
		*p = (const uint8_t *)n->heaps[heap] + at;
		return true;
	}
	if (n->kind == ARROW_HEAP32) {
		from = rows_int32_t(n->data, i);
		to = rows_int32_t(n->data, i + 1);
	} else {
		from = rows_int64_t(n->data, i);
		to = rows_int64_t(n->data, i + 1);
	}
	if (from < n->low || to < from || to > n->high)
		return false;
	*p = from == to ? (const uint8_t *)"" : n->heap + from;
	*len = (uint64_t)(to - from);
	return true;
}

bool
arrow_node_bytes(const struct arrow_node *n, int64_t row, const uint8_t **p, uint64_t *len)
{
	return rows_heap(n, row, p, len);
}

static bool
rows_range(const struct arrow_node *n, int64_t i, int64_t *from, int64_t *to)
{
	i += n->offset;
	if (n->kind == ARROW_LIST_FIXED) {
		*from = i * n->width;
		*to = *from + n->width;
		return true;
	}
	if (n->kind == ARROW_LIST64) {
		*from = rows_int64_t(n->data, i);
		*to = rows_int64_t(n->data, i + 1);
	} else {
		*from = rows_int32_t(n->data, i);
		*to = rows_int32_t(n->data, i + 1);
	}
	return *from >= n->low && *to >= *from && *to <= n->high;
}

static int64_t
rows_int(enum arrow_kind kind, const uint8_t *p, int64_t i)
{
	switch (kind) {
	case ARROW_I8: return (int8_t)p[i];
	case ARROW_U8: return p[i];
	case ARROW_I16: return rows_int16_t(p, i);
	case ARROW_U16: return rows_uint16_t(p, i);
	case ARROW_I32: return rows_int32_t(p, i);
	case ARROW_U32: return rows_uint32_t(p, i);
	default: return rows_int64_t(p, i);
	}
}

/* The index into a dictionary's values; -1: there is no such value. */
static int64_t
rows_entry(const struct arrow_node *n, int64_t i)
{
	int64_t at = rows_int(n->index, n->data, i + n->offset);

	return at >= 0 && at < n->kids[0]->length ? at : -1;
}

/* Whether the key of entry j of a map comes again before `end`. */
static bool
rows_again(const struct arrow_node *key, int64_t j, int64_t end)
{
	const uint8_t *a, *b;
	uint64_t n, m;

	if (!rows_heap(key, j, &a, &n))
		return false;
	while (++j < end)
		if (rows_heap(key, j, &b, &m) && m == n && (!n || !memcmp(a, b, n)))
			return true;
	return false;
}

/* ---- how many bytes ---- */

static void rows_measure(const struct arrow_node *n, int64_t i, struct rows_sum *s);

static void
rows_add(struct rows_sum *s, uint64_t n)
{
	if (n > s->max - s->bytes)
		s->wrong = "it is larger than the element limit";
	else
		s->bytes += (size_t)n;
}

static void
rows_measure_map(const struct arrow_node *n, int64_t i, struct rows_sum *s)
{
	const struct arrow_node *entry = n->kids[0];
	int64_t from, to;

	if (!rows_range(n, i, &from, &to)) {
		s->wrong = "its offsets are malformed";
		return;
	}
	rows_add(s, MP_HEAD_MAX);
	if (to - from > ARROW_MAP_MAX && arrow_map_is_record(n))
		s->wrong = "a map with more than 4096 keys";
	for (int64_t j = from; j < to && !s->wrong; j++) {
		/* Entries are written without a look at their own nulls. */
		if (arrow_is_null(entry, j) || arrow_is_null(entry->kids[0], j + entry->offset))
			s->wrong = "a map with a null key";
		else
			rows_measure(entry, j, s);
	}
}

static void
rows_measure(const struct arrow_node *n, int64_t i, struct rows_sum *s)
{
	const uint8_t *p;
	uint64_t len = 0;
	int64_t from, to;

	if (n->fixed || arrow_is_null(n, i)) {
		rows_add(s, n->fixed ? n->most : 1);
		return;
	}
	switch (n->kind) {
	case ARROW_HEAP32: case ARROW_HEAP64: case ARROW_VIEW:
		if (!rows_heap(n, i, &p, &len))
			s->wrong = "its offsets are malformed";
		else
			rows_add(s, len + MP_HEAD_MAX);
		return;
	case ARROW_DICTIONARY:
		from = rows_entry(n, i);
		if (from < 0)
			s->wrong = "an index behind the end of its dictionary";
		else
			rows_measure(n->kids[0], from, s);
		return;
	case ARROW_MAP:
		rows_measure_map(n, i, s);
		return;
	case ARROW_STRUCT:
		rows_add(s, MP_HEAD_MAX);
		for (size_t k = 0; k < n->n_kids && !s->wrong; k++) {
			rows_add(s, n->kids[k]->key_len);
			rows_measure(n->kids[k], i + n->offset, s);
		}
		return;
	default:
		if (!rows_range(n, i, &from, &to)) {
			s->wrong = "its offsets are malformed";
			return;
		}
		rows_add(s, MP_HEAD_MAX);
		for (; from < to && !s->wrong; from++)
			rows_measure(n->kids[0], from, s);
	}
}

/* ---- the values ---- */

static uint8_t *
rows_put_bytes(uint8_t *w, bool text, const uint8_t *p, uint64_t n)
{
	w = text ? mp_put_text_head(w, (uint32_t)n) : mp_put_bytes_head(w, (uint32_t)n);
	if (n)
		memcpy(w, p, n);
	return w + n;
}

static uint8_t *
rows_put_time(const struct arrow_node *n, int64_t i, uint8_t *w)
{
	int64_t v = n->width == 4 ? rows_int32_t(n->data, i) : rows_int64_t(n->data, i);
	char text[ARROW_TIME_MAX];

	if (n->times == ARROW_TIMES_INT)
		return mp_put_int(w, v);
	if (n->times == ARROW_TIMES_SECONDS)
		return mp_put_float(w, arrow_time_seconds(n, v));
	return mp_put_text(w, text, (uint32_t)arrow_time_text(n, v, text));
}

static uint8_t *
rows_put_decimal(const struct arrow_node *n, int64_t i, uint8_t *w)
{
	const uint8_t *p = n->data + i * n->width;
	char text[ARROW_DECIMAL_MAX];

	if (n->decimals == ARROW_DECIMALS_FLOAT)
		return mp_put_float(w, arrow_decimal_float(n, p));
	return mp_put_text(w, text, (uint32_t)arrow_decimal_text(n, p, text));
}

static uint8_t *rows_put(const struct arrow_node *n, int64_t i, uint8_t *w);

static uint8_t *
rows_put_struct(const struct arrow_node *n, int64_t i, uint8_t *w)
{
	w = mp_put_record_head(w, (uint32_t)n->n_kids);
	for (size_t k = 0; k < n->n_kids; k++) {
		memcpy(w, n->kids[k]->key, n->kids[k]->key_len);
		w = rows_put(n->kids[k], i + n->offset, w + n->kids[k]->key_len);
	}
	return w;
}

static uint8_t *
rows_put_map(const struct arrow_node *n, int64_t i, uint8_t *w)
{
	const struct arrow_node *entry = n->kids[0], *key = entry->kids[0];
	int64_t from, to, o = entry->offset;
	uint32_t count = 0;

	rows_range(n, i, &from, &to);
	if (!arrow_map_is_record(n)) {
		w = mp_put_list_head(w, (uint32_t)(to - from));
		for (; from < to; from++)
			w = rows_put_struct(entry, from, w);
		return w;
	}
	for (int64_t j = from; j < to; j++)
		count += !rows_again(key, j + o, to + o);
	w = mp_put_record_head(w, count);
	for (int64_t j = from; j < to; j++) {
		if (rows_again(key, j + o, to + o))
			continue;
		w = rows_put(key, j + o, w);
		w = rows_put(entry->kids[1], j + o, w);
	}
	return w;
}

static uint8_t *
rows_put(const struct arrow_node *n, int64_t i, uint8_t *w)
{
	const uint8_t *p;
	uint64_t len;
	int64_t from, to, at = i + n->offset;

	if (arrow_is_null(n, i))
		return mp_put_nil(w);
	switch (n->kind) {
	case ARROW_NULL: return mp_put_nil(w);
	case ARROW_BOOL: return mp_put_bool(w, n->data[at >> 3] >> (at & 7) & 1);
	case ARROW_I32: return mp_put_int(w, rows_int32_t(n->data, at));
	case ARROW_I64: return mp_put_int(w, rows_int64_t(n->data, at));
	case ARROW_U64: return mp_put_uint(w, rows_uint64_t(n->data, at));
	case ARROW_F64: return mp_put_float(w, rows_double(n->data, at));
	case ARROW_F32: return mp_put_float(w, (double)rows_float(n->data, at));
	case ARROW_F16: return mp_put_float(w, (double)f16_to_f32(rows_uint16_t(n->data, at)));
	case ARROW_HEAP32: case ARROW_HEAP64: case ARROW_VIEW:
		rows_heap(n, i, &p, &len);
		return rows_put_bytes(w, n->text, p, len);
	case ARROW_FIXED_BYTES: return rows_put_bytes(w, false, n->data + at * n->width, (uint64_t)n->width);
	case ARROW_DECIMAL: return rows_put_decimal(n, at, w);
	case ARROW_DATE: case ARROW_TIME: case ARROW_STAMP: case ARROW_SPAN: return rows_put_time(n, at, w);
	case ARROW_STRUCT: return rows_put_struct(n, i, w);
	case ARROW_MAP: return rows_put_map(n, i, w);
	case ARROW_DICTIONARY: return rows_put(n->kids[0], rows_entry(n, i), w);
	case ARROW_LIST32: case ARROW_LIST64: case ARROW_LIST_FIXED:
		rows_range(n, i, &from, &to);
		w = mp_put_list_head(w, (uint32_t)(to - from));
		for (; from < to; from++)
			w = rows_put(n->kids[0], from, w);
		return w;
	default: return mp_put_int(w, rows_int(n->kind, n->data, at));
	}
}

bool
arrow_node_put(const struct arrow_node *n, int64_t row, size_t max, struct buf *out)
{
	struct rows_sum s = { .max = max };

	rows_measure(n, row, &s);
	if (s.wrong)
		return false;
	uint8_t *w = buf_room(out, s.bytes);
	out->len += (size_t)(rows_put(n, row, w) - w);
	return true;
}

/* Names the column that is wrong. */
static enum status
rows_wrong(const struct arrow_rows *r, int64_t row, size_t max, const char *wrong, struct err *e)
{
	for (size_t k = 0; k < r->root->n_kids; k++) {
		struct rows_sum one = { .max = max };

		rows_measure(r->root->kids[k], row + r->root->offset, &one);
		if (one.wrong)
			return err_set(e, ST_DATA, "the column `%.100s`: %s", r->root->kids[k]->name, one.wrong);
	}
	return err_set(e, ST_DATA, "%s", wrong);
}

enum status
arrow_rows_put(struct arrow_rows *r, int64_t row, size_t max, struct run *out, uint32_t pos, struct err *e)
{
	const struct arrow_node *root = r->root;
	struct rows_sum s = { .bytes = r->fixed, .max = max };

	if (r->fixed > max)
		s.wrong = "it is larger than the element limit";
	for (size_t k = 0; !r->all_fixed && k < root->n_kids && !s.wrong; k++)
		if (!root->kids[k]->fixed)
			rows_measure(root->kids[k], row + root->offset, &s);
	if (s.wrong)
		return rows_wrong(r, row, max, s.wrong, e);
	run_done(out, rows_put_struct(root, row, run_room(out, s.bytes)), pos);
	return ST_OK;
}
