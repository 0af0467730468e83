/* SPDX-License-Identifier: MIT */
#include "op/columns.h"

#include <string.h>

#include "base/mem.h"
#include "value/mp.h"

void
columns_clear(struct columns *c)
{
	for (uint32_t k = 0; k < c->cap; k++)
		buf_clear(&c->v[k].values);
	mem_free(c->v);
	*c = (struct columns){ 0 };
}

bool
columns_is_record(const struct elem *e)
{
	return (e->p[0] & 0xf0) == 0x80 || e->p[0] == 0xde || e->p[0] == 0xdf;
}

static bool
columns_is(const struct column *c, const uint8_t *key, uint32_t len)
{
	return c->key_len == len && !memcmp(c->key, key, len);
}

static struct column *
columns_add(struct columns *c, const uint8_t *key, uint32_t len)
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

/* Most records have the same fields in the same order: then `guess` is it. */
static struct column *
columns_find(struct columns *c, uint32_t guess, const uint8_t *key, uint32_t len)
{
	if (guess < c->n && columns_is(&c->v[guess], key, len))
		return &c->v[guess];
	for (uint32_t k = 0; k < c->n; k++)
		if (columns_is(&c->v[k], key, len))
			return &c->v[k];
	return c->n < COLUMNS_MAX ? columns_add(c, key, len) : NULL;
}

static void
columns_fill(struct column *col, uint32_t n)
{
	if (col->n >= n)
		return;
	memset(buf_room(&col->values, n - col->n), 0xc0, n - col->n);
	col->values.len += n - col->n;
	col->n = n;
}

static bool
columns_record(struct columns *c, const struct elem *e, uint32_t row)
{
	const uint8_t *end = e->p + e->len, *p, *value;
	struct mp rec;

	mp_head(e->p, end, &rec);
	p = rec.p;
	for (uint32_t k = 0; k < rec.n; k++) {
		const uint8_t *key = p;

		value = mp_skip(p, end);
		p = mp_skip(value, end);
		struct column *col = columns_find(c, k, key, (uint32_t)(value - key));
		if (!col)
			return false;
		if (col->n > row)
			continue; /* a field that is there twice */
		columns_fill(col, row);
		buf_put(&col->values, value, (size_t)(p - value));
		col->n++;
	}
	return true;
}

enum status
columns_build(struct columns *c, const struct elem *e, uint32_t n, struct run *out, struct err *err)
{
	size_t size = MP_HEAD_MAX;

	c->n = 0;
	for (uint32_t i = 0; i < n; i++)
		if (!columns_record(c, &e[i], i))
			return err_set(err, ST_DATA, "records with more than %d different fields",
				       COLUMNS_MAX);
	for (uint32_t k = 0; k < c->n; k++) {
		columns_fill(&c->v[k], n);
		size += MP_HEAD_MAX + c->v[k].key_len + c->v[k].values.len;
	}
	if (size > UINT32_MAX)
		return err_set(err, ST_DATA, "a record of lists would have %zu bytes", size);

	uint8_t *p = mp_put_record_head(run_room(out, size), c->n);
	for (uint32_t k = 0; k < c->n; k++) {
		const struct column *col = &c->v[k];

		memcpy(p, col->key, col->key_len);
		p = mp_put_list_head(p + col->key_len, n);
		if (col->values.len)
			memcpy(p, col->values.data, col->values.len);
		p += col->values.len;
	}
	run_done(out, p, e[n - 1].pos);
	return ST_OK;
}
