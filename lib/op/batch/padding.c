/* SPDX-License-Identifier: MIT
 *
 * Lists in lists, made rectangular:
 *
 *	[[1,2,3],[4],[]]  ->  [[1,2,3],[4,0,0],[0,0,0]]
 *
 * First the longest list at each depth is measured, then all is written with
 * the gaps filled. Depth is bounded by TYPE_DIMS_MAX, so recursion is too.
 */
#include <string.h>

#include "op/batch/batch_collect.h"
#include "value/mp.h"

struct padding_walk {
	const uint8_t *end;
	int64_t dims[TYPE_DIMS_MAX + 1]; /* the lengths; [0] is that of the batch */
	int rank;                        /* depth at which values lie; -1: no value seen yet */
	/* depth of the deepest list, which is the rank when there is no value */
	int deepest;
	enum mp_kind kind;               /* kind of the first value that is not null */
	struct buf fill;
	struct buf *out;
};

enum status
padding_shape(const struct buf *list, struct padding *out, struct err *e)
{
	struct mp m, item;
	const uint8_t *p, *end = buf_end(list);

	out->n_shape = 0;
	if (!list->len)
		return ST_OK;
	mp_head(list->data, end, &m);
	if (m.kind != MP_LIST || m.n > TYPE_DIMS_MAX) {
		err_set(e, ST_DATA, "shape is not a list of lengths");
		err_help(e, "shape=[20], shape=[null, 3]");
		return ST_DATA;
	}
	p = m.p;
	for (uint32_t k = 0; k < m.n; k++) {
		p = mp_head(p, end, &item);
		if (item.kind == MP_NIL)
			out->shape[k] = -1;
		else if (item.kind == MP_INT && !item.unsigned_big && item.i >= 0)
			out->shape[k] = item.i;
		else
			return err_set(e, ST_DATA, "a length in shape is neither a number nor null");
	}
	out->n_shape = (int)m.n;
	return ST_OK;
}

/* Measures the value at p; gives its end, NULL when ranks differ or it lies too deep. */
static const uint8_t *
padding_measure(struct padding_walk *w, const uint8_t *p, int depth)
{
	struct mp m;
	const uint8_t *next = mp_head(p, w->end, &m);

	if (m.kind != MP_LIST) {
		if ((w->rank >= 0 && w->rank != depth) || depth < w->deepest)
			return NULL;
		if (w->rank < 0 || w->kind == MP_NIL)
			w->kind = m.kind;
		w->rank = depth;
		return m.kind == MP_RECORD ? mp_skip(p, w->end) : next;
	}
	if (depth > TYPE_DIMS_MAX || (w->rank >= 0 && depth >= w->rank))
		return NULL;
	if (depth + 1 > w->deepest)
		w->deepest = depth + 1;
	if (m.n > w->dims[depth])
		w->dims[depth] = m.n;
	p = m.p;
	for (uint32_t k = 0; p && k < m.n; k++)
		p = padding_measure(w, p, depth + 1);
	return p;
}

static void
padding_head(struct padding_walk *w, uint32_t n)
{
	uint8_t *p = buf_room(w->out, MP_HEAD_MAX);

	w->out->len = (size_t)(mp_put_list_head(p, n) - w->out->data);
}

static void
padding_fill(struct padding_walk *w, int depth)
{
	if (depth == w->rank) {
		buf_put(w->out, w->fill.data, w->fill.len);
		return;
	}
	padding_head(w, (uint32_t)w->dims[depth]);
	for (int64_t k = 0; k < w->dims[depth]; k++)
		padding_fill(w, depth + 1);
}

static const uint8_t *
padding_write(struct padding_walk *w, const uint8_t *p, int depth)
{
	const uint8_t *next;
	struct mp m;

	if (depth == w->rank) {
		next = mp_skip(p, w->end);
		buf_put(w->out, p, (size_t)(next - p));
		return next;
	}
	mp_head(p, w->end, &m);
	p = m.p;
	padding_head(w, (uint32_t)w->dims[depth]);
	for (uint32_t k = 0; k < m.n; k++)
		p = padding_write(w, p, depth + 1);
	for (int64_t k = m.n; k < w->dims[depth]; k++)
		padding_fill(w, depth + 1);
	return p;
}

/* For a batch without any value: the type and shape= tell, as far as they know, how deep its
 * lists are and what would be in them. Numbers are the default. */
static void
padding_guess(struct padding_walk *w, const struct padding *pad, const struct type *type)
{
	int rank = w->deepest > pad->n_shape + 1 ? w->deepest : pad->n_shape + 1, depth = 1;

	for (; type && type->kind == TYPE_LIST && depth < TYPE_DIMS_MAX; depth++)
		type = type->item;
	w->rank = rank > depth ? rank : depth;
	switch (type ? type->kind : TYPE_ANY) {
	case TYPE_FLOAT: w->kind = MP_FLOAT; break;
	case TYPE_BOOL: w->kind = MP_BOOL; break;
	case TYPE_TEXT: w->kind = MP_TEXT; break;
	case TYPE_BYTES: w->kind = MP_BYTES; break;
	default: w->kind = MP_INT; break;
	}
}

static void
padding_value(struct padding_walk *w, const struct padding *pad)
{
	uint8_t *p = buf_room(&w->fill, MP_FLOAT_MAX), *to;

	if (pad->value && pad->value->len) {
		buf_put(&w->fill, pad->value->data, pad->value->len);
		return;
	}
	switch (w->kind) {
	case MP_INT: to = mp_put_int(p, 0); break;
	case MP_FLOAT: to = mp_put_float(p, 0.0); break;
	case MP_BOOL: to = mp_put_bool(p, false); break;
	case MP_TEXT: to = mp_put_text_head(p, 0); break;
	case MP_BYTES: to = mp_put_bytes_head(p, 0); break;
	default: to = mp_put_nil(p); break;
	}
	w->fill.len = (size_t)(to - p);
}

/* Applies shape=, and checks that all lists fit into it. */
static enum status
padding_dims(struct padding_walk *w, const struct padding *pad, size_t max, struct err *e)
{
	size_t values = 1;

	if (pad->n_shape && w->rank > 1 && pad->n_shape != w->rank - 1)
		return err_set(e, ST_DATA, "shape has %d lengths, but lists lie %d deep",
			       pad->n_shape, w->rank - 1);
	for (int d = 1; d < w->rank; d++) {
		int64_t want = d - 1 < pad->n_shape ? pad->shape[d - 1] : -1;

		if (want >= 0 && w->dims[d] > want)
			return err_set(e, ST_DATA, "a list of %lld items is longer than shape, %lld",
				       (long long)w->dims[d], (long long)want);
		if (want >= 0)
			w->dims[d] = want;
	}
	for (int d = 0; d < w->rank; d++)
		if (__builtin_mul_overflow(values, (size_t)(w->dims[d] + 1), &values) || values > max)
			return err_set(e, ST_DATA,
				       "a padded batch is larger than the limit of %zu bytes", max);
	if (values > max / w->fill.len)
		return err_set(e, ST_DATA, "a padded batch is larger than the limit of %zu bytes",
			       max);
	return ST_OK;
}

enum status
padding_list(const struct padding *pad, const struct type *type, const uint8_t *p,
	     const uint8_t *end, size_t max, struct buf *out, struct err *e)
{
	struct padding_walk w = { .end = end, .rank = -1, .out = out };
	enum status st;

	if (padding_is_tensors(p, end))
		return padding_tensors(pad, p, end, max, out, e);
	if (!padding_measure(&w, p, 0)) {
		err_set(e, ST_DATA, "the elements of a batch are lists of different depths");
		err_help(e, "ragged_batch takes them as they are");
		return ST_DATA;
	}
	if (w.rank < 0)
		padding_guess(&w, pad, type);
	padding_value(&w, pad);
	st = padding_dims(&w, pad, max, e);
	if (st == ST_OK)
		padding_write(&w, p, 0);
	buf_clear(&w.fill);
	return st;
}
