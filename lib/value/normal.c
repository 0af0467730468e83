/* SPDX-License-Identifier: MIT */
#include "value/normal.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "value/mp.h"

enum { NORMAL_FEW = 16 };

struct normal_pair {
	const uint8_t *key, *value;
};

/* Puts a float: a whole number that fits 64 bits becomes an int, and there is only one nan. */
static uint8_t *
normal_put_float(uint8_t *w, double f)
{
	if (f >= -0x1p63 && f < 0x1p63 && (double)(int64_t)f == f)
		return mp_put_int(w, (int64_t)f);
	if (f >= 0x1p63 && f < 0x1p64)
		return mp_put_uint(w, (uint64_t)f);
	return mp_put_float(w, isnan(f) ? (double)NAN : f);
}

static uint8_t *
normal_put_head(uint8_t *w, const struct mp *m)
{
	switch (m->kind) {
	case MP_INT: return m->unsigned_big ? mp_put_uint(w, m->u) : mp_put_int(w, m->i);
	case MP_FLOAT: return normal_put_float(w, m->f);
	case MP_TEXT: return mp_put_text_head(w, m->n);
	case MP_BYTES: return mp_put_bytes_head(w, m->n);
	case MP_LIST: return mp_put_list_head(w, m->n);
	case MP_RECORD: return mp_put_record_head(w, m->n);
	case MP_EXT: return mp_put_ext_head(w, m->ext, m->n);
	case MP_BOOL: return mp_put_bool(w, m->b);
	default: return mp_put_nil(w);
	}
}

static int
normal_names(const uint8_t *a, const uint8_t *a_end, const uint8_t *b, const uint8_t *b_end)
{
	return mp_compare(a, (size_t)(a_end - a), b, (size_t)(b_end - b));
}

/* Whether the value at p is in normal form, and its end. Depth is bounded, because the bytes
 * were checked. */
static bool
normal_is(const uint8_t *p, const uint8_t *end, const uint8_t **next)
{
	uint8_t head[MP_FLOAT_MAX];
	const uint8_t *before = NULL, *before_end = NULL;
	struct mp m;

	if (*p < 0x80 || (*p >= 0xa0 && *p <= 0xc3)) { /* the usual ones */
		*next = p + (*p >= 0xa0 && *p < 0xc0 ? 1 + (*p & 31) : 1);
		return true;
	}
	if ((*p == 0xcc && p[1] >= 0x80) || (*p == 0xcd && p[1]) || (*p == 0xce && (p[1] | p[2]))) { /* ints */
		*next = p + 2 + (*p > 0xcc) + 2 * (*p > 0xcd);
		return true;
	}
	*next = mp_head(p, end, &m);
	size_t n = (size_t)(normal_put_head(head, &m) - head);
	/* the first byte tells how many there are */
	if (*p != *head || memcmp(p, head, n))
		return false;
	if (m.kind != MP_LIST && m.kind != MP_RECORD)
		return true;
	p = m.p;
	for (uint32_t i = 0; i < m.n; i++) {
		const uint8_t *name = p;

		if (!normal_is(p, end, &p))
			return false;
		if (m.kind == MP_LIST)
			continue;
		if (before && normal_names(before, before_end, name, p) > 0)
			return false;
		before = name;
		before_end = p;
		if (!normal_is(p, end, &p))
			return false;
	}
	*next = p;
	return true;
}

static const uint8_t *normal_put(const uint8_t *p, const uint8_t *end, struct buf *b);

static int
normal_order(const void *x, const void *y)
{
	const struct normal_pair *a = x, *b = y;

	return normal_names(a->key, a->value, b->key, b->value);
}

static const uint8_t *
normal_put_pairs(const uint8_t *p, const uint8_t *end, uint32_t n, struct buf *b)
{
	struct normal_pair few[NORMAL_FEW], *pairs = n > NORMAL_FEW ? mem_array(n, sizeof *pairs) : few;

	for (uint32_t i = 0; i < n; i++) {
		pairs[i].key = p;
		pairs[i].value = mp_skip(p, end);
		p = mp_skip(pairs[i].value, end);
	}
	qsort(pairs, n, sizeof *pairs, normal_order);
	for (uint32_t i = 0; i < n; i++) {
		normal_put(pairs[i].key, end, b);
		normal_put(pairs[i].value, end, b);
	}
	if (pairs != few)
		mem_free(pairs);
	return p;
}

/* Writes the normal form of the value at p; gives the end of the value. */
static const uint8_t *
normal_put(const uint8_t *p, const uint8_t *end, struct buf *b)
{
	struct mp m;
	const uint8_t *next = mp_head(p, end, &m);
	uint8_t *w = buf_room(b, MP_FLOAT_MAX);

	b->len += (size_t)(normal_put_head(w, &m) - w);
	switch (m.kind) {
	case MP_TEXT:
	case MP_BYTES:
	case MP_EXT:
		buf_put(b, m.p, m.n);
		return next;
	case MP_LIST:
		for (p = m.p; m.n; m.n--)
			p = normal_put(p, end, b);
		return p;
	case MP_RECORD:
		return normal_put_pairs(m.p, end, m.n, b);
	default:
		return next;
	}
}

const uint8_t *
normal_key(const uint8_t *p, size_t *n, struct buf *b)
{
	const uint8_t *next;

	if (normal_is(p, p + *n, &next))
		return p;
	buf_reset(b);
	normal_put(p, p + *n, b);
	*n = b->len;
	return b->data;
}
