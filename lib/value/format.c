/* SPDX-License-Identifier: MIT */
#include "value/format.h"

#include <string.h>

#include "base/mem.h"
#include "value/format_kin.h"
#include "value/json_out.h"
#include "value/mp.h"
#include "value/num.h"

struct format {
	enum format_kind kind;    /* FORMAT_AUTO: not decided yet */
	uint64_t count;
	struct elem *split;       /* RUN_USUAL of them, for format_bytes */
	const struct format_kin *kin; /* formats in files of their own; NULL: here */
	void *state;              /* theirs */
};

static bool
format_type_is_scalar(const struct type *t)
{
	switch (t->kind) {
	case TYPE_NIL: case TYPE_BOOL: case TYPE_INT: case TYPE_FLOAT: case TYPE_TEXT: case TYPE_BYTES:
		return true;
	default:
		return false;
	}
}

struct format *
format_new(enum format_kind kind, const struct type *type)
{
	static const struct format_kin *const kins[] = {
		[FORMAT_CSV] = &format_csv, [FORMAT_TSV] = &format_tsv, [FORMAT_NPY] = &format_npy,
		[FORMAT_TFRECORD] = &format_tfrecord, [FORMAT_TAR] = &format_tar, [FORMAT_NONE] = NULL
	};
	struct format *f = mem_zalloc(sizeof *f);

	f->kind = kind;
	f->kin = kins[kind];
	if (f->kin)
		f->state = mem_zalloc(f->kin->state_size);
	if (kind == FORMAT_AUTO && type && type->kind != TYPE_ANY && type->kind != TYPE_NEVER)
		f->kind = format_type_is_scalar(type) ? FORMAT_TEXT : FORMAT_NDJSON;
	return f;
}

void
format_free(struct format **f)
{
	if (*f && (*f)->kin) {
		(*f)->kin->clear((*f)->state);
		mem_free((*f)->state);
	}
	if (*f)
		mem_free((*f)->split);
	mem_free(*f);
	*f = NULL;
}

bool
format_is_binary(enum format_kind kind)
{
	return kind == FORMAT_MSGPACK || kind == FORMAT_NPY || kind == FORMAT_TFRECORD
		|| kind == FORMAT_TAR;
}

void
format_seekable(struct format *f)
{
	if (f->kin && f->kin->seekable)
		f->kin->seekable(f->state);
}

bool
format_patch(struct format *f, struct buf *out)
{
	return f->kin && f->kin->patch && f->kin->patch(f->state, out);
}

static void
format_decide(struct format *f, const struct elem *first)
{
	struct mp h;

	mp_head(first->p, first->p + first->len, &h);
	f->kind = h.kind == MP_LIST || h.kind == MP_RECORD || h.kind == MP_EXT
		? FORMAT_NDJSON : FORMAT_TEXT;
}

/* Ints are most of what goes this way: they are printed here, without a call. */
static void
format_text(const struct elem *e, uint32_t n, char sep, struct buf *out)
{
	struct json_out o;
	uint8_t *w = json_out_begin(&o, out);

	for (uint32_t i = 0; i < n; i++) {
		const uint8_t *p = e[i].p;

		w = json_out_room(&o, w, 0);
		if (*p < 0x80) {
			w = (uint8_t *)num_print_uint(*p, (char *)w);
		} else if (*p == 0xcd) {
			w = (uint8_t *)num_print_uint(mp_u16(p + 1), (char *)w);
		} else if (*p == 0xce) {
			w = (uint8_t *)num_print_uint(mp_u32(p + 1), (char *)w);
		} else {
			w = text_put(&o, (struct json_at){ w, p }, p + e[i].len).w;
		}
		*w++ = (uint8_t)sep;
	}
	json_out_end(&o, w);
}

static void
format_ndjson(const struct elem *e, uint32_t n, struct buf *out)
{
	struct json_out o;
	uint8_t *w = json_out_begin(&o, out);

	for (uint32_t i = 0; i < n; i++) {
		w = json_put(&o, (struct json_at){ w, e[i].p }, e[i].p + e[i].len).w;
		*w++ = '\n';
	}
	json_out_end(&o, w);
}

static void
format_json(const struct format *f, const struct elem *e, uint32_t n, struct buf *out)
{
	struct json_out o;
	uint8_t *w = json_out_begin(&o, out);

	for (uint32_t i = 0; i < n; i++) {
		w = json_out_room(&o, w, 0);
		*w++ = f->count + i ? ',' : '[';
		*w++ = '\n';
		w = json_put(&o, (struct json_at){ w, e[i].p }, e[i].p + e[i].len).w;
	}
	json_out_end(&o, w);
}

static void
format_raw(const struct elem *e, uint32_t n, struct buf *out)
{
	struct json_out o;
	uint8_t *w = json_out_begin(&o, out);

	for (uint32_t i = 0; i < n; i++)
		w = text_put(&o, (struct json_at){ w, e[i].p }, e[i].p + e[i].len).w;
	json_out_end(&o, w);
}

/* Elements that lie end to end, as they mostly do, are copied together. */
static void
format_msgpack(const struct elem *e, uint32_t n, struct buf *out)
{
	for (uint32_t i = 0; i < n;) {
		const uint8_t *start = e[i].p, *end = start;

		for (; i < n && e[i].p == end; i++)
			end += e[i].len;
		buf_put(out, start, (size_t)(end - start));
	}
}

/* One by one, for they may refuse an element. */
static enum status
format_by_kin(struct format *f, const struct elem *e, uint32_t n, struct buf *out, struct err *err)
{
	for (uint32_t i = 0; i < n; i++, f->count++) {
		size_t before = out->len;

		if (f->kin->elem(f->state, e[i].p, e[i].len, out, err) != ST_OK) {
			out->len = before;
			return err_wrap(err, "element %llu", (unsigned long long)f->count + 1);
		}
	}
	return ST_OK;
}

static enum status
format_elems(struct format *f, const struct elem *e, uint32_t n, struct buf *out, struct err *err)
{
	if (!n)
		return ST_OK;
	if (f->kin)
		return format_by_kin(f, e, n, out, err);
	if (f->kind == FORMAT_AUTO)
		format_decide(f, &e[0]);
	switch (f->kind) {
	case FORMAT_TEXT: format_text(e, n, '\n', out); break;
	case FORMAT_NUL: format_text(e, n, '\0', out); break;
	case FORMAT_NDJSON: format_ndjson(e, n, out); break;
	case FORMAT_JSON: format_json(f, e, n, out); break;
	case FORMAT_RAW: format_raw(e, n, out); break;
	case FORMAT_MSGPACK: format_msgpack(e, n, out); break;
	default: break;
	}
	f->count += n;
	return ST_OK;
}

enum status
format_run(struct format *f, const struct run *r, struct buf *out, struct err *e)
{
	return format_elems(f, r->e, r->n, out, e);
}

enum status
format_bytes(struct format *f, const uint8_t *p, size_t len, uint64_t count,
	     struct buf *out, struct err *e)
{
	const uint8_t *end = p + len;
	size_t before = out->len;
	uint64_t done = 0;

	if (!f->split)
		f->split = mem_array(RUN_USUAL, sizeof *f->split);
	while (done < count) {
		uint32_t n = 0;

		for (; n < RUN_USUAL && done < count; n++, done++) {
			const uint8_t *next = mp_check_next(p, end);

			if (!next || (size_t)(next - p) > UINT32_MAX) {
				out->len = before;
				return err_set(e, ST_PROTO, "element %llu of %llu is malformed",
					       (unsigned long long)done + 1, (unsigned long long)count);
			}
			f->split[n] = (struct elem){ p, NULL, (uint32_t)(next - p), 0 };
			p = next;
		}
		enum status st = format_elems(f, f->split, n, out, e);
		if (st != ST_OK)
			return st;
	}
	if (p != end) {
		out->len = before;
		return err_set(e, ST_PROTO, "%zu bytes follow the last of %llu elements",
			       (size_t)(end - p), (unsigned long long)count);
	}
	return ST_OK;
}

void
format_end(struct format *f, struct buf *out)
{
	if (f->kin && f->kin->end)
		f->kin->end(f->state, out);
	if (f->kind == FORMAT_COUNT)
		buf_printf(out, "%llu\n", (unsigned long long)f->count);
	else if (f->kind == FORMAT_JSON)
		buf_str(out, f->count ? "\n]\n" : "[]\n");
}
