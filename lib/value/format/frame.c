/* SPDX-License-Identifier: MIT */
#include "value/format/frame.h"

#include <string.h>

#include "base/mem.h"
#include "base/param.h"
#include "value/format/format.h"
#include "value/mp.h"

enum { FRAME_SHOWN = 60, FRAME_DIGITS = 10 };

void
frame_init(struct frame *f, enum frame_proto proto, size_t max)
{
	*f = (struct frame){ .proto = proto };
	f->max = max ? max : UINT32_MAX;
	f->max = f->max > UINT32_MAX - MP_HEAD_MAX ? UINT32_MAX - MP_HEAD_MAX : f->max;
}

void
frame_clear(struct frame *f)
{
	json_free(&f->json);
}

const char *
frame_name(enum frame_proto proto)
{
	static const char *const names[] = { "line", "ndjson", "nul", "msgpack", "netstring",
					     "len32", "raw", "arg", "stream" };

	return names[proto];
}

const struct type *
frame_type(enum frame_proto proto)
{
	switch (proto) {
	case FRAME_NDJSON:
	case FRAME_MSGPACK:
		return type_scalar(TYPE_ANY);
	case FRAME_NETSTRING:
	case FRAME_LEN32:
	case FRAME_RAW:
		return type_scalar(TYPE_BYTES);
	case FRAME_LINE:
	case FRAME_NUL:
	case FRAME_ARG:
	case FRAME_STREAM:
		break;
	}
	return type_scalar(TYPE_TEXT);
}

size_t
frame_padding(void)
{
	return json_padding();
}

const uint8_t *
frame_contents(const struct elem *x, uint32_t *n)
{
	struct mp m;

	mp_head(x->p, x->p + x->len, &m);
	if (m.kind != MP_TEXT && m.kind != MP_BYTES)
		return NULL;
	*n = m.n;
	return m.p;
}

const uint8_t *
frame_text(const struct elem *x, struct buf *own, size_t *n)
{
	uint32_t len;
	const uint8_t *p = frame_contents(x, &len);

	if (p) {
		*n = len;
		return p;
	}
	buf_reset(own);
	text_print(x->p, x->len, own);
	*n = own->len;
	return own->data;
}

static enum status
frame_put_text(const struct elem *x, const struct json_rules *rules, struct buf *out, struct err *e)
{
	uint32_t n;
	const uint8_t *p = frame_contents(x, &n);

	if (!p)
		return text_write(x->p, x->len, rules, out, e);
	buf_put(out, p, n);
	return ST_OK;
}

static enum status
frame_put_ended(const struct elem *x, const struct json_rules *rules, char end, struct buf *out, struct err *e)
{
	size_t before = out->len;
	enum status st = frame_put_text(x, rules, out, e);

	if (st)
		return st;
	if (out->len > before && memchr(out->data + before, end, out->len - before)) {
		out->len = before;
		err_set(e, ST_DATA, "a text with a %s in it cannot be given to the program as one %s",
			end ? "line end" : "NUL", end ? "line" : "text that NUL ends");
		err_help(e, end ? "proto=nul and proto=ndjson carry it; map replace(x, \"\\n\", \" \") "
				  "takes it out"
				: "proto=ndjson and proto=msgpack carry it");
		return ST_DATA;
	}
	buf_byte(out, (uint8_t)end);
	return ST_OK;
}

static enum status
frame_put_sized(enum frame_proto proto, const struct elem *x, const struct json_rules *rules, struct buf *out,
		struct err *e)
{
	struct buf own = { 0 };
	uint32_t n;
	const uint8_t *p = frame_contents(x, &n);

	if (!p) {
		if (text_write(x->p, x->len, rules, &own, e) != ST_OK) {
			buf_clear(&own);
			return ST_DATA;
		}
		p = own.data;
		n = (uint32_t)own.len;
	}
	if (proto == FRAME_NETSTRING) {
		buf_printf(out, "%u:", n);
		buf_put(out, p, n);
		buf_byte(out, ',');
	} else {
		mp_put_u32(buf_room(out, 4), n);
		out->len += 4;
		buf_put(out, p, n);
	}
	buf_clear(&own);
	return ST_OK;
}

enum status
frame_put(enum frame_proto proto, const struct elem *x, const struct json_rules *rules, struct buf *out,
	  struct err *e)
{
	enum status st;

	switch (proto) {
	case FRAME_LINE:
	case FRAME_STREAM:
		return frame_put_ended(x, rules, '\n', out, e);
	case FRAME_NUL:
		return frame_put_ended(x, rules, '\0', out, e);
	case FRAME_NDJSON:
		st = json_write(x->p, x->len, rules, out, e);
		if (!st)
			buf_byte(out, '\n');
		return st;
	case FRAME_MSGPACK:
		buf_put(out, x->p, x->len);
		return ST_OK;
	case FRAME_NETSTRING:
	case FRAME_LEN32:
		return frame_put_sized(proto, x, rules, out, e);
	case FRAME_RAW:
		return frame_put_text(x, rules, out, e);
	case FRAME_ARG:
		break;
	}
	return ST_OK;
}

static enum status
frame_large(const struct frame *f, struct err *e)
{
	return err_set(e, ST_DATA, "an answer of more than %zu bytes", f->max);
}

/* Fails with as much of the answer as a message has room for. */
static enum status
frame_bad(const uint8_t *p, size_t n, const char *what, struct err *e)
{
	char shown[FRAME_SHOWN + 1];
	size_t k = n < FRAME_SHOWN ? n : FRAME_SHOWN;

	for (size_t i = 0; i < k; i++)
		shown[i] = p[i] < ' ' || p[i] >= 0x7f ? '?' : (char)p[i];
	shown[k] = '\0';
	return err_set(e, ST_DATA, "its answer `%s%s` is %s", shown, k < n ? "..." : "", what);
}

static enum status
frame_find_ended(struct frame *f, uint8_t end, const uint8_t *p, size_t n, bool eof, size_t *len,
		 struct err *e)
{
	const uint8_t *stop = n > f->searched ? memchr(p + f->searched, end, n - f->searched) : NULL;

	if (stop) {
		*len = (size_t)(stop - p) + 1;
		f->searched = 0;
		return *len - 1 > f->max ? frame_large(f, e) : ST_OK;
	}
	f->searched = n;
	if (n > f->max)
		return frame_large(f, e);
	if (eof && n) { /* the last one may lack its end */
		*len = n;
		f->searched = 0;
	}
	return ST_OK;
}

static enum status
frame_find_netstring(struct frame *f, const uint8_t *p, size_t n, size_t *len, struct err *e)
{
	size_t i = 0, size = 0;

	while (i < n && i < FRAME_DIGITS && p[i] >= '0' && p[i] <= '9')
		size = size * 10 + (size_t)(p[i++] - '0');
	if (i == n && i < FRAME_DIGITS)
		return ST_OK;
	if (i == 0 || i >= n || p[i] != ':')
		return frame_bad(p, n, "not a netstring (LENGTH:bytes,)", e);
	if (size > f->max)
		return frame_large(f, e);
	if (n < i + 2 + size)
		return ST_OK;
	if (p[i + 1 + size] != ',')
		return frame_bad(p, n, "not a netstring: its bytes do not end with a comma", e);
	*len = i + 2 + size;
	return ST_OK;
}

static enum status
frame_find_len32(struct frame *f, const uint8_t *p, size_t n, size_t *len, struct err *e)
{
	if (n < 4)
		return ST_OK;
	size_t size = (size_t)p[0] << 24 | (size_t)p[1] << 16 | (size_t)p[2] << 8 | p[3];
	if (size > f->max)
		return frame_large(f, e);
	if (n >= 4 + size)
		*len = 4 + size;
	return ST_OK;
}

/* Only a walk through a value tells its length: one that comes in many reads is tried again
 * when half as many bytes more have come. */
static enum status
frame_find_msgpack(struct frame *f, const uint8_t *p, size_t n, bool eof, size_t *len,
		   struct err *e)
{
	if (n == 0 || (n < f->wait && !eof))
		return ST_OK;
	const uint8_t *end = mp_check_next(p, p + n);
	if (end) {
		*len = (size_t)(end - p);
		f->wait = 0;
		return *len > f->max ? frame_large(f, e) : ST_OK;
	}
	if (n > f->max)
		return frame_large(f, e);
	if (*p == 0xc1 || eof)
		return err_set(e, ST_DATA, "its answer is not a MessagePack value");
	f->wait = n + n / 2 + 1;
	return ST_OK;
}

enum status
frame_find(struct frame *f, const uint8_t *p, size_t n, bool eof, size_t *len, struct err *e)
{
	*len = 0;
	switch (f->proto) {
	case FRAME_LINE:
	case FRAME_NDJSON:
	case FRAME_STREAM:
		return frame_find_ended(f, '\n', p, n, eof, len, e);
	case FRAME_NUL:
		return frame_find_ended(f, '\0', p, n, eof, len, e);
	case FRAME_MSGPACK:
		return frame_find_msgpack(f, p, n, eof, len, e);
	case FRAME_NETSTRING:
		return frame_find_netstring(f, p, n, len, e);
	case FRAME_LEN32:
		return frame_find_len32(f, p, n, len, e);
	case FRAME_RAW:
	case FRAME_ARG:
		break;
	}
	if (n > f->max)
		return frame_large(f, e);
	*len = eof ? n : 0;
	return ST_OK;
}

static enum status
frame_get_json(struct frame *f, const uint8_t *p, size_t n, uint32_t pos, struct run *out,
	       struct err *e)
{
	uint32_t before = out->n, lines;
	size_t used;
	struct err why = { 0 };

	if (!f->json)
		f->json = json_new();
	enum status st = json_lines(f->json, p, n, NULL, 1, pos, out, &used, &lines, &why);
	size_t shown = n && p[n - 1] == '\n' ? n - 1 : n;
	if (st != ST_OK) {
		frame_bad(p, shown, "no JSON", e);
		char *text = mem_printf("%s: %s", e->text, why.text);
		err_set(e, ST_DATA, "%s", text);
		mem_free(text);
		return ST_DATA;
	}
	return out->n == before ? frame_bad(p, shown, "empty, and no JSON value", e) : ST_OK;
}

static void
frame_done(bool bytes, const uint8_t *p, size_t n, uint32_t pos, struct run *out)
{
	uint8_t *to = run_room(out, n + MP_HEAD_MAX);

	to = bytes ? mp_put_bytes_head(to, (uint32_t)n) : mp_put_text_head(to, (uint32_t)n);
	memcpy(to, p, n);
	run_done(out, to + n, pos);
}

enum status
frame_get(struct frame *f, const uint8_t *p, size_t n, uint32_t pos, struct run *out,
	  struct err *e)
{
	size_t head = 4, tail = 0;

	switch (f->proto) {
	case FRAME_NDJSON:
		return frame_get_json(f, p, n, pos, out, e);
	case FRAME_MSGPACK:
		memcpy(run_room(out, n), p, n);
		run_done(out, out->arena->data + out->arena->len + n, pos);
		return ST_OK;
	case FRAME_NETSTRING:
		head = (size_t)((const uint8_t *)memchr(p, ':', n) - p) + 1;
		tail = 1;
		/* fallthrough */
	case FRAME_LEN32:
		frame_done(true, p + head, n - head - tail, pos, out);
		return ST_OK;
	case FRAME_RAW:
		frame_done(true, p, n, pos, out);
		return ST_OK;
	case FRAME_LINE:
	case FRAME_STREAM:
	case FRAME_ARG:
		n -= n > 0 && p[n - 1] == '\n';
		break;
	case FRAME_NUL:
		n -= n > 0 && p[n - 1] == '\0';
		break;
	}
	frame_done(false, p, n, pos, out);
	return ST_OK;
}
