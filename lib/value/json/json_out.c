/* SPDX-License-Identifier: MIT */
#include "value/json/json_out.h"

#include <string.h>

#include "value/json/json_print.h"
#include "value/json/json_refuse.h"
#include "value/json/json_text.h"
#include "value/mp.h"
#include "value/num.h"
#include "value/tensor.h"

static uint8_t *
json_put_word(uint8_t *w, const char *word, size_t n)
{
	memcpy(w, word, n);
	return w + n;
}

static inline uint8_t *
json_put_int(uint8_t *w, const struct mp *h)
{
	return (uint8_t *)(h->unsigned_big ? num_print_uint(h->u, (char *)w)
			   : num_print_int(h->i, (char *)w));
}

static uint8_t *
json_put_ext(struct json_out *o, uint8_t *w, const struct mp *h)
{
	struct tensor t;

	if (h->ext != MP_EXT_TENSOR || !tensor_read(h->p, h->n, &t))
		return json_put_base64(o, w, h->p, h->n);
	o->b->len = (size_t)(w - o->b->data);
	o->refused |= !tensor_print(&t, &o->rules, o->b);
	return json_out_room_slow(o, o->b->data + o->b->len, 0);
}

/* Keys in JSON are strings: numbers and words are put in quotes, lists and records as base64
 * of their encoding (escaping their JSON would double it with each level). */
static struct json_at
json_put_key(struct json_out *o, struct json_at at, const uint8_t *end)
{
	const uint8_t *start = at.p;
	struct mp h;

	if ((*at.p & 0xe0) == 0xa0) {
		size_t n = *at.p & 31u;

		at.w = json_put_text(o, at.w, at.p + 1, n, end);
		at.p += 1 + n;
		*at.w++ = ':';
		return at;
	}
	at.p = mp_head(at.p, end, &h);
	switch (h.kind) {
	case MP_TEXT:
		at.w = json_put_text(o, at.w, h.p, h.n, end);
		break;
	case MP_BYTES:
		at.w = json_put_base64(o, at.w, h.p, h.n);
		break;
	case MP_LIST:
	case MP_RECORD:
	case MP_EXT:
		at.p = mp_skip(start, end);
		at.w = json_put_base64(o, at.w, start, (size_t)(at.p - start));
		break;
	default:
		at.w = json_out_room(o, at.w, 0);
		*at.w++ = '"';
		at.p = start;
		at = json_put(o, at, end);
		*at.w++ = '"';
		break;
	}
	*at.w++ = ':';
	return at;
}

static struct json_at
json_put_list(struct json_out *o, struct json_at at, const uint8_t *end, uint32_t n)
{
	at.w = json_out_room(o, at.w, 0);
	*at.w++ = '[';
	if (!n)
		*at.w++ = ','; /* will be overwritten */
	for (uint32_t i = 0; i < n; i++) {
		at = json_put(o, at, end);
		*at.w++ = ',';
	}
	at.w[-1] = ']';
	at.w = json_out_room(o, at.w, 0); /* a hundred may close at once */
	return at;
}

static struct json_at
json_put_record(struct json_out *o, struct json_at at, const uint8_t *end, uint32_t n)
{
	at.w = json_out_room(o, at.w, 0);
	*at.w++ = '{';
	if (!n)
		*at.w++ = ',';
	for (uint32_t i = 0; i < n; i++) {
		at = json_put_key(o, at, end);
		at = json_put(o, at, end);
		*at.w++ = ',';
	}
	at.w[-1] = '}';
	at.w = json_out_room(o, at.w, 0); /* a hundred may close at once */
	return at;
}

struct json_at
json_put(struct json_out *o, struct json_at at, const uint8_t *end)
{
	struct mp h;
	uint8_t c = *at.p;

	at.w = json_out_room(o, at.w, 0);
	if (c < 0x80) {
		at.w = (uint8_t *)num_print_uint(c, (char *)at.w);
		at.p++;
		return at;
	}
	if ((c & 0xe0) == 0xa0) {
		at.w = json_put_text(o, at.w, at.p + 1, c & 31u, end);
		at.p += 1 + (c & 31u);
		return at;
	}
	at.p = mp_head(at.p, end, &h);
	switch (h.kind) {
	case MP_NIL: at.w = json_put_word(at.w, "null", 4); break;
	case MP_BOOL: at.w = json_put_word(at.w, h.b ? "true" : "false", h.b ? 4 : 5); break;
	case MP_INT: at.w = json_put_int(at.w, &h); break;
	case MP_FLOAT: at.w = (uint8_t *)json_rules_float(&o->rules, h.f, &o->refused, (char *)at.w); break;
	case MP_TEXT: at.w = json_put_text(o, at.w, h.p, h.n, end); break;
	case MP_BYTES: at.w = json_put_base64(o, at.w, h.p, h.n); break;
	case MP_LIST: return json_put_list(o, at, end, h.n);
	case MP_RECORD: return json_put_record(o, at, end, h.n);
	case MP_EXT: at.w = json_put_ext(o, at.w, &h); break;
	case MP_BAD: at.p = end; break; /* impossible: the caller has checked */
	}
	return at;
}

struct json_at
text_put(struct json_out *o, struct json_at at, const uint8_t *end)
{
	const uint8_t *start = at.p;
	struct mp h;

	at.w = json_out_room(o, at.w, 0);
	switch (*at.p) { /* most numbers are one of these */
	case 0xcb:
		at.w += num_print_float(mp_f64(at.p + 1), (char *)at.w);
		at.p += 9;
		return at;
	case 0xcd:
		at.w = (uint8_t *)num_print_uint(mp_u16(at.p + 1), (char *)at.w);
		at.p += 3;
		return at;
	case 0xce:
		at.w = (uint8_t *)num_print_uint(mp_u32(at.p + 1), (char *)at.w);
		at.p += 5;
		return at;
	}
	at.p = mp_head(at.p, end, &h);
	switch (h.kind) {
	case MP_INT:
		at.w = json_put_int(at.w, &h);
		return at;
	case MP_FLOAT:
		at.w += num_print_float(h.f, (char *)at.w);
		return at;
	case MP_TEXT:
	case MP_BYTES:
		at.w = json_out_room(o, at.w, h.n);
		memcpy(at.w, h.p, h.n);
		at.w += h.n;
		return at;
	default:
		at.p = start;
		return json_put(o, at, end);
	}
}

static bool
json_print_by(const uint8_t *p, size_t len, const struct json_rules *rules, bool bare, struct buf *out)
{
	struct json_out o;
	struct json_at at = { json_out_begin(&o, out, rules), p };

	at = bare ? text_put(&o, at, p + len) : json_put(&o, at, p + len);
	json_out_end(&o, at.w);
	return !o.refused;
}

void
json_print(const uint8_t *p, size_t len, struct buf *out)
{
	json_print_by(p, len, &json_rules_shown, false, out);
}

void
text_print(const uint8_t *p, size_t len, struct buf *out)
{
	json_print_by(p, len, &json_rules_shown, true, out);
}

static enum status
json_write_by(const uint8_t *p, size_t len, const struct json_rules *rules, bool bare, struct buf *out,
	      struct err *e)
{
	size_t before = out->len;

	if (json_print_by(p, len, rules, bare, out))
		return ST_OK;
	out->len = before;
	return json_refuse(p, len, rules, e);
}

enum status
json_write(const uint8_t *p, size_t len, const struct json_rules *rules, struct buf *out, struct err *e)
{
	return json_write_by(p, len, rules, false, out, e);
}

enum status
text_write(const uint8_t *p, size_t len, const struct json_rules *rules, struct buf *out, struct err *e)
{
	return json_write_by(p, len, rules, true, out, e);
}
