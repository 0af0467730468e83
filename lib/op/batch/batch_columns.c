/* SPDX-License-Identifier: MIT */
#include "op/batch/batch_columns.h"

#include <string.h>

#include "base/mem.h"
#include "value/mp.h"

void
batch_columns_clear(struct batch_columns *c)
{
	for (uint32_t k = 0; k < c->cap; k++)
		buf_clear(&c->v[k].values);
	mem_free(c->v);
	*c = (struct batch_columns){ 0 };
}

bool
batch_columns_is_record(const struct elem *e)
{
	return (e->p[0] & 0xf0) == 0x80 || e->p[0] == 0xde || e->p[0] == 0xdf;
}

static bool
batch_columns_is(const struct column *c, const uint8_t *key, uint32_t len)
{
	return c->key_len == len && !memcmp(c->key, key, len);
}

static struct column *
batch_columns_add(struct batch_columns *c, const uint8_t *key, uint32_t len)
{
	if (c->n == c->cap) {
		size_t cap = c->cap;

		c->v = mem_grow(c->v, &cap, cap + 8, sizeof *c->v);
		memset(c->v + c->cap, 0, (cap - c->cap) * sizeof *c->v);
		c->cap = (uint32_t)cap;
	}
	struct column *col = &c->v[c->n++];
	col->key = key;
	col->key_len = len;
	col->n = 0;
	buf_reset(&col->values);
	return col;
}

/* Finds the column of a key. Most records have the same fields in the same order, so the
 * column `guess` is tried first. */
static struct column *
batch_columns_find(struct batch_columns *c, uint32_t guess, const uint8_t *key, uint32_t len)
{
	if (guess < c->n && batch_columns_is(&c->v[guess], key, len))
		return &c->v[guess];
	for (uint32_t k = 0; k < c->n; k++)
		if (batch_columns_is(&c->v[k], key, len))
			return &c->v[k];
	return c->n < BATCH_COLUMNS_MAX ? batch_columns_add(c, key, len) : NULL;
}

static void
batch_columns_fill(struct column *col, uint32_t n)
{
	if (col->n >= n)
		return;
	memset(buf_room(&col->values, n - col->n), 0xc0, n - col->n);
	col->values.len += n - col->n;
	col->n = n;
}

static bool
batch_columns_record(struct batch_columns *c, const struct elem *e, uint32_t row)
{
	const uint8_t *end = e->p + e->len, *p, *value;
	struct mp rec;

	mp_head(e->p, end, &rec);
	p = rec.p;
	for (uint32_t k = 0; k < rec.n; k++) {
		const uint8_t *key = p;

		value = mp_skip(p, end);
		p = mp_skip(value, end);
		struct column *col = batch_columns_find(c, k, key, (uint32_t)(value - key));
		if (!col)
			return false;
		if (col->n > row)
			continue; /* a field that appears twice: the first counts */
		batch_columns_fill(col, row);
		buf_put(&col->values, value, (size_t)(p - value));
		col->n++;
	}
	return true;
}

/* Decides what a column becomes; gives its size, 0: its values cannot be put together. */
static size_t
batch_columns_rows(const struct column *col, enum batch_rows_as as, size_t max,
		   struct batch_rows *r, struct err *err)
{
	const uint8_t *p = col->values.data, *end = buf_end(&col->values);

	batch_rows_begin(r, as);
	if (as == BATCH_ROWS_LIST) {
		r->n = col->n;
		r->bytes = col->values.len;
	}
	while (as != BATCH_ROWS_LIST && p < end) {
		const uint8_t *to = mp_skip(p, end);

		batch_rows_look(r, p, (size_t)(to - p));
		p = to;
		if (as == BATCH_ROWS_AUTO && r->tensors < r->n) {
			r->n = col->n; /* a list, whatever the remaining values are */
			r->bytes = col->values.len;
			break;
		}
	}
	return batch_rows_size(r, max, err);
}

static uint8_t *
batch_columns_put(const struct column *col, struct batch_rows *r, uint8_t *w, struct err *err)
{
	const uint8_t *p = col->values.data, *end = buf_end(&col->values);

	memcpy(w, col->key, col->key_len);
	w = batch_rows_head(r, w + col->key_len);
	if (!r->tensor) {
		memcpy(w, p, col->values.len);
		return w + col->values.len;
	}
	while (w && p < end) {
		const uint8_t *to = mp_skip(p, end);

		w = batch_rows_put(r, w, p, (size_t)(to - p), err);
		p = to;
	}
	return w;
}

enum status
batch_columns_build(struct batch_columns *c, const struct elem *e, uint32_t n,
		    enum batch_rows_as as, size_t max, struct run *out, struct err *err)
{
	size_t size = MP_HEAD_MAX;
	struct batch_rows r;

	c->n = 0;
	for (uint32_t i = 0; i < n; i++)
		if (!batch_columns_record(c, &e[i], i))
			return err_set(err, ST_DATA, "records with more than %d different fields",
				       BATCH_COLUMNS_MAX);
	for (uint32_t k = 0; k < c->n; k++) {
		batch_columns_fill(&c->v[k], n);
		size_t part = batch_columns_rows(&c->v[k], as, max, &r, err);
		if (!part)
			return ST_DATA;
		size += c->v[k].key_len + part;
	}
	if (size > UINT32_MAX)
		return err_set(err, ST_DATA, "a record of lists would have %zu bytes", size);

	uint8_t *p = mp_put_record_head(run_room(out, size), c->n);
	for (uint32_t k = 0; p && k < c->n; k++) {
		batch_columns_rows(&c->v[k], as, max, &r, err);
		p = batch_columns_put(&c->v[k], &r, p, err);
	}
	if (!p)
		return ST_DATA;
	run_done(out, p, e[n - 1].pos);
	return ST_OK;
}
