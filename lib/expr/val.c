/* SPDX-License-Identifier: MIT */
#include "expr/val.h"

#include <math.h>

static const char *const val_names[VAL_KINDS] = { /* ORDER val_names */
	"null", "bool", "int", "int", "float", "text", "bytes", "list", "record", "tensor",
	"regular expression"
};

const char *
val_kind_name(unsigned kind)
{
	return val_names[kind];
}

static void
val_load_bytes(struct val *v, enum val_kind kind, const uint8_t *p, unsigned head, uint32_t n)
{
	v->kind = (uint8_t)kind;
	v->head = (uint8_t)head;
	v->n = n;
	v->p = p + head;
}

void
val_load_slow(const uint8_t *p, struct val *v)
{
	uint8_t c = *p;
	float f;
	uint32_t bits;

	v->n = 0;
	v->head = 0;
	v->depth = 0;
	v->p = p;
	switch (c) {
	case 0xc4: val_load_bytes(v, VAL_BYTES, p, 2, p[1]); return;
	case 0xc5: val_load_bytes(v, VAL_BYTES, p, 3, mp_u16(p + 1)); return;
	case 0xc6: val_load_bytes(v, VAL_BYTES, p, 5, mp_u32(p + 1)); return;
	case 0xda: val_load_bytes(v, VAL_TEXT, p, 3, mp_u16(p + 1)); return;
	case 0xdb: val_load_bytes(v, VAL_TEXT, p, 5, mp_u32(p + 1)); return;
	case 0xca:
		bits = mp_u32(p + 1);
		memcpy(&f, &bits, 4);
		v->kind = VAL_FLOAT;
		v->f = f;
		return;
	case 0xcf:
		v->u = mp_u64(p + 1);
		v->kind = v->u > INT64_MAX ? VAL_BIG : VAL_INT;
		return;
	case 0xd0: v->kind = VAL_INT; v->i = (int8_t)p[1]; return;
	case 0xd1: v->kind = VAL_INT; v->i = (int16_t)mp_u16(p + 1); return;
	case 0xd2: v->kind = VAL_INT; v->i = (int32_t)mp_u32(p + 1); return;
	case 0xd3: v->kind = VAL_INT; v->i = (int64_t)mp_u64(p + 1); return;
	case 0xdc: case 0xdd: v->kind = VAL_LIST; return;
	case 0xde: case 0xdf: v->kind = VAL_RECORD; return;
	default:
		v->kind = c < 0x90 ? VAL_RECORD : c < 0xa0 ? VAL_LIST
			: c == 0xc0 ? VAL_NIL : VAL_EXT;
	}
}

uint32_t
val_count(const struct val *v, const uint8_t **first)
{
	const uint8_t *p = v->p;

	switch (*p) {
	case 0xdc: case 0xde: *first = p + 3; return mp_u16(p + 1);
	case 0xdd: case 0xdf: *first = p + 5; return mp_u32(p + 1);
	default: *first = p + 1; return *p & 15u;
	}
}

unsigned
val_depth(const struct val *v)
{
	uint64_t left[MP_DEPTH_MAX + 1];
	unsigned depth = 0, most = 0;
	const uint8_t *p = v->p;
	struct val item = *v;

	if (v->kind != VAL_LIST && v->kind != VAL_RECORD)
		return 0;
	if (v->depth)
		return v->depth;
	for (;;) {
		if (item.kind == VAL_LIST || item.kind == VAL_RECORD) {
			if (depth == MP_DEPTH_MAX)
				return depth + 1;
			left[depth] = val_count(&item, &p);
			if (item.kind == VAL_RECORD)
				left[depth] *= 2;
			if (++depth > most)
				most = depth;
		} else {
			p = mp_past(p);
		}
		while (depth && !left[depth - 1])
			depth--;
		if (!depth)
			return most;
		left[depth - 1]--;
		val_load(p, &item);
	}
}

size_t
val_size(const struct val *v)
{
	switch (v->kind) {
	case VAL_TEXT:
	case VAL_BYTES:
		return (size_t)v->n + MP_HEAD_MAX;
	case VAL_LIST:
	case VAL_RECORD:
	case VAL_EXT:
		return val_span(v);
	default:
		return MP_INT_MAX;
	}
}

uint8_t *
val_encode(const struct val *v, uint8_t *p)
{
	uint32_t n = v->n;

	switch (v->kind) {
	case VAL_BOOL: return mp_put_bool(p, v->b);
	case VAL_INT: return mp_put_int(p, v->i);
	case VAL_BIG: return mp_put_uint(p, v->u);
	case VAL_FLOAT: return mp_put_float(p, v->f);
	case VAL_TEXT:
	case VAL_BYTES:
		p = v->kind == VAL_TEXT ? mp_put_text_head(p, n) : mp_put_bytes_head(p, n);
		break;
	case VAL_LIST:
	case VAL_RECORD:
	case VAL_EXT:
		n = val_span(v);
		break;
	default:
		return mp_put_nil(p);
	}
	if (n)
		memcpy(p, v->p, n);
	return p + n;
}

void
val_put(const struct val *v, struct buf *out)
{
	uint8_t *p = buf_room(out, val_size(v));

	out->len += (size_t)(val_encode(v, p) - p);
}

void
val_key_init(struct val_key *k, const uint8_t *enc, uint32_t len)
{
	uint32_t w = len > 8 ? 8 : len >= 4 ? 4 : 0;
	struct val v = { 0 };

	memset(k, 0, sizeof *k);
	k->enc = enc;
	k->len = len;
	val_load(enc, &v);
	k->name_len = v.n;
	if (w == 8) {
		memcpy(&k->a, enc, 8);
		memcpy(&k->b, enc + len - 8, 8);
	} else if (w == 4) {
		uint32_t a, b;

		memcpy(&a, enc, 4);
		memcpy(&b, enc + len - 4, 4);
		k->a = a;
		k->b = b;
	}
}

bool
val_key_slow(const struct val_key *k, const uint8_t *p)
{
	struct val v = { 0 };

	val_load(p, &v);
	return v.n == k->name_len && !memcmp(v.p, k->enc + k->len - k->name_len, v.n);
}

double
val_to_float(const struct val *v)
{
	return v->kind == VAL_FLOAT ? v->f : v->kind == VAL_BIG ? (double)v->u : (double)v->i;
}

/* Compares an int with a float, exactly. */
static int
val_compare_mixed(__int128 i, double f)
{
	if (isnan(f))
		return 2;
	if (f >= 0x1p65)
		return -1;
	if (f <= -0x1p65)
		return 1;
	__int128 whole = (__int128)f; /* rounded towards zero */
	if (i != whole)
		return i < whole ? -1 : 1;
	double rest = f - (double)whole;
	return rest > 0 ? -1 : rest < 0;
}

int
val_compare_numbers(const struct val *a, const struct val *b)
{
	if (a->kind == VAL_FLOAT && b->kind == VAL_FLOAT) {
		if (isnan(a->f) || isnan(b->f))
			return 2;
		return (a->f > b->f) - (a->f < b->f);
	}
	if (b->kind == VAL_FLOAT)
		return val_compare_mixed(val_to_wide(a), b->f);
	if (a->kind == VAL_FLOAT) {
		int c = val_compare_mixed(val_to_wide(b), a->f);

		return c == 2 ? 2 : -c;
	}
	__int128 i = val_to_wide(a), j = val_to_wide(b);
	return (i > j) - (i < j);
}

int
val_compare_bytes(const struct val *a, const struct val *b)
{
	if (a->kind == VAL_LIST || a->kind == VAL_RECORD || a->kind == VAL_EXT)
		return mp_compare(a->p, val_span(a), b->p, val_span(b));
	uint32_t n = a->n < b->n ? a->n : b->n;
	int c = n ? memcmp(a->p, b->p, n) : 0;
	if (c)
		return c < 0 ? -1 : 1;
	return (a->n > b->n) - (a->n < b->n);
}

bool
val_equal_slow(const struct val *a, const struct val *b)
{
	if (val_is_number(a) && val_is_number(b))
		return val_compare_numbers(a, b) == 0;
	if (a->kind != b->kind)
		return false;
	switch (a->kind) {
	case VAL_NIL: return true;
	case VAL_BOOL: return a->b == b->b;
	case VAL_REGEX: return false;
	default: return val_compare_bytes(a, b) == 0;
	}
}
