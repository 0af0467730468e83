/* SPDX-License-Identifier: MIT
 *
 * Tensors of one dtype and rank, put into one with a new first dimension; where
 * they differ in shape, the gaps are filled:
 *
 *	f32[3] f32[1]  ->  f32[2,3]    rows are copied whole: the last dimension
 */
#include <string.h>

#include "op/batch/batch_collect.h"
#include "value/dtype.h"
#include "value/mp.h"
#include "value/tensor.h"

/* Writes a number in the dtype; false: it does not fit. */
static bool
padding_number(enum dtype d, const struct mp *m, uint8_t *out)
{
	static const int64_t least[] = { [DTYPE_I8] = INT8_MIN, [DTYPE_I16] = INT16_MIN,
					 [DTYPE_I32] = INT32_MIN, [DTYPE_I64] = INT64_MIN,
					 [DTYPE_BOOL] = 0 };
	static const int64_t most[] = { [DTYPE_U8] = UINT8_MAX, [DTYPE_U16] = UINT16_MAX,
					[DTYPE_U32] = UINT32_MAX, [DTYPE_U64] = INT64_MAX,
					[DTYPE_I8] = INT8_MAX, [DTYPE_I16] = INT16_MAX,
					[DTYPE_I32] = INT32_MAX, [DTYPE_I64] = INT64_MAX,
					[DTYPE_BOOL] = 1 };
	double f = m->kind == MP_FLOAT ? m->f : m->unsigned_big ? (double)m->u : (double)m->i;
	int64_t i = m->kind == MP_BOOL ? m->b : m->i;

	if (dtype_is_float(d)) {
		if (m->kind != MP_INT && m->kind != MP_FLOAT)
			return false;
		dtype_put_float(d, f, out);
		return true;
	}
	if (m->kind != MP_INT && m->kind != MP_BOOL)
		return false;
	if ((m->kind == MP_INT && m->unsigned_big) ? d != DTYPE_U64 : i < least[d] || i > most[d])
		return false;
	memcpy(out, &i, dtype_size(d)); /* little-endian, like the data of tensors */
	return true;
}

/* Reads a tensor of the list at p; gives its end. NULL: it is not a tensor, or differs from
 * the first in dtype or rank. */
static const uint8_t *
padding_read(const uint8_t *p, const uint8_t *end, const struct tensor *like, struct tensor *t)
{
	struct mp m;
	const uint8_t *next = mp_head(p, end, &m);

	if (m.kind != MP_EXT || m.ext != MP_EXT_TENSOR || !tensor_read(m.p, m.n, t))
		return NULL;
	return like && (t->dtype != like->dtype || t->n_dims != like->n_dims) ? NULL : next;
}

/* Copies t, row by row, into the block of `to` that begins at data. */
static void
padding_copy(const struct tensor *t, const struct tensor *to, uint8_t *data)
{
	size_t one = dtype_size(t->dtype), rank = (size_t)t->n_dims;
	uint64_t row = rank ? t->dims[rank - 1] : 1, at[TYPE_DIMS_MAX] = { 0 };
	const uint8_t *from = t->data;

	for (uint64_t left = row ? t->count / row : 0; left; left--) {
		uint64_t place = 0;

		for (size_t d = 0; d < rank; d++)
			place = place * to->dims[d + 1] + at[d];
		memcpy(data + place * one, from, row * one);
		from += row * one;
		for (size_t d = rank > 1 ? rank - 1 : 0; d-- > 0;) {
			if (++at[d] < t->dims[d])
				break;
			at[d] = 0;
		}
	}
}

static enum status
padding_shape_of(const struct padding *pad, const struct mp *list, const uint8_t *end,
		 struct tensor *to, struct err *e)
{
	struct tensor first, t;
	const uint8_t *p = list->p;

	padding_read(p, end, NULL, &first);
	for (uint32_t k = 0; k < list->n; k++) {
		p = padding_read(p, end, &first, &t);
		if (!p)
			return err_set(e, ST_DATA, "the elements of a batch are tensors of different "
				       "dtypes or ranks");
		to->dtype = t.dtype;
		to->n_dims = t.n_dims + 1;
		for (int d = 0; d < t.n_dims && d + 1 < TYPE_DIMS_MAX; d++)
			if (t.dims[d] > to->dims[d + 1])
				to->dims[d + 1] = t.dims[d];
	}
	if (to->n_dims > TYPE_DIMS_MAX)
		return err_set(e, ST_DATA, "a tensor cannot have more than %d dimensions", TYPE_DIMS_MAX);
	to->dims[0] = list->n;
	if (pad->n_shape && pad->n_shape != to->n_dims - 1)
		return err_set(e, ST_DATA, "shape has %d lengths, but the tensors have %d dimensions",
			       pad->n_shape, to->n_dims - 1);
	for (int d = 1; d < to->n_dims && pad->n_shape; d++) {
		int64_t want = pad->shape[d - 1];

		if (want >= 0 && to->dims[d] > (uint64_t)want)
			return err_set(e, ST_DATA, "a dimension of %llu is larger than shape, %lld",
				       (unsigned long long)to->dims[d], (long long)want);
		if (want >= 0)
			to->dims[d] = (uint64_t)want;
	}
	return ST_OK;
}

bool
padding_is_tensors(const uint8_t *p, const uint8_t *end)
{
	struct tensor t;
	struct mp m;

	mp_head(p, end, &m);
	return m.kind == MP_LIST && m.n && padding_read(m.p, end, NULL, &t);
}

enum status
padding_tensors(const struct padding *pad, const uint8_t *p, const uint8_t *end, size_t max,
		struct buf *out, struct err *e)
{
	struct tensor to = { 0 }, t;
	struct mp list, value = { .kind = MP_INT };
	uint8_t one[8] = { 0 }, *data, *head;
	size_t size, count = 1, begin = out->len;

	mp_head(p, end, &list);
	if (padding_shape_of(pad, &list, end, &to, e) != ST_OK)
		return e->kind;
	if (pad->value && pad->value->len)
		mp_head(pad->value->data, buf_end(pad->value), &value);
	if (!padding_number(to.dtype, &value, one))
		return err_set(e, ST_DATA, "pad= is not a number that fits %s", dtype_name(to.dtype));
	size = dtype_size(to.dtype);
	for (int d = 0; d < to.n_dims; d++)
		if (__builtin_mul_overflow(count, (size_t)to.dims[d], &count) || count > max / size)
			return err_set(e, ST_DATA, "a padded batch is larger than the limit of %zu bytes",
				       max);
	head = buf_room(out, TENSOR_HEAD_MAX + count * size);
	data = tensor_put_head(head, &to);
	if (!data)
		return err_set(e, ST_DATA, "a padded batch is larger than a tensor can be");
	for (size_t i = 0; i < count; i++)
		memcpy(data + i * size, one, size);
	p = list.p;
	for (uint32_t k = 0; k < list.n; k++) {
		p = padding_read(p, end, NULL, &t);
		padding_copy(&t, &to, data + k * (count / list.n) * size);
	}
	out->len = begin + (size_t)(data - head) + count * size;
	return ST_OK;
}
