/* SPDX-License-Identifier: MIT */
#include "value/record_put.h"

#include <string.h>

static void
record_put_bytes(struct buf *b, const void *text, size_t n)
{
	uint8_t *p = buf_room(b, n + MP_HEAD_MAX);

	b->len += (size_t)(mp_put_text(p, text, (uint32_t)n) - p);
}

void
record_put_key(struct buf *b, const char *text)
{
	record_put_bytes(b, text, strlen(text));
}

void
record_put_head(struct buf *b, uint32_t fields)
{
	uint8_t *p = buf_room(b, MP_HEAD_MAX);

	b->len += (size_t)(mp_put_record_head(p, fields) - p);
}

void
record_put_list(struct buf *b, const char *key, size_t items)
{
	record_put_key(b, key);
	uint8_t *p = buf_room(b, MP_HEAD_MAX);
	b->len += (size_t)(mp_put_list_head(p, (uint32_t)items) - p);
}

void
record_put_text(struct buf *b, const char *key, const char *text)
{
	record_put_key(b, key);
	record_put_bytes(b, text ? text : "", text ? strlen(text) : 0);
}

void
record_put_bool(struct buf *b, const char *key, bool v)
{
	record_put_key(b, key);
	buf_byte(b, v ? 0xc3 : 0xc2);
}

void
record_put_nil(struct buf *b, const char *key)
{
	record_put_key(b, key);
	buf_byte(b, 0xc0);
}

void
record_put_mp(struct buf *b, const char *key, struct mp text)
{
	record_put_key(b, key);
	record_put_bytes(b, text.n ? (const char *)text.p : "", text.n);
}

void
record_put_uint(struct buf *b, const char *key, uint64_t v)
{
	record_put_key(b, key);
	uint8_t *p = buf_room(b, MP_INT_MAX);
	b->len += (size_t)(mp_put_uint(p, v) - p);
}

void
record_put_int(struct buf *b, const char *key, int64_t v)
{
	record_put_key(b, key);
	uint8_t *p = buf_room(b, MP_INT_MAX);
	b->len += (size_t)(mp_put_int(p, v) - p);
}

void
record_put_float(struct buf *b, const char *key, double v)
{
	record_put_key(b, key);
	uint8_t *p = buf_room(b, MP_FLOAT_MAX);
	b->len += (size_t)(mp_put_float(p, v) - p);
}
