/* SPDX-License-Identifier: MIT
 * npy: numbers, tensors, and lists of them within lists, of one shape. Where the
 * output can be sought in they become one array, whose length goes into its
 * header at the end; else an array each. */
#include <endian.h>
#include <string.h>

#include "value/dtype.h"
#include "value/format/format_desc.h"
#include "value/mp.h"
#include "value/format/npy.h"
#include "value/tensor.h"

struct npy_out {
	bool seekable, begun;
	/* shape of one element, its axes from dims[1] on; dims[0]: number of elements */
	struct npy head;
};

/* Shape and dtype of one value, as far as seen. */
struct npy_seen {
	bool numbers;      /* dtype is known */
	enum dtype dtype;
	int n_dims;
	uint64_t dims[TYPE_DIMS_MAX];
};

static enum status
npy_no_number(const uint8_t *p, const uint8_t *end, struct err *e)
{
	err_set(e, ST_DATA, "an array has no place for %s", format_what(p, (size_t)(end - p)));
	err_help(e, "choose the numbers: map .x, map [.a, .b]");
	return ST_DATA;
}

/* Joins the dtype: ints among floats are floats; everything else must be of one dtype. */
static bool
npy_join(struct npy_seen *seen, enum dtype d)
{
	bool mixed = seen->numbers && seen->dtype != d;

	if (mixed && (seen->dtype == DTYPE_F64 || d == DTYPE_F64)
	    && (seen->dtype == DTYPE_I64 || d == DTYPE_I64)) {
		seen->dtype = DTYPE_F64;
		return true;
	}
	seen->numbers = true;
	if (!mixed)
		seen->dtype = d;
	return !mixed;
}

/* Checks the length of an axis at this depth, or sets it if none was seen before. */
static enum status
npy_axis(struct npy_seen *seen, int depth, uint64_t length, bool first, struct err *e)
{
	if (depth >= TYPE_DIMS_MAX - 1)
		return err_set(e, ST_DATA, "it has more than %d axes", TYPE_DIMS_MAX - 1);
	if (first)
		seen->dims[depth] = length;
	else if (depth >= seen->n_dims || seen->dims[depth] != length)
		return err_set(e, ST_DATA, "its lists have different lengths");
	return ST_OK;
}

/* Examines the value at *p and moves past it. first: nothing was seen at this depth. */
static enum status
npy_look(struct npy_seen *seen, const uint8_t **p, const uint8_t *end, int depth, bool first,
	 struct err *e)
{
	const uint8_t *start = *p;
	enum status st = ST_OK;
	struct tensor t;
	struct mp m;
	enum dtype d;

	*p = mp_head(*p, end, &m);
	if (m.kind == MP_LIST) {
		st = npy_axis(seen, depth, m.n, first, e);
		for (uint32_t i = 0; i < m.n && st == ST_OK; i++)
			st = npy_look(seen, p, end, depth + 1, first && i == 0, e);
		if (first && !m.n)
			seen->n_dims = depth + 1;
		return st;
	}
	int axes = 0;
	if (m.kind == MP_EXT && m.ext == MP_EXT_TENSOR && tensor_read(m.p, m.n, &t)) {
		d = t.dtype;
		axes = t.n_dims;
		for (int i = 0; i < axes && st == ST_OK; i++)
			st = npy_axis(seen, depth + i, t.dims[i], first, e);
	} else if (m.kind == MP_BOOL) {
		d = DTYPE_BOOL;
	} else if (m.kind == MP_FLOAT) {
		d = DTYPE_F64;
	} else if (m.kind == MP_INT) {
		d = m.unsigned_big ? DTYPE_U64 : DTYPE_I64;
	} else {
		return npy_no_number(start, end, e);
	}
	if (first)
		seen->n_dims = depth + axes;
	else if (st == ST_OK && seen->n_dims != depth + axes)
		st = err_set(e, ST_DATA, "its lists have different depths");
	if (st == ST_OK && !npy_join(seen, d))
		st = err_set(e, ST_DATA, "it mixes %s and %s", dtype_name(seen->dtype), dtype_name(d));
	return st;
}

/* Appends one number as dtype d. */
static void
npy_put_number(const struct mp *m, enum dtype d, struct buf *out)
{
	uint64_t bits = m->u;
	double f = m->kind == MP_FLOAT ? m->f : (double)m->i;

	if (d == DTYPE_BOOL) {
		buf_byte(out, m->b);
		return;
	}
	if (d == DTYPE_F64)
		memcpy(&bits, &f, 8);
	uint8_t *w = buf_room(out, 8);
	for (int i = 0; i < 8; i++)
		w[i] = (uint8_t)(bits >> 8 * i);
	out->len += 8;
}

static void
npy_put(const uint8_t **p, const uint8_t *end, enum dtype d, struct buf *out)
{
	struct tensor t;
	struct mp m;

	*p = mp_head(*p, end, &m);
	if (m.kind == MP_LIST) {
		for (uint32_t i = 0; i < m.n; i++)
			npy_put(p, end, d, out);
	} else if (m.kind != MP_EXT) {
		npy_put_number(&m, d, out);
	} else if (tensor_read(m.p, m.n, &t) && t.dtype == d) {
		buf_put(out, t.data, t.size);
	} else { /* an int among floats becomes a float */
		for (uint64_t i = 0; i < t.count; i++) {
			struct mp one = { .kind = MP_FLOAT };

			one.f = dtype_float(t.dtype, t.data + i * dtype_size(t.dtype));
			npy_put_number(&one, d, out);
		}
	}
}

static void
npy_describe(const struct npy_seen *s, struct buf *out)
{
	buf_printf(out, "%s[", dtype_name(s->dtype));
	for (int i = 0; i < s->n_dims; i++)
		buf_printf(out, i ? ",%llu" : "%llu", (unsigned long long)s->dims[i]);
	buf_str(out, "]");
}

static enum status
npy_differs(const struct npy_out *f, const struct npy_seen *seen, struct err *e)
{
	struct npy_seen first = { true, f->head.dtype, f->head.n_dims - 1, { 0 } };
	struct buf a = { 0 }, b = { 0 };

	memcpy(first.dims, f->head.dims + 1, (size_t)first.n_dims * sizeof *first.dims);
	npy_describe(seen, &a);
	npy_describe(&first, &b);
	err_set(e, ST_DATA, "it is %s, and the first one was %s", a.data, b.data);
	err_help(e, "an array holds elements of one shape and type; padded_batch makes shapes alike");
	buf_clear(&a);
	buf_clear(&b);
	return ST_DATA;
}

static enum status
npy_begin(struct npy_out *f, const struct npy_seen *seen, struct buf *out)
{
	uint8_t *w = buf_room(out, NPY_HEAD_PUT);

	f->begun = true;
	f->head = (struct npy){ .dtype = seen->dtype, .n_dims = seen->n_dims + 1 };
	memcpy(f->head.dims + 1, seen->dims, (size_t)seen->n_dims * sizeof *seen->dims);
	if (f->seekable)
		out->len += npy_put_head(&f->head, w);
	return ST_OK;
}

/* Handles the usual case of another value like the first. False: it must be examined. */
static bool
npy_again(struct npy_out *f, const uint8_t *p, size_t n, struct buf *out)
{
	struct npy *a = &f->head;
	struct tensor t;
	struct mp m;

	mp_head(p, p + n, &m);
	if (a->n_dims == 1 && ((m.kind == MP_FLOAT && a->dtype == DTYPE_F64)
			       || (m.kind == MP_INT && a->dtype == DTYPE_I64 && !m.unsigned_big))) {
		uint64_t bits = htole64(m.u);

		memcpy(buf_room(out, sizeof bits), &bits, sizeof bits);
		out->len += sizeof bits;
	} else if (m.kind == MP_EXT && m.ext == MP_EXT_TENSOR && tensor_read(m.p, m.n, &t)
		   && t.dtype == a->dtype && t.n_dims == a->n_dims - 1
		   && !memcmp(t.dims, a->dims + 1, (size_t)t.n_dims * sizeof *t.dims)) {
		buf_put(out, t.data, t.size);
	} else {
		return false;
	}
	a->dims[0]++;
	return true;
}

static enum status
npy_elem(void *state, const uint8_t *p, size_t n, struct buf *out, struct err *e)
{
	struct npy_seen seen = { .dtype = DTYPE_F64 };
	struct npy_out *f = state;
	const uint8_t *end = p + n, *at = p;

	if (f->begun && npy_again(f, p, n, out))
		return ST_OK;
	enum status st = npy_look(&seen, &at, end, 0, true, e);

	if (st == ST_OK)
		st = npy_has(seen.dtype, e);
	if (st != ST_OK)
		return st;
	if (!f->seekable) {
		struct npy one = { .dtype = seen.dtype, .n_dims = seen.n_dims };

		memcpy(one.dims, seen.dims, sizeof one.dims);
		out->len += npy_put_head(&one, buf_room(out, NPY_HEAD_PUT));
		npy_put(&p, end, seen.dtype, out);
		return ST_OK;
	}
	if (!f->begun)
		st = npy_begin(f, &seen, out);
	bool fits = seen.dtype == f->head.dtype || (seen.dtype == DTYPE_I64 && f->head.dtype == DTYPE_F64);
	if (!fits || seen.n_dims != f->head.n_dims - 1
	    || memcmp(seen.dims, f->head.dims + 1, (size_t)seen.n_dims * sizeof *seen.dims))
		return npy_differs(f, &seen, e);
	npy_put(&p, end, f->head.dtype, out);
	f->head.dims[0]++;
	return st;
}

/* Ends the array; without elements it is an empty array of floats. */
static enum status
npy_end(void *state, uint64_t count, struct buf *out, struct err *e)
{
	static const struct npy_seen none = { .dtype = DTYPE_F64 };
	struct npy_out *f = state;

	(void)count;
	(void)e;
	if (f->seekable && !f->begun)
		npy_begin(f, &none, out);
	return ST_OK;
}

static void
npy_seekable(void *state)
{
	((struct npy_out *)state)->seekable = true;
}

static bool
npy_patch(void *state, struct buf *out)
{
	struct npy_out *f = state;

	if (!f->begun || !f->seekable)
		return false;
	out->len += npy_put_head(&f->head, buf_room(out, NPY_HEAD_PUT));
	return true;
}

static void
npy_clear(void *state)
{
	(void)state;
}

const struct format_desc format_npy = { .flags = FORMAT_IS_BINARY | FORMAT_IS_FRAMED,
				       .state_size = sizeof(struct npy_out), .elem = npy_elem,
				       .end = npy_end, .seekable = npy_seekable, .patch = npy_patch,
				       .clear = npy_clear };
