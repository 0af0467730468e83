/* SPDX-License-Identifier: MIT */
#include "value/type_zero.h"

#include <string.h>

#include "value/mp.h"
#include "value/tensor.h"

enum { ZERO_DEPTH = 32, ZERO_BYTES = 1 << 28 };

static bool
zero_tensor(const struct type *t, struct buf *out)
{
	struct tensor x = { .dtype = t->dtype, .n_dims = t->n_dims };
	size_t size = dtype_size(t->dtype);

	if (t->n_dims < 0)
		return false;
	for (int i = 0; i < t->n_dims; i++) {
		if (t->dims[i] < 0 || (t->dims[i] && size > ZERO_BYTES / (size_t)t->dims[i]))
			return false;
		x.dims[i] = (uint64_t)t->dims[i];
		size *= (size_t)t->dims[i];
	}
	uint8_t *p = buf_room(out, TENSOR_HEAD_MAX + size), *to = tensor_put_head(p, &x);
	if (!to)
		return false;
	memset(to, 0, size);
	out->len += (size_t)(to + size - p);
	return true;
}

static bool
zero_value(const struct type *t, struct buf *out, int depth)
{
	uint8_t *p = buf_room(out, MP_HEAD_MAX + MP_INT_MAX), *end = p;
	bool ok = true;

	if (!t || depth == ZERO_DEPTH)
		return false;
	if (t->nullable || t->kind == TYPE_NIL)
		end = mp_put_nil(p);
	else if (t->kind == TYPE_BOOL)
		end = mp_put_bool(p, false);
	else if (t->kind == TYPE_INT)
		end = mp_put_int(p, 0);
	else if (t->kind == TYPE_FLOAT)
		end = mp_put_float(p, 0);
	else if (t->kind == TYPE_TEXT)
		end = mp_put_text_head(p, 0);
	else if (t->kind == TYPE_BYTES)
		end = mp_put_bytes_head(p, 0);
	else if (t->kind == TYPE_LIST)
		end = mp_put_list_head(p, 0);
	else if (t->kind == TYPE_TENSOR)
		return zero_tensor(t, out);
	else if (t->kind == TYPE_RECORD && !t->open)
		end = mp_put_record_head(p, (uint32_t)t->n_fields);
	else
		return false;
	out->len += (size_t)(end - p);
	for (size_t i = 0; t->kind == TYPE_RECORD && !t->nullable && i < t->n_fields && ok; i++) {
		size_t n = strlen(t->fields[i].name);

		p = buf_room(out, MP_HEAD_MAX);
		out->len += (size_t)(mp_put_text_head(p, (uint32_t)n) - p);
		buf_put(out, t->fields[i].name, n);
		ok = zero_value(t->fields[i].type, out, depth + 1);
	}
	return ok;
}

bool
type_zero(const struct type *t, struct buf *out)
{
	return zero_value(t, out, 0);
}
