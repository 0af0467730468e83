/* SPDX-License-Identifier: MIT */
#include "value/format/member.h"

#include <string.h>

#include "base/str.h"
#include "value/dtype.h"
#include "value/mp.h"
#include "value/format/npy.h"
#include "value/tensor.h"

enum member_kind { MEMBER_BYTES, MEMBER_JSON, MEMBER_TEXT, MEMBER_INT, MEMBER_NPY };

static enum member_kind
member_kind(const char *name)
{
	static const struct { const char *end; enum member_kind kind; } ends[] = {
		{ "json", MEMBER_JSON }, { "jsn", MEMBER_JSON }, { "txt", MEMBER_TEXT },
		{ "text", MEMBER_TEXT }, { "transcript", MEMBER_TEXT }, { "cls", MEMBER_INT },
		{ "cls2", MEMBER_INT }, { "class", MEMBER_INT }, { "count", MEMBER_INT },
		{ "index", MEMBER_INT }, { "inx", MEMBER_INT }, { "id", MEMBER_INT },
		{ "npy", MEMBER_NPY },
	};
	const char *dot = strrchr(name, '.');

	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
		if (!strcmp(dot ? dot + 1 : name, ends[i].end))
			return ends[i].kind;
	return MEMBER_BYTES;
}

static enum status
member_int(const uint8_t *p, size_t n, struct buf *out, struct err *e)
{
	int64_t v;

	while (n && (p[n - 1] == '\n' || p[n - 1] == ' ' || p[n - 1] == '\r'))
		n--;
	while (n && *p == ' ')
		p++, n--;
	if (!str_int((const char *)p, n, &v))
		return err_set(e, ST_DATA, "it does not hold a whole number");
	uint8_t *w = buf_room(out, MP_INT_MAX);
	out->len += (size_t)(mp_put_int(w, v) - w);
	return ST_OK;
}

static enum status
member_npy(const uint8_t *p, size_t n, struct buf *out, struct err *e)
{
	struct npy a;
	enum status st = npy_head(p, n, &a, e);

	if (st == ST_END)
		return err_set(e, ST_DATA, "the array is cut off");
	if (st != ST_OK)
		return st;
	if (a.fortran)
		return err_set(e, ST_DATA, "the array is in Fortran order");
	struct tensor t = { .dtype = a.dtype, .n_dims = a.n_dims };
	memcpy(t.dims, a.dims, sizeof t.dims);
	uint8_t *start = buf_room(out, TENSOR_HEAD_MAX + n), *w = tensor_put_head(start, &t);
	if (!w || t.size > n - a.head)
		return err_set(e, ST_DATA, "the array is cut off");
	if (a.n_dims == 0) {
		uint64_t one = 0;

		memcpy(&one, p + a.head, t.size);
		if (a.swapped)
			npy_swap((uint8_t *)&one, 1, t.size);
		w = dtype_put(t.dtype, (uint8_t *)&one, start);
	} else {
		memcpy(w, p + a.head, t.size);
		if (a.swapped)
			npy_swap(w, (size_t)t.count, dtype_size(t.dtype));
		w += t.size;
	}
	out->len += (size_t)(w - start);
	return ST_OK;
}

enum status
member_decode(struct json *j, const char *name, const uint8_t *p, size_t n, struct buf *out,
	      struct err *e)
{
	enum member_kind kind = member_kind(name);
	uint8_t *start, *w;

	switch (kind) {
	case MEMBER_JSON: return json_value(j, p, n, out, e);
	case MEMBER_INT: return member_int(p, n, out, e);
	case MEMBER_NPY: return member_npy(p, n, out, e);
	default: break;
	}
	start = buf_room(out, n + MP_HEAD_MAX);
	w = kind == MEMBER_TEXT ? mp_put_text_head(start, (uint32_t)n) : mp_put_bytes_head(start, (uint32_t)n);
	if (n)
		memcpy(w, p, n);
	out->len += (size_t)(w - start) + n;
	return ST_OK;
}
