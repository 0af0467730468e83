/* SPDX-License-Identifier: MIT */
#include "value/split.h"

#include <string.h>

#include "base/mem.h"
#include "value/mp.h"

enum { SPLIT_FIELDS = 12, SPLIT_PATH_MAX = 4096, SPLIT_TAG_MAX = 512 };

void
split_clear(struct split *s)
{
	mem_free(s->path);
	mem_free(s->tag);
	memset(s, 0, sizeof *s);
}

void
split_copy(struct split *to, const struct split *from)
{
	*to = *from;
	to->path = mem_strdup(from->path);
	to->tag = mem_strdup(from->tag);
}

void
split_list_add(struct split_list *l, const struct split *s)
{
	l->v = mem_grow(l->v, &l->cap, l->n + 1, sizeof *l->v);
	split_copy(&l->v[l->n++], s);
}

void
split_list_clear(struct split_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		split_clear(&l->v[i]);
	mem_free(l->v);
	memset(l, 0, sizeof *l);
}

/* Upper bound for the bytes that split_encode writes. */
static size_t
split_bytes(const struct split *s)
{
	return SPLIT_FIELDS * MP_INT_MAX + 2 * MP_HEAD_MAX + (s->path ? strlen(s->path) : 0) + (s->tag ? strlen(s->tag) : 0);
}

uint64_t
split_list_names(const struct split_list *l)
{
	uint64_t sum = 0, one;

	for (size_t i = 0; i < l->n; i++) {
		const char *p = l->v[i].kind == SPLIT_FILE ? l->v[i].path : NULL;

		if (!p)
			continue;
		one = 0xcbf29ce484222325u;
		for (; *p; p++)
			one = (one ^ (uint8_t)*p) * 0x100000001b3u;
		one ^= one >> 32;
		sum += one * 0x9e3779b97f4a7c15u | 1; /* in whatever order they stand */
	}
	return sum;
}

size_t
split_list_part(const struct split_list *l, size_t at, size_t most, size_t bytes)
{
	size_t n = 0, sum = 0;

	for (; at + n < l->n && n < most; n++) {
		sum += split_bytes(&l->v[at + n]);
		if (n && sum > bytes)
			break;
	}
	return n;
}

void
split_encode(const struct split *s, struct buf *out)
{
	size_t path = s->path ? strlen(s->path) : 0, tag = s->tag ? strlen(s->tag) : 0;
	uint8_t *start = buf_room(out, split_bytes(s)), *p = start;

	p = mp_put_list_head(p, SPLIT_FIELDS);
	p = mp_put_uint(p, s->kind);
	p = mp_put_uint(p, s->leaf);
	p = mp_put_bool(p, s->whole);
	p = mp_put_bool(p, s->cuttable);
	p = s->path ? mp_put_text(p, s->path, (uint32_t)path) : mp_put_nil(p);
	p = mp_put_uint(p, s->start);
	p = mp_put_uint(p, s->count);
	p = mp_put_uint(p, s->times);
	p = mp_put_uint(p, s->weight);
	p = mp_put_uint(p, s->of);
	p = mp_put_bool(p, s->grows);
	p = s->tag ? mp_put_text(p, s->tag, (uint32_t)tag) : mp_put_nil(p);
	out->len += (size_t)(p - start);
}

static bool
split_uint(const uint8_t **p, const uint8_t *end, uint64_t max, uint64_t *out)
{
	struct mp m;
	const uint8_t *next = mp_head(*p, end, &m);

	if (!next || m.kind != MP_INT || (!m.unsigned_big && m.i < 0) || m.u > max)
		return false;
	*out = m.u;
	*p = next;
	return true;
}

static bool
split_bool(const uint8_t **p, const uint8_t *end, bool *out)
{
	struct mp m;
	const uint8_t *next = mp_head(*p, end, &m);

	if (!next || m.kind != MP_BOOL)
		return false;
	*out = m.b;
	*p = next;
	return true;
}

/* Reads a path or a tag, lent; NULL for nil. A NUL inside would make it another one. */
static bool
split_text(const uint8_t **p, const uint8_t *end, uint32_t max, const uint8_t **path, uint32_t *len)
{
	struct mp m;
	const uint8_t *next = mp_head(*p, end, &m);

	*path = NULL;
	*len = 0;
	if (!next || (m.kind != MP_NIL && m.kind != MP_TEXT))
		return false;
	if (m.kind == MP_TEXT) {
		if (m.n == 0 || m.n >= max || memchr(m.p, 0, m.n))
			return false;
		*path = m.p;
		*len = m.n;
	}
	*p = next;
	return true;
}

enum status
split_decode(const uint8_t *p, size_t n, struct split *out, struct err *e)
{
	const uint8_t *end = p + n, *path = NULL, *tag = NULL;
	struct split s = { 0 };
	struct mp m;
	uint64_t kind, leaf;
	uint32_t len = 0, tag_len = 0;

	p = mp_head(p, end, &m);
	bool good = p && m.kind == MP_LIST && m.n == SPLIT_FIELDS
		&& split_uint(&p, end, SPLIT_FILE, &kind) && split_uint(&p, end, UINT32_MAX, &leaf)
		&& split_bool(&p, end, &s.whole) && split_bool(&p, end, &s.cuttable)
		&& split_text(&p, end, SPLIT_PATH_MAX, &path, &len) && split_uint(&p, end, INT64_MAX, &s.start)
		&& split_uint(&p, end, INT64_MAX, &s.count) && split_uint(&p, end, INT64_MAX, &s.times)
		&& split_uint(&p, end, UINT64_MAX, &s.weight) && split_uint(&p, end, INT64_MAX, &s.of)
		&& split_bool(&p, end, &s.grows) && split_text(&p, end, SPLIT_TAG_MAX, &tag, &tag_len);
	if (!good || p != end || s.times == 0 || (kind == SPLIT_FILE) != (path != NULL) || (tag && !path) ||
	    (s.grows && kind != SPLIT_RANGE))
		return err_set(e, ST_PROTO, "malformed split of %zu bytes", n);
	s.kind = (enum split_kind)kind;
	s.leaf = (uint32_t)leaf;
	s.path = path ? mem_strndup((const char *)path, len) : NULL;
	s.tag = tag ? mem_strndup((const char *)tag, tag_len) : NULL;
	*out = s;
	return ST_OK;
}
