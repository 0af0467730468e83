/* SPDX-License-Identifier: MIT */
#include "value/tensor.h"

#include <endian.h>
#include <string.h>

#include "value/dtype.h"
#include "value/mp.h"
#include "value/num.h"

enum { TENSOR_FIXED = 4 }; /* bytes before the dims */

static bool
tensor_count(struct tensor *t)
{
	t->count = 1;
	for (int i = 0; i < t->n_dims; i++)
		if (__builtin_mul_overflow(t->count, t->dims[i], &t->count))
			return false;
	uint64_t size;
	if (__builtin_mul_overflow(t->count, dtype_size(t->dtype), &size) || size > UINT32_MAX)
		return false;
	t->size = (size_t)size;
	return true;
}

bool
tensor_read(const uint8_t *p, size_t n, struct tensor *t)
{
	if (n < TENSOR_FIXED || p[0] != TENSOR_VERSION || p[1] >= DTYPE_COUNT
	    || p[2] > TYPE_DIMS_MAX)
		return false;
	size_t head = TENSOR_FIXED + 8u * p[2] + p[3];
	if (n < head)
		return false;
	t->dtype = p[1];
	t->n_dims = p[2];
	for (int i = 0; i < t->n_dims; i++) {
		uint64_t d;

		memcpy(&d, p + TENSOR_FIXED + 8 * i, 8);
		t->dims[i] = le64toh(d);
	}
	t->data = p + head;
	return tensor_count(t) && t->size == n - head;
}

uint8_t *
tensor_put_head(uint8_t *p, struct tensor *t)
{
	size_t head = TENSOR_FIXED + 8u * (unsigned)t->n_dims;
	unsigned pad = -head & 7;

	if (!tensor_count(t) || t->size > UINT32_MAX - head - pad)
		return NULL;
	p = mp_put_ext_head(p, MP_EXT_TENSOR, (uint32_t)(head + pad + t->size));
	*p++ = TENSOR_VERSION;
	*p++ = (uint8_t)t->dtype;
	*p++ = (uint8_t)t->n_dims;
	*p++ = (uint8_t)pad;
	for (int i = 0; i < t->n_dims; i++) {
		uint64_t d = htole64(t->dims[i]);

		memcpy(p, &d, 8);
		p += 8;
	}
	memset(p, 0, pad);
	return t->data = p + pad, p + pad;
}

static char *
tensor_print_one(enum dtype d, const uint8_t *p, const struct json_rules *rules, bool *refused, char *out)
{
	uint16_t u16;
	uint32_t u32;
	uint64_t u64;
	float f;
	double g;

	switch (d) {
	case DTYPE_U8: return num_print_uint(*p, out);
	case DTYPE_I8: return num_print_int((int8_t)*p, out);
	case DTYPE_U16:
	case DTYPE_I16:
		memcpy(&u16, p, 2);
		u16 = le16toh(u16);
		return d == DTYPE_U16 ? num_print_uint(u16, out) : num_print_int((int16_t)u16, out);
	case DTYPE_U32:
	case DTYPE_I32:
	case DTYPE_F32:
		memcpy(&u32, p, 4);
		u32 = le32toh(u32);
		memcpy(&f, &u32, 4);
		return d == DTYPE_U32 ? num_print_uint(u32, out)
			: d == DTYPE_I32 ? num_print_int((int32_t)u32, out)
			: json_rules_float(rules, (double)f, refused, out);
	case DTYPE_U64:
	case DTYPE_I64:
	case DTYPE_F64:
		memcpy(&u64, p, 8);
		u64 = le64toh(u64);
		memcpy(&g, &u64, 8);
		return d == DTYPE_U64 ? num_print_uint(u64, out)
			: d == DTYPE_I64 ? num_print_int((int64_t)u64, out)
			: json_rules_float(rules, g, refused, out);
	case DTYPE_F16:
	case DTYPE_BF16: return json_rules_float(rules, dtype_float(d, p), refused, out);
	default:
		memcpy(out, *p ? "true" : "false", 5);
		return out + (*p ? 4 : 5);
	}
}

bool
tensor_print(const struct tensor *t, const struct json_rules *rules, struct buf *out)
{
	uint64_t at[TYPE_DIMS_MAX] = { 0 };
	size_t each = dtype_size(t->dtype);
	int open = 0; /* number of brackets to open before the next number */
	bool refused = false;

	if (!t->count) {
		/* [1000000000, 0] would print a gigabyte of brackets */
		buf_str(out, "[]");
		return true;
	}
	for (uint64_t i = 0; i < t->count; i++) {
		char *start = (char *)buf_room(out, NUM_FLOAT_MAX + 2 * TYPE_DIMS_MAX + 1), *w = start;
		int d = t->n_dims - 1;

		for (; open < t->n_dims; open++)
			*w++ = '[';
		w = tensor_print_one(t->dtype, t->data + i * each, rules, &refused, w);
		for (; d >= 0 && ++at[d] == t->dims[d]; d--) {
			at[d] = 0;
			*w++ = ']';
			open--;
		}
		if (d >= 0)
			*w++ = ',';
		out->len += (size_t)(w - start);
	}
	return !refused;
}
