/* SPDX-License-Identifier: MIT */
#include "wire/msg.h"

#include <assert.h>
#include <string.h>

#include "base/mem.h"
#include "value/mp.h"
#include "wire/field.h"

static void *
msg_place(const void *base, const struct field *f)
{
	return (char *)(uintptr_t)base + f->offset;
}

static const struct msg_desc *
msg_known(unsigned type)
{
	const struct msg_desc *d = msg_desc(type);

	assert(d);
	return d;
}

static uint32_t
msg_count(const struct field *rows)
{
	uint32_t n = 0;

	while (rows[n].kind)
		n++;
	return n;
}

/* Encoding */

static void
msg_put_uint(struct buf *out, uint64_t v)
{
	uint8_t *p = buf_room(out, MP_INT_MAX);

	out->len += (size_t)(mp_put_uint(p, v) - p);
}

static void
msg_put_head(struct buf *out, enum mp_kind kind, size_t n)
{
	uint8_t *p = buf_room(out, MP_HEAD_MAX);

	out->len += (size_t)(mp_put_head_slow(p, kind, (uint32_t)n) - p);
}

static void
msg_put_text(struct buf *out, const char *s)
{
	size_t n = s ? strlen(s) : 0;

	msg_put_head(out, MP_TEXT, n);
	buf_put(out, s, n);
}

static void
msg_put_ranges(struct buf *out, const struct ranges *r)
{
	uint64_t at = 0;

	msg_put_head(out, MP_LIST, 2 * r->n);
	for (size_t i = 0; i < r->n; i++) {
		msg_put_uint(out, r->v[i].start - at);
		msg_put_uint(out, r->v[i].end - r->v[i].start);
		at = r->v[i].end;
	}
}

static void msg_put_fields(struct buf *out, const struct field *rows, const void *base);

static void
msg_put_field(struct buf *out, const struct field *f, const void *at)
{
	const struct bytes *b = at;
	const struct words *w = at;
	const struct split_list *s = at;
	const struct field_list *l = at;

	switch (f->kind) {
	case FIELD_NONE: break;
	case FIELD_U32: msg_put_uint(out, *(const uint32_t *)at); break;
	case FIELD_U64: msg_put_uint(out, *(const uint64_t *)at); break;
	case FIELD_BOOL: buf_byte(out, *(const bool *)at ? 0xc3 : 0xc2); break;
	case FIELD_TEXT: msg_put_text(out, *(char *const *)at); break;
	case FIELD_BYTES:
		msg_put_head(out, MP_BYTES, b->n);
		buf_put(out, b->p, b->n);
		break;
	case FIELD_RANGES: msg_put_ranges(out, at); break;
	case FIELD_WORDS:
		msg_put_head(out, MP_LIST, w->n);
		for (size_t i = 0; i < w->n; i++)
			msg_put_text(out, w->v[i]);
		break;
	case FIELD_SPLITS:
		msg_put_head(out, MP_LIST, s->n);
		for (size_t i = 0; i < s->n; i++)
			split_encode(&s->v[i], out);
		break;
	case FIELD_LIST:
		msg_put_head(out, MP_LIST, l->n);
		for (size_t i = 0; i < l->n; i++) {
			msg_put_head(out, MP_LIST, msg_count(f->item));
			msg_put_fields(out, f->item, (const char *)l->v + i * f->item_size);
		}
		break;
	}
}

static void
msg_put_fields(struct buf *out, const struct field *rows, const void *base)
{
	for (const struct field *f = rows; f->kind; f++)
		msg_put_field(out, f, msg_place(base, f));
}

void
msg_encode(const struct msg *m, struct buf *out)
{
	const struct msg_desc *d = msg_known(m->type);

	msg_put_head(out, MP_LIST, 2 + msg_count(d->fields));
	msg_put_uint(out, m->type);
	msg_put_uint(out, m->req);
	msg_put_fields(out, d->fields, &m->hello);
}

/* Decoding */

struct msg_in {
	const uint8_t *p, *end;
	const char *name; /* name of the message */
	struct err *e;
};

static enum status
msg_bad(struct msg_in *in, const struct field *f, const char *why)
{
	return err_set(in->e, ST_PROTO, "malformed %s message: field `%s` %s",
		       in->name, f->name, why);
}

static enum status
msg_get_uint(struct msg_in *in, const struct field *f, uint64_t max, uint64_t *out)
{
	struct mp h;

	in->p = mp_head(in->p, in->end, &h);
	if (!in->p || h.kind != MP_INT || (h.i < 0 && !h.unsigned_big))
		return msg_bad(in, f, "is not a number from 0 on");
	if (h.u > max)
		return msg_bad(in, f, "is too large");
	*out = h.u;
	return ST_OK;
}

/* Also checks that the rest of the message has room for n items. */
static enum status
msg_get_list(struct msg_in *in, const struct field *f, uint64_t max, size_t *n)
{
	struct mp h;

	in->p = mp_head(in->p, in->end, &h);
	if (!in->p || h.kind != MP_LIST)
		return msg_bad(in, f, "is not a list");
	if (h.n > max || h.n > (size_t)(in->end - in->p))
		return msg_bad(in, f, "has too many items");
	*n = h.n;
	return ST_OK;
}

static enum status
msg_get_text(struct msg_in *in, const struct field *f, uint64_t max, char **out)
{
	struct mp h;

	in->p = mp_head(in->p, in->end, &h);
	if (!in->p || h.kind != MP_TEXT)
		return msg_bad(in, f, "is not a text");
	if (h.n > max)
		return msg_bad(in, f, "is too long");
	if (memchr(h.p, 0, h.n))
		return msg_bad(in, f, "has a NUL in it");
	*out = h.n ? mem_strndup((const char *)h.p, h.n) : NULL;
	return ST_OK;
}

static enum status
msg_get_bytes(struct msg_in *in, const struct field *f, struct bytes *out)
{
	struct mp h;

	in->p = mp_head(in->p, in->end, &h);
	if (!in->p || h.kind != MP_BYTES)
		return msg_bad(in, f, "is not bytes");
	if (h.n > f->max)
		return msg_bad(in, f, "is too long");
	out->n = h.n;
	out->p = h.n ? mem_dup(h.p, h.n) : NULL;
	return ST_OK;
}

static enum status
msg_get_ranges(struct msg_in *in, const struct field *f, struct ranges *out)
{
	uint64_t at = 0, gap, count;
	size_t n;
	enum status st = msg_get_list(in, f, 2 * f->max, &n);

	if (st)
		return st;
	if (n & 1)
		return msg_bad(in, f, "has an odd number of items");
	out->v = n ? mem_array(n / 2, sizeof *out->v) : NULL;
	for (size_t i = 0; i < n / 2; i++) {
		if ((st = msg_get_uint(in, f, UINT64_MAX, &gap)) ||
		    (st = msg_get_uint(in, f, UINT64_MAX, &count)))
			return st;
		if (!count || (i && !gap) || gap > INT64_MAX - at || count > INT64_MAX - at - gap)
			return msg_bad(in, f, "has ranges that touch or have no end");
		out->v[i] = (struct range){ at + gap, at + gap + count };
		at += gap + count;
		out->n = i + 1;
	}
	return ST_OK;
}

static enum status
msg_get_words(struct msg_in *in, const struct field *f, struct words *out)
{
	size_t n;
	enum status st = msg_get_list(in, f, f->max, &n);

	if (st)
		return st;
	out->v = n ? mem_array(n, sizeof *out->v) : NULL;
	for (size_t i = 0; i < n; i++) {
		char *s = NULL;

		if ((st = msg_get_text(in, f, WIRE_NAME_MAX, &s)))
			return st;
		out->v[out->n++] = s ? s : mem_strdup("");
	}
	return ST_OK;
}

static enum status
msg_get_splits(struct msg_in *in, const struct field *f, struct split_list *out)
{
	size_t n;
	enum status st = msg_get_list(in, f, f->max, &n);

	if (st)
		return st;
	out->v = n ? mem_array(n, sizeof *out->v) : NULL;
	out->cap = n;
	for (size_t i = 0; i < n; i++) {
		const uint8_t *next = mp_skip(in->p, in->end);

		if (!next)
			return msg_bad(in, f, "is cut short");
		if ((st = split_decode(in->p, (size_t)(next - in->p), &out->v[i], in->e)))
			return err_wrap(in->e, "malformed %s message: field `%s`", in->name, f->name), ST_PROTO;
		out->n = i + 1;
		in->p = next;
	}
	return ST_OK;
}

static enum status msg_get_fields(struct msg_in *in, const struct field *rows, void *base);

static enum status
msg_get_items(struct msg_in *in, const struct field *f, struct field_list *out)
{
	size_t n, fields;
	enum status st = msg_get_list(in, f, f->max, &n);

	if (st)
		return st;
	out->v = n ? mem_array(n, f->item_size) : NULL;
	for (size_t i = 0; i < n; i++) {
		if ((st = msg_get_list(in, f, 64, &fields)))
			return st;
		if (fields != msg_count(f->item))
			return msg_bad(in, f, "has an item with another number of fields");
		out->n = i + 1;
		if ((st = msg_get_fields(in, f->item, (char *)out->v + i * f->item_size)))
			return st;
	}
	return ST_OK;
}

static enum status
msg_get_field(struct msg_in *in, const struct field *f, void *at)
{
	struct field_list_cap *grown = at;
	uint64_t v = 0;
	struct mp h;
	enum status st = ST_OK;

	switch (f->kind) {
	case FIELD_NONE: break;
	case FIELD_U32:
		st = msg_get_uint(in, f, f->max ? f->max : UINT32_MAX, &v);
		*(uint32_t *)at = (uint32_t)v;
		break;
	case FIELD_U64:
		st = msg_get_uint(in, f, f->max ? f->max : UINT64_MAX, at);
		break;
	case FIELD_BOOL:
		in->p = mp_head(in->p, in->end, &h);
		if (!in->p || h.kind != MP_BOOL)
			return msg_bad(in, f, "is not true or false");
		*(bool *)at = h.b;
		break;
	case FIELD_TEXT: st = msg_get_text(in, f, f->max, at); break;
	case FIELD_BYTES: st = msg_get_bytes(in, f, at); break;
	case FIELD_RANGES: st = msg_get_ranges(in, f, at); break;
	case FIELD_WORDS: st = msg_get_words(in, f, at); break;
	case FIELD_SPLITS: st = msg_get_splits(in, f, at); break;
	case FIELD_LIST: st = msg_get_items(in, f, at); break;
	}
	if (f->cap)
		grown->cap = grown->n;
	return st;
}

static enum status
msg_get_fields(struct msg_in *in, const struct field *rows, void *base)
{
	for (const struct field *f = rows; f->kind; f++) {
		enum status st = msg_get_field(in, f, msg_place(base, f));
		if (st)
			return st;
	}
	return ST_OK;
}

/* HELLOs of other versions may look different behind the version. */
static enum status
msg_decode_fields(struct msg_in *in, uint32_t n, struct msg *out)
{
	const struct msg_desc *d = msg_known(out->type);
	enum status st;

	if (out->type == MSG_HELLO && n > 2) {
		const uint8_t *start = in->p;

		st = msg_get_field(in, &d->fields[0], &out->hello.version);
		if (st || out->hello.version != WIRE_VERSION)
			return st;
		in->p = start;
	}
	if (n != 2 + msg_count(d->fields))
		return err_set(in->e, ST_PROTO, "malformed %s message: %u fields instead of %u",
			       in->name, n < 2 ? 0 : n - 2, msg_count(d->fields));
	st = msg_get_fields(in, d->fields, &out->hello);
	if (!st && in->p != in->end)
		st = err_set(in->e, ST_PROTO, "malformed %s message: bytes after its end", in->name);
	return st;
}

enum status
msg_decode(const uint8_t *p, size_t n, struct msg *out, struct err *e)
{
	struct msg_in in = { p, p + n, "?", e };
	static const struct field type_field = { .name = "type" }, req_field = { .name = "request" };
	uint64_t type;
	struct mp h;
	enum status st;

	*out = (struct msg){ 0 };
	in.p = mp_head(in.p, in.end, &h);
	if (!in.p || h.kind != MP_LIST || h.n < 2)
		return err_set(e, ST_PROTO, "malformed message: not a list of at least two");
	uint32_t fields = h.n;
	if ((st = msg_get_uint(&in, &type_field, UINT32_MAX, &type)) ||
	    (st = msg_get_uint(&in, &req_field, UINT64_MAX, &out->req)))
		return st;
	if (!msg_desc((unsigned)type)) {
		out->req = 0;
		return err_set(e, ST_PROTO, "unknown message type %llu", (unsigned long long)type);
	}
	out->type = (enum msg_type)type;
	in.name = msg_name(out->type);
	if (n > msg_frame_max(out->type))
		st = err_set(e, ST_PROTO, "malformed %s message: %zu bytes, more than its limit of %zu",
			     in.name, n, msg_frame_max(out->type));
	else
		st = msg_decode_fields(&in, fields, out);
	if (st)
		msg_clear(out);
	return st;
}

/* Freeing */

static void
msg_clear_field(const struct field *f, void *at)
{
	struct field_list_cap *grown = at;
	struct field_list *l = at;

	if (f->cap)
		grown->cap = 0;
	switch (f->kind) {
	case FIELD_TEXT:
		mem_free(*(char **)at);
		*(char **)at = NULL;
		break;
	case FIELD_BYTES:
		mem_free(((struct bytes *)at)->p);
		*(struct bytes *)at = (struct bytes){ 0 };
		break;
	case FIELD_RANGES:
		mem_free(((struct ranges *)at)->v);
		*(struct ranges *)at = (struct ranges){ 0 };
		break;
	case FIELD_WORDS: words_clear(at); break;
	case FIELD_SPLITS: split_list_clear(at); break;
	case FIELD_LIST:
		for (size_t i = 0; i < l->n; i++)
			fields_clear(f->item, (char *)l->v + i * f->item_size);
		mem_free(l->v);
		*l = (struct field_list){ 0 };
		break;
	default: break;
	}
}

/* Leaves zeros: clearing twice is harmless. */
void
fields_clear(const struct field *rows, void *base)
{
	for (const struct field *f = rows; f->kind; f++)
		msg_clear_field(f, msg_place(base, f));
}

void
msg_clear(struct msg *m)
{
	const struct msg_desc *d = msg_desc(m->type);

	if (d)
		fields_clear(d->fields, &m->hello);
	*m = (struct msg){ 0 };
}

void
fields_encode(const struct field *rows, const void *base, struct buf *out)
{
	msg_put_head(out, MP_LIST, msg_count(rows));
	msg_put_fields(out, rows, base);
}

enum status
fields_decode(const char *name, const struct field *rows, const uint8_t *p, size_t n,
	      void *base, struct err *e)
{
	struct msg_in in = { p, p + n, name, e };
	struct field whole = { .name = "all", .max = 64 };
	size_t count = 0;
	enum status st = msg_get_list(&in, &whole, 64, &count);

	if (!st && count != msg_count(rows))
		st = msg_bad(&in, &whole, "has another number of items");
	if (!st)
		st = msg_get_fields(&in, rows, base);
	if (!st && in.p != in.end)
		st = msg_bad(&in, &whole, "has bytes after its end");
	if (st)
		fields_clear(rows, base);
	return st;
}

const struct msg_desc *
msg_desc(unsigned type)
{
	const struct msg_desc *d;

	if (type == 0 || type >= MSG_TYPES)
		return NULL;
	d = type < MSG_LIST ? &msg_descs_control[type] : &msg_descs_service[type - MSG_LIST];
	return d->name ? d : NULL;
}

const char *
msg_name(enum msg_type t)
{
	const struct msg_desc *d = msg_desc(t);

	return d ? d->name : "?";
}

size_t
msg_frame_max(enum msg_type t)
{
	const struct msg_desc *d = msg_desc(t);

	return d && d->large ? WIRE_FRAME_LARGE : WIRE_FRAME_MAX;
}
