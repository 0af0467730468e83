/* SPDX-License-Identifier: MIT */
#include "value/mp.h"

/* The bytes that follow 0xc0 to 0xdf: how many are fixed (whole numbers, or the length field,
 * plus the type byte of an ext), and how the length field counts. */
enum mp_tail { TAIL_NONE, TAIL_LEN8, TAIL_LEN16, TAIL_LEN32, TAIL_N16, TAIL_N32, TAIL_BAD };
static const struct { uint8_t fixed, tail, kind, scale; } mp_heads[32] = {
	[0x00] = { 0, TAIL_NONE, MP_NIL, 0 },
	[0x01] = { 0, TAIL_BAD, MP_BAD, 0 },
	[0x02] = { 0, TAIL_NONE, MP_BOOL, 0 }, [0x03] = { 0, TAIL_NONE, MP_BOOL, 0 },
	[0x04] = { 1, TAIL_LEN8, MP_BYTES, 0 }, [0x05] = { 2, TAIL_LEN16, MP_BYTES, 0 },
	[0x06] = { 4, TAIL_LEN32, MP_BYTES, 0 },
	[0x07] = { 2, TAIL_LEN8, MP_EXT, 0 }, [0x08] = { 3, TAIL_LEN16, MP_EXT, 0 },
	[0x09] = { 5, TAIL_LEN32, MP_EXT, 0 },
	[0x0a] = { 4, TAIL_NONE, MP_FLOAT, 0 }, [0x0b] = { 8, TAIL_NONE, MP_FLOAT, 0 },
	[0x0c] = { 1, TAIL_NONE, MP_INT, 0 }, [0x0d] = { 2, TAIL_NONE, MP_INT, 0 },
	[0x0e] = { 4, TAIL_NONE, MP_INT, 0 }, [0x0f] = { 8, TAIL_NONE, MP_INT, 0 },
	[0x10] = { 1, TAIL_NONE, MP_INT, 0 }, [0x11] = { 2, TAIL_NONE, MP_INT, 0 },
	[0x12] = { 4, TAIL_NONE, MP_INT, 0 }, [0x13] = { 8, TAIL_NONE, MP_INT, 0 },
	[0x14] = { 2, TAIL_NONE, MP_EXT, 0 }, [0x15] = { 3, TAIL_NONE, MP_EXT, 0 },
	[0x16] = { 5, TAIL_NONE, MP_EXT, 0 }, [0x17] = { 9, TAIL_NONE, MP_EXT, 0 },
	[0x18] = { 17, TAIL_NONE, MP_EXT, 0 },
	[0x19] = { 1, TAIL_LEN8, MP_TEXT, 0 }, [0x1a] = { 2, TAIL_LEN16, MP_TEXT, 0 },
	[0x1b] = { 4, TAIL_LEN32, MP_TEXT, 0 },
	[0x1c] = { 2, TAIL_N16, MP_LIST, 1 }, [0x1d] = { 4, TAIL_N32, MP_LIST, 1 },
	[0x1e] = { 2, TAIL_N16, MP_RECORD, 2 }, [0x1f] = { 4, TAIL_N32, MP_RECORD, 2 },
};

/* Steps over one head and, for text, bytes and ext, its contents; *items is the number of
 * values inside it. NULL: malformed. */
static inline const uint8_t *
mp_step(const uint8_t *p, const uint8_t *end, uint64_t *items)
{
	*items = 0;
	if (p >= end)
		return NULL;
	uint8_t c = *p++;
	size_t left = (size_t)(end - p);
	size_t n = 0;

	if (c < 0x80 || c >= 0xe0)
		return p;
	if (c < 0xc0) {
		if (c >= 0xa0) {
			n = c & 31u;
			return n <= left ? p + n : NULL;
		}
		*items = c < 0x90 ? 2u * (c & 15u) : c & 15u;
		return p;
	}
	unsigned fixed = mp_heads[c & 31].fixed;
	if (fixed > left)
		return NULL;
	switch ((enum mp_tail)mp_heads[c & 31].tail) {
	case TAIL_NONE: return p + fixed;
	case TAIL_LEN8: n = *p; break;
	case TAIL_LEN16: n = mp_u16(p); break;
	case TAIL_LEN32: n = mp_u32(p); break;
	case TAIL_N16: *items = (uint64_t)mp_u16(p) * mp_heads[c & 31].scale; return p + fixed;
	case TAIL_N32: *items = (uint64_t)mp_u32(p) * mp_heads[c & 31].scale; return p + fixed;
	case TAIL_BAD: return NULL;
	}
	return n <= left - fixed ? p + fixed + n : NULL;
}

const uint8_t *
mp_skip(const uint8_t *p, const uint8_t *end)
{
	uint64_t left = 1, items;

	do {
		p = mp_step(p, end, &items);
		if (!p)
			return NULL;
		left += items - 1;
		/* Each value still to come has at least one byte. This also keeps `left` far
		 * from overflow. */
		if (left > (uint64_t)(end - p))
			return NULL;
	} while (left);
	return p;
}

#define FOUR(n) n, n, n, n
#define SIXTEEN(n) FOUR(n), FOUR(n), FOUR(n), FOUR(n)
#define STEPS(n) n, n + 1, n + 2, n + 3, n + 4, n + 5, n + 6, n + 7, \
	n + 8, n + 9, n + 10, n + 11, n + 12, n + 13, n + 14, n + 15

const uint8_t mp_fixed[256] = {
	SIXTEEN(1), SIXTEEN(1), SIXTEEN(1), SIXTEEN(1),
	SIXTEEN(1), SIXTEEN(1), SIXTEEN(1), SIXTEEN(1),
	[0x80] = 1, [0x90] = 1, /* empty ones; others need a walk */
	[0xa0] = STEPS(1), STEPS(17),
	[0xc0] = 1, 1, 1, 1,
	[0xca] = 5, 9, 2, 3, 5, 9, 2, 3, 5, 9, 3, 4, 6, 10, 18,
	[0xe0] = SIXTEEN(1), SIXTEEN(1)
};

const uint8_t *
mp_past_slow(const uint8_t *p)
{
	uint64_t left = 1;

	do {
		uint8_t c = *p;
		unsigned n = mp_fixed[c];

		left--;
		if (n) {
			p += n;
			continue;
		}
		switch (c) {
		case 0xc4: case 0xd9: p += 2u + p[1]; break;
		case 0xc5: case 0xda: p += 3u + mp_u16(p + 1); break;
		case 0xc6: case 0xdb: p += 5u + (size_t)mp_u32(p + 1); break;
		case 0xc7: p += 3u + p[1]; break;
		case 0xc8: p += 4u + mp_u16(p + 1); break;
		case 0xc9: p += 6u + (size_t)mp_u32(p + 1); break;
		case 0xdc: left += mp_u16(p + 1); p += 3; break;
		case 0xdd: left += mp_u32(p + 1); p += 5; break;
		case 0xde: left += 2u * mp_u16(p + 1); p += 3; break;
		case 0xdf: left += 2ull * mp_u32(p + 1); p += 5; break;
		default: left += c < 0x90 ? 2u * (c & 15u) : c & 15u; p++; break;
		}
	} while (left);
	return p;
}

const uint8_t *
mp_check_next(const uint8_t *p, const uint8_t *end)
{
	uint64_t left[MP_DEPTH_MAX + 1]; /* values still to come, by depth */
	unsigned depth = 0;
	uint64_t items;

	p = mp_step(p, end, &items);
	if (!p || !items)
		return p;
	for (;;) {
		if (items) {
			if (depth == MP_DEPTH_MAX || items > (uint64_t)(end - p))
				return NULL;
			left[++depth] = items;
		}
		while (left[depth] == 0)
			if (--depth == 0)
				return p;
		left[depth]--;
		p = mp_step(p, end, &items);
		if (!p)
			return NULL;
	}
}

bool
mp_check(const uint8_t *p, size_t len)
{
	return len && mp_check_next(p, p + len) == p + len;
}

/* Reads a number of fixed size: c is 0xca to 0xd3, p is after it. */
static void
mp_number(uint8_t c, const uint8_t *p, struct mp *out)
{
	float f;

	out->kind = c <= 0xcb ? MP_FLOAT : MP_INT;
	switch (c) {
	case 0xca: {
		uint32_t u = mp_u32(p);
		memcpy(&f, &u, 4);
		out->f = f;
		break;
	}
	case 0xcb: out->u = mp_u64(p); break; /* the bits of f */
	case 0xcc: out->i = *p; break;
	case 0xcd: out->i = mp_u16(p); break;
	case 0xce: out->i = mp_u32(p); break;
	case 0xcf: out->u = mp_u64(p); out->unsigned_big = out->i < 0; break;
	case 0xd0: out->i = (int8_t)*p; break;
	case 0xd1: out->i = (int16_t)mp_u16(p); break;
	case 0xd2: out->i = (int32_t)mp_u32(p); break;
	default: out->i = (int64_t)mp_u64(p); break;
	}
}

const uint8_t *
mp_head(const uint8_t *p, const uint8_t *end, struct mp *out)
{
	uint64_t items;
	const uint8_t *after = mp_step(p, end, &items);

	out->unsigned_big = false;
	out->ext = 0;
	out->u = 0;
	out->p = after;
	if (!after) {
		out->kind = MP_BAD;
		return NULL;
	}
	uint8_t c = *p++;
	if (c < 0x80 || c >= 0xe0) {
		out->kind = MP_INT;
		out->i = (int8_t)c;
	} else if (c < 0xa0) {
		out->kind = c < 0x90 ? MP_RECORD : MP_LIST;
		out->n = c & 15u;
	} else if (c < 0xc0) {
		out->kind = MP_TEXT;
		out->n = c & 31u;
		out->p = p;
	} else if (c >= 0xca && c <= 0xd3) {
		mp_number(c, p, out);
	} else {
		out->kind = mp_heads[c & 31].kind;
		switch (out->kind) {
		case MP_BOOL: out->b = c & 1; break;
		case MP_LIST: out->n = (uint32_t)items; break;
		case MP_RECORD: out->n = (uint32_t)(items / 2); break;
		case MP_EXT:
			if (c >= 0xd4) { /* fixext: 1, 2, 4, 8, 16 */
				out->n = 1u << (c - 0xd4);
				out->p = p + 1;
			} else {
				out->p = p + mp_heads[c & 31].fixed;
				out->n = (uint32_t)(after - out->p);
			}
			out->ext = (int8_t)out->p[-1];
			break;
		case MP_TEXT:
		case MP_BYTES:
			out->p = p + mp_heads[c & 31].fixed;
			out->n = (uint32_t)(after - out->p);
			break;
		default: break;
		}
	}
	return after;
}

bool
mp_field(const uint8_t *p, const uint8_t *end, const char *key, size_t key_len,
	 const uint8_t **value, size_t *value_len)
{
	struct mp h;
	const uint8_t *v, *next;

	p = mp_head(p, end, &h);
	if (!p || h.kind != MP_RECORD)
		return false;
	for (uint32_t i = 0, n = h.n; i < n; i++) {
		bool same;

		if (p < end && (*p & 0xe0) == 0xa0) { /* the usual key: a short text */
			size_t len = *p & 31u;

			if (len > (size_t)(end - p) - 1)
				return false;
			v = p + 1 + len;
			same = len == key_len && (!len || (p[1] == (uint8_t)*key && !memcmp(p + 1, key, len)));
		} else {
			v = mp_head(p, end, &h);
			if (!v)
				return false;
			same = h.kind == MP_TEXT && h.n == key_len && !memcmp(h.p, key, key_len);
			if ((h.kind == MP_LIST || h.kind == MP_RECORD) && !(v = mp_skip(p, end)))
				return false;
		}
		next = mp_skip(v, end);
		if (!next)
			return false;
		if (same) {
			*value = v;
			*value_len = (size_t)(next - v);
			return true;
		}
		p = next;
	}
	return false;
}

/* first byte of the forms with 8, 16 and 32 bits of length; 0: there is none */
static const uint8_t mp_forms[MP_BAD][3] = {
	[MP_TEXT] = { 0xd9, 0xda, 0xdb }, [MP_BYTES] = { 0xc4, 0xc5, 0xc6 },
	[MP_LIST] = { 0, 0xdc, 0xdd }, [MP_RECORD] = { 0, 0xde, 0xdf },
};

uint8_t *
mp_put_head_slow(uint8_t *p, enum mp_kind kind, uint32_t n)
{
	if (kind == MP_TEXT && n < 32) {
		*p = (uint8_t)(0xa0 | n);
		return p + 1;
	}
	if ((kind == MP_LIST || kind == MP_RECORD) && n < 16) {
		*p = (uint8_t)((kind == MP_LIST ? 0x90 : 0x80) | n);
		return p + 1;
	}
	if (n < 256 && mp_forms[kind][0]) {
		p[0] = mp_forms[kind][0];
		p[1] = (uint8_t)n;
		return p + 2;
	}
	if (n < 65536) {
		*p = mp_forms[kind][1];
		return mp_put_u16(p + 1, (uint16_t)n);
	}
	*p = mp_forms[kind][2];
	return mp_put_u32(p + 1, n);
}

uint8_t *
mp_put_ext_head(uint8_t *p, int8_t type, uint32_t n)
{
	if (n && n <= 16 && !(n & (n - 1))) {
		*p++ = (uint8_t)(0xd4 + __builtin_ctz(n));
	} else if (n < 256) {
		*p++ = 0xc7;
		*p++ = (uint8_t)n;
	} else if (n < 65536) {
		*p = 0xc8;
		p = mp_put_u16(p + 1, (uint16_t)n);
	} else {
		*p = 0xc9;
		p = mp_put_u32(p + 1, n);
	}
	*p++ = (uint8_t)type;
	return p;
}
