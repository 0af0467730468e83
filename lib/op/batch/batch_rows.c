/* SPDX-License-Identifier: MIT */
#include "op/batch/batch_rows.h"

#include <string.h>

#include "value/dtype.h"
#include "value/mp.h"

bool
batch_rows_tensor(const uint8_t *p, const uint8_t *end, struct tensor *t)
{
	struct mp m;

	mp_head(p, end, &m);
	return m.kind == MP_EXT && m.ext == MP_EXT_TENSOR && tensor_read(m.p, m.n, t);
}

void
batch_rows_begin(struct batch_rows *r, enum batch_rows_as as)
{
	memset(r, 0, offsetof(struct batch_rows, first));
	r->as = as;
	r->differ = r->tensor = false;
	r->bytes = 0;
}

static bool
batch_rows_same(const struct tensor *a, const struct tensor *b)
{
	return a->dtype == b->dtype && a->n_dims == b->n_dims
		&& !memcmp(a->dims, b->dims, (size_t)a->n_dims * sizeof a->dims[0]);
}

void
batch_rows_look(struct batch_rows *r, const uint8_t *p, size_t len)
{
	struct tensor t;
	struct mp m;

	r->n++;
	r->bytes += len;
	if (r->as == BATCH_ROWS_LIST || (r->as == BATCH_ROWS_AUTO && r->tensors + 1 < r->n))
		return; /* becomes a list, whatever the value is */
	mp_head(p, p + len, &m);
	switch (m.kind) {
	case MP_INT: r->ints++; break;
	case MP_FLOAT: r->floats++; break;
	case MP_BOOL: r->bools++; break;
	case MP_EXT:
		if (m.ext != MP_EXT_TENSOR || !tensor_read(m.p, m.n, &t))
			break;
		if (r->tensors++ == 0) {
			r->first = t;
		} else if (!r->differ && !batch_rows_same(&t, &r->first)) {
			r->differ = true;
			r->other = t;
		}
		break;
	default: break;
	}
}

static void
batch_rows_shape(const struct tensor *t, struct buf *out)
{
	buf_printf(out, "%s[", dtype_name(t->dtype));
	for (int i = 0; i < t->n_dims; i++)
		buf_printf(out, "%s%llu", i ? "," : "", (unsigned long long)t->dims[i]);
	buf_str(out, "]");
}

static size_t
batch_rows_differ(const struct batch_rows *r, struct err *e)
{
	struct buf b = { 0 };

	batch_rows_shape(&r->first, &b);
	buf_str(&b, " and ");
	batch_rows_shape(&r->other, &b);
	err_set(e, ST_DATA, "a batch of tensors %.150s", (char *)b.data);
	err_help(e, "padded_batch makes their shapes equal, ragged_batch keeps them in a list");
	buf_clear(&b);
	return 0;
}

static bool
batch_rows_out(struct batch_rows *r)
{
	uint8_t head[TENSOR_HEAD_MAX];

	r->out.n_dims = 0;
	if (r->tensors) {
		r->out.n_dims = r->first.n_dims;
		memcpy(r->out.dims + 1, r->first.dims, (size_t)r->first.n_dims * sizeof r->out.dims[0]);
		r->out.dtype = r->first.dtype;
	} else {
		r->out.dtype = r->floats ? DTYPE_F64 : r->ints ? DTYPE_I64 : DTYPE_BOOL;
	}
	r->out.dims[0] = r->n;
	r->out.n_dims++;
	return tensor_put_head(head, &r->out);
}

size_t
batch_rows_size(struct batch_rows *r, size_t max, struct err *e)
{
	bool plain = r->ints + r->floats + r->bools == r->n;

	r->tensor = r->n && r->as != BATCH_ROWS_LIST && (r->tensors == r->n || (r->as == BATCH_ROWS_TENSOR && plain));
	if (!r->tensor && r->as != BATCH_ROWS_TENSOR)
		return r->bytes + MP_HEAD_MAX;
	if (!r->tensor) {
		err_set(e, ST_DATA, "as=tensor takes numbers, bools or tensors, one of them only");
		return 0;
	}
	if (r->differ)
		return batch_rows_differ(r, e);
	if (r->tensors && r->first.n_dims == TYPE_DIMS_MAX) {
		err_set(e, ST_DATA, "a batch of tensors of %d axes would have one too many", TYPE_DIMS_MAX);
		return 0;
	}
	if (!batch_rows_out(r) || r->out.size > max) {
		err_set(e, ST_DATA, "a batch is larger than the limit of %zu bytes for an element", max);
		err_help(e, "make batches smaller");
		return 0;
	}
	return TENSOR_HEAD_MAX + r->out.size;
}

uint8_t *
batch_rows_head(struct batch_rows *r, uint8_t *w)
{
	return r->tensor ? tensor_put_head(w, &r->out) : mp_put_list_head(w, (uint32_t)r->n);
}

static uint8_t *
batch_rows_put_number(const struct batch_rows *r, uint8_t *w, const struct mp *m, struct err *e)
{
	double f = m->kind == MP_FLOAT ? m->f : m->kind == MP_BOOL ? m->b
		: m->unsigned_big ? (double)m->u : (double)m->i;
	int64_t i = m->kind == MP_BOOL ? m->b : m->i;

	if (r->out.dtype == DTYPE_F64) {
		memcpy(w, &f, 8);
		return w + 8;
	}
	if (r->out.dtype == DTYPE_BOOL) {
		*w = m->b;
		return w + 1;
	}
	if (m->unsigned_big) {
		err_set(e, ST_DATA, "as=tensor: %llu does not fit i64", (unsigned long long)m->u);
		return NULL;
	}
	memcpy(w, &i, 8);
	return w + 8;
}

uint8_t *
batch_rows_put(const struct batch_rows *r, uint8_t *w, const uint8_t *p, size_t len, struct err *e)
{
	struct tensor t;
	struct mp m;

	if (!r->tensor) {
		memcpy(w, p, len);
		return w + len;
	}
	if (r->tensors) {
		batch_rows_tensor(p, p + len, &t);
		if (t.size)
			memcpy(w, t.data, t.size);
		return w + t.size;
	}
	mp_head(p, p + len, &m);
	return batch_rows_put_number(r, w, &m, e);
}

bool
batch_rows_fits_tensor(const struct type *x)
{
	return x->kind == TYPE_ANY || x->kind == TYPE_INT || x->kind == TYPE_FLOAT
		|| x->kind == TYPE_BOOL || x->kind == TYPE_TENSOR || x->kind == TYPE_NEVER;
}

const struct type *
batch_rows_typing(struct types *t, enum batch_rows_as as, const struct type *x, int64_t n)
{
	int64_t dims[TYPE_DIMS_MAX] = { n };

	if (as == BATCH_ROWS_LIST)
		return type_list(t, x);
	if (x->kind == TYPE_ANY ||
	    ((x->kind == TYPE_TENSOR || as == BATCH_ROWS_TENSOR) && x->nullable))
		return type_scalar(TYPE_ANY);
	if (x->kind == TYPE_TENSOR) {
		if (x->n_dims < 0 || x->n_dims == TYPE_DIMS_MAX)
			return type_tensor(t, x->dtype, NULL, -1);
		memcpy(dims + 1, x->dims, (size_t)x->n_dims * sizeof dims[0]);
		return type_tensor(t, x->dtype, dims, x->n_dims + 1);
	}
	if (as == BATCH_ROWS_AUTO)
		return type_list(t, x);
	switch (x->kind) {
	case TYPE_INT: return type_tensor(t, DTYPE_I64, dims, 1);
	case TYPE_FLOAT: return type_tensor(t, DTYPE_F64, dims, 1);
	case TYPE_BOOL: return type_tensor(t, DTYPE_BOOL, dims, 1);
	default: return type_scalar(TYPE_ANY);
	}
}

const struct type *
batch_rows_item(struct types *t, const struct type *x)
{
	if (x->kind == TYPE_LIST)
		return x->item;
	if (x->kind == TYPE_ANY || (x->kind == TYPE_TENSOR && (x->nullable || x->n_dims < 0)))
		return type_scalar(TYPE_ANY);
	if (x->kind != TYPE_TENSOR || !x->n_dims)
		return NULL;
	if (x->n_dims == 1)
		return type_scalar(x->dtype == DTYPE_BOOL ? TYPE_BOOL
				   : dtype_is_float(x->dtype) ? TYPE_FLOAT : TYPE_INT);
	return type_tensor(t, x->dtype, x->dims + 1, x->n_dims - 1);
}

bool
batch_rows_open(struct batch_rows_in *r, const uint8_t *p, const uint8_t *end)
{
	uint8_t head[TENSOR_HEAD_MAX];
	struct mp m;

	mp_head(p, end, &m);
	r->end = end;
	r->tensor = m.kind == MP_EXT;
	if (m.kind == MP_LIST) {
		r->at = m.p;
		r->left = m.n;
		return true;
	}
	if (!r->tensor || m.ext != MP_EXT_TENSOR || !tensor_read(m.p, m.n, &r->t) || !r->t.n_dims)
		return false;
	r->left = r->t.dims[0];
	r->item.dtype = r->t.dtype;
	r->item.n_dims = r->t.n_dims - 1;
	memcpy(r->item.dims, r->t.dims + 1, (size_t)r->item.n_dims * sizeof r->item.dims[0]);
	if (!tensor_put_head(head, &r->item))
		return false; /* a tensor without rows, which would each be too large */
	r->item.data = r->t.data;
	return true;
}

void
batch_rows_skip(struct batch_rows_in *r)
{
	r->left--;
	if (r->tensor)
		r->item.data += r->item.size;
	else
		r->at = mp_skip(r->at, r->end);
}

size_t
batch_rows_lend(const struct batch_rows_in *r, const uint8_t **p)
{
	if (r->tensor)
		return 0;
	*p = r->at;
	return (size_t)(mp_skip(r->at, r->end) - r->at);
}

size_t
batch_rows_next_size(const struct batch_rows_in *r)
{
	if (!r->tensor)
		return (size_t)(mp_skip(r->at, r->end) - r->at);
	return r->item.n_dims ? TENSOR_HEAD_MAX + r->item.size : MP_FLOAT_MAX;
}

uint8_t *
batch_rows_next(struct batch_rows_in *r, uint8_t *w)
{
	struct tensor t = r->item;

	if (!r->tensor) {
		size_t n = (size_t)(mp_skip(r->at, r->end) - r->at);

		memcpy(w, r->at, n);
		w += n;
	} else if (!t.n_dims) {
		w = dtype_put(t.dtype, t.data, w);
	} else {
		w = tensor_put_head(w, &t);
		if (t.size)
			memcpy(w, r->item.data, t.size);
		w += t.size;
	}
	batch_rows_skip(r);
	return w;
}
