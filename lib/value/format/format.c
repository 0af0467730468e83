/* SPDX-License-Identifier: MIT */
#include "value/format/format.h"

#include <string.h>

#include "base/mem.h"
#include "value/format/format_desc.h"
#include "value/json/json_refuse.h"
#include "value/mp.h"

#define FORMAT_DECLARED(name, NAME) extern const struct format_desc format_##name;
FORMAT_LIST(FORMAT_DECLARED)
#define FORMAT_ROW(name, NAME) [FORMAT_##NAME] = &format_##name,
static const struct format_desc *const format_descs[] = { [FORMAT_AUTO] = NULL, FORMAT_LIST(FORMAT_ROW) };

struct format {
	const struct format_desc *desc; /* NULL: auto, not decided yet */
	uint64_t count;
	struct json_rules rules;
	struct elem *split;       /* RUN_USUAL of them, for format_bytes */
	void *state;
};

const char *
format_what(const uint8_t *p, size_t n)
{
	static const char *const names[] = {
		[MP_NIL] = "null", [MP_BOOL] = "a bool", [MP_INT] = "an int", [MP_FLOAT] = "a float",
		[MP_TEXT] = "text", [MP_BYTES] = "bytes", [MP_LIST] = "a list",
		[MP_RECORD] = "a record", [MP_EXT] = "a tensor", [MP_BAD] = "malformed",
	};
	struct mp m;

	mp_head(p, p + n, &m);
	return names[m.kind];
}

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
	struct format *f = mem_zalloc(sizeof *f);

	f->desc = format_descs[kind];
	if (f->desc && f->desc->state_size)
		f->state = mem_zalloc(f->desc->state_size);
	if (!f->desc && type && type->kind != TYPE_ANY && type->kind != TYPE_NEVER)
		f->desc = format_type_is_scalar(type) ? &format_text : &format_ndjson;
	return f;
}

/* The first option that was said and that a format does not take; NULL: none. */
static const char *
format_wrong(const struct format_desc *d, const struct format_opts *o)
{
	if (o->delim && d != &format_csv)
		return "--delim";
	if (d && d->flags & FORMAT_HAS_HEADER)
		return NULL;
	return o->unsparsify ? "--unsparsify" : o->no_header ? "--no-header" : NULL;
}

enum status
format_set(struct format *f, const struct format_opts *o, const struct type *type, struct err *e)
{
	const char *wrong = format_wrong(f->desc, o);

	f->rules = o->json;
	if (wrong) {
		err_set(e, ST_USAGE, "%s goes with %s", wrong, o->delim ? "-t csv" : "-t csv and -t tsv");
		return ST_USAGE;
	}
	return f->desc && f->desc->set ? f->desc->set(f->state, o, type, e) : ST_OK;
}

void
format_free(struct format **f)
{
	if (*f && (*f)->desc && (*f)->desc->clear)
		(*f)->desc->clear((*f)->state);
	if (*f) {
		mem_free((*f)->state);
		mem_free((*f)->split);
	}
	mem_free(*f);
	*f = NULL;
}

static bool
format_has(enum format_kind kind, unsigned flag)
{
	return format_descs[kind] && format_descs[kind]->flags & flag;
}

bool
format_is_binary(enum format_kind kind)
{
	return format_has(kind, FORMAT_IS_BINARY);
}

bool
format_is_framed(enum format_kind kind)
{
	return format_has(kind, FORMAT_IS_FRAMED);
}

bool
format_is_blind(enum format_kind kind)
{
	return format_has(kind, FORMAT_IS_BLIND);
}

bool
format_is_verbatim(enum format_kind kind)
{
	return format_has(kind, FORMAT_IS_VERBATIM);
}

void
format_seekable(struct format *f)
{
	if (f->desc && f->desc->seekable)
		f->desc->seekable(f->state);
}

void
format_screen(struct format *f, size_t columns)
{
	if (f->desc && f->desc->screen)
		f->desc->screen(f->state, columns);
}

bool
format_patch(struct format *f, struct buf *out)
{
	return f->desc && f->desc->patch && f->desc->patch(f->state, out);
}

static void
format_decide(struct format *f, const struct elem *first)
{
	struct mp h;

	mp_head(first->p, first->p + first->len, &h);
	f->desc = h.kind == MP_LIST || h.kind == MP_RECORD || h.kind == MP_EXT
		? &format_ndjson : &format_text;
}

/* Writes elements one by one, for formats that may refuse an element. */
static enum status
format_one_by_one(struct format *f, const struct elem *e, uint32_t n, struct buf *out, struct err *err)
{
	for (uint32_t i = 0; i < n; i++, f->count++) {
		size_t before = out->len;

		if (f->desc->elem(f->state, e[i].p, e[i].len, out, err) != ST_OK) {
			out->len = before;
			return err_wrap(err, "element %llu", (unsigned long long)f->count + 1);
		}
	}
	return ST_OK;
}

/* Writes the elements before the one that the rules refuse, and says why. */
static enum status
format_refused(struct format *f, const struct elem *e, uint32_t n, struct buf *out, struct err *err)
{
	for (uint32_t i = 0; i < n; i++, f->count++) {
		size_t before = out->len;

		if (f->desc->elems(&f->rules, f->count, &e[i], 1, out))
			continue;
		out->len = before;
		json_refuse(e[i].p, e[i].len, &f->rules, err);
		return err_wrap(err, "element %llu", (unsigned long long)f->count + 1);
	}
	return ST_OK;
}

static enum status
format_elems(struct format *f, const struct elem *e, uint32_t n, struct buf *out, struct err *err)
{
	if (!n)
		return ST_OK;
	if (!f->desc)
		format_decide(f, &e[0]);
	if (f->desc->elem)
		return format_one_by_one(f, e, n, out, err);
	size_t before = out->len;
	if (f->desc->elems && !f->desc->elems(&f->rules, f->count, e, n, out)) {
		out->len = before;
		return format_refused(f, e, n, out, err);
	}
	f->count += n;
	return ST_OK;
}

enum status
format_run(struct format *f, const struct run *r, struct buf *out, struct err *e)
{
	return format_elems(f, r->e, r->n, out, e);
}

/* The end of element number `done`, from 0, of count; NULL: malformed. */
static const uint8_t *
format_next(const uint8_t *p, const uint8_t *end, uint64_t done, uint64_t count, struct err *e)
{
	const uint8_t *next = mp_check_next(p, end);

	if (next && (size_t)(next - p) <= UINT32_MAX)
		return next;
	err_set(e, ST_PROTO, "element %llu of %llu is malformed", (unsigned long long)done + 1,
		(unsigned long long)count);
	return NULL;
}

static enum status
format_check_rest(const uint8_t *p, const uint8_t *end, uint64_t count, struct err *e)
{
	return p == end ? ST_OK : err_set(e, ST_PROTO, "%zu bytes follow the last of %llu elements",
					  (size_t)(end - p), (unsigned long long)count);
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
			const uint8_t *next = format_next(p, end, done, count, e);

			if (!next) {
				out->len = before;
				return ST_PROTO;
			}
			f->split[n] = (struct elem){ p, NULL, (uint32_t)(next - p), 0 };
			p = next;
		}
		enum status st = format_elems(f, f->split, n, out, e);
		if (st != ST_OK)
			return st;
	}
	if (p != end)
		out->len = before;
	return format_check_rest(p, end, count, e);
}

enum status
format_pass(struct format *f, const uint8_t *p, size_t len, uint64_t count, struct err *e)
{
	const uint8_t *end = p + len;

	for (uint64_t done = 0; done < count; done++) {
		p = format_next(p, end, done, count, e);
		if (!p)
			return ST_PROTO;
	}
	f->count += count;
	return format_check_rest(p, end, count, e);
}

enum status
format_end(struct format *f, struct buf *out, struct err *e)
{
	return f->desc && f->desc->end ? f->desc->end(f->state, f->count, out, e) : ST_OK;
}

void
format_rest(struct format *f, struct buf *out)
{
	if (f->desc && f->desc->rest)
		f->desc->rest(f->state, out);
}
