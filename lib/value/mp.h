/* SPDX-License-Identifier: MIT
 *
 * MessagePack as elements use it: values are written to memory the caller has
 * made room for, and read where they lie. Every put returns the end of what it
 * wrote and always uses the shortest form, so that equal values of one kind
 * are equal bytes. Ints that fit are written as the smallest signed or unsigned
 * form; -1 and 18446744073709551615 are both ints (64 bits, exact).
 *
 * Readers trust nothing: mp_check says once whether a slice holds exactly one
 * well-formed value (depth at most MP_DEPTH_MAX); on checked bytes the others
 * are safe and make no further tests. Elements inside a chain are checked.
 */
#ifndef VALUE_MP_H
#define VALUE_MP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/big.h"
#include "base/err.h"

enum {
	MP_NIL_BYTE = 0xc0, MP_INT_MAX = 9, MP_FLOAT_MAX = 9, MP_HEAD_MAX = 6, /* most bytes of each */
	MP_DEPTH_MAX = 128,
	MP_EXT_TENSOR = 1 /* ext type of tensors (value/tensor.h) */
};

enum mp_kind {
	MP_NIL, MP_BOOL, MP_INT, MP_FLOAT, MP_TEXT, MP_BYTES, MP_LIST, MP_RECORD,
	MP_EXT, MP_BAD
};

/* One value's head, decoded. */
struct mp {
	enum mp_kind kind;
	bool unsigned_big; /* MP_INT: the value is in u and above INT64_MAX */
	int8_t ext;        /* MP_EXT: its type */
	union {
		bool b;
		int64_t i;
		uint64_t u;
		double f;
		uint32_t n;  /* text, bytes, ext: length; list: items; record: pairs */
	};
	const uint8_t *p;  /* text, bytes, ext: contents; list, record: first item */
};

/* Decodes the head at p; returns the byte after it (for text, bytes and ext:
 * after the contents), or NULL when it does not fit before end (kind MP_BAD). */
const uint8_t *mp_head(const uint8_t *p, const uint8_t *end, struct mp *out);
/* Gives the end of the whole value at p, without recursion; NULL: malformed. */
const uint8_t *mp_skip(const uint8_t *p, const uint8_t *end);
bool mp_check(const uint8_t *p, size_t len);
/* Like mp_check, for values end to end: gives the end of the one at p, NULL: malformed. */
const uint8_t *mp_check_next(const uint8_t *p, const uint8_t *end);
/* Looks a text key up in the record at p; lends the value's slice. */
bool mp_field(const uint8_t *p, const uint8_t *end, const char *key, size_t key_len,
	      const uint8_t **value, size_t *value_len);
/* Bytes of a value by its first byte; 0: the first byte does not tell. */
extern const uint8_t mp_fixed[256];
const uint8_t *mp_past_slow(const uint8_t *p);
/* The end of the checked value at p. */
static inline const uint8_t *
mp_past(const uint8_t *p)
{
	unsigned n = mp_fixed[*p];

	return n ? p + n : mp_past_slow(p);
}
/* Total order over values: nil < bool < numbers < text < bytes < list < record < ext;
 * ints and floats compare by value, exactly; nan equals nan, above all numbers;
 * fields of records in any order. */
int mp_compare(const uint8_t *a, size_t a_len, const uint8_t *b, size_t b_len);

uint8_t *mp_put_head_slow(uint8_t *p, enum mp_kind kind, uint32_t n);

/* Numbers as MessagePack has them, most significant byte first. */
static inline uint16_t
mp_u16(const uint8_t *p)
{
	uint16_t v;

	memcpy(&v, p, 2);
	return __builtin_bswap16(v);
}
static inline uint32_t
mp_u32(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, 4);
	return __builtin_bswap32(v);
}
static inline uint64_t
mp_u64(const uint8_t *p)
{
	return big_u64(p);
}
static inline double
mp_f64(const uint8_t *p)
{
	uint64_t u = mp_u64(p);
	double v;

	memcpy(&v, &u, sizeof v);
	return v;
}
static inline uint8_t *
mp_put_u16(uint8_t *p, uint16_t v)
{
	v = __builtin_bswap16(v);
	memcpy(p, &v, 2);
	return p + 2;
}
static inline uint8_t *
mp_put_u32(uint8_t *p, uint32_t v)
{
	v = __builtin_bswap32(v);
	memcpy(p, &v, 4);
	return p + 4;
}
static inline uint8_t *
mp_put_u64(uint8_t *p, uint64_t v)
{
	return big_put_u64(p, v);
}
static inline uint8_t *
mp_put_uint(uint8_t *p, uint64_t v)
{
	if (v < 128) { *p = (uint8_t)v; return p + 1; }
	if (v < 256) { p[0] = 0xcc; p[1] = (uint8_t)v; return p + 2; }
	if (v < 65536) { *p = 0xcd; return mp_put_u16(p + 1, (uint16_t)v); }
	if (v < 4294967296u) { *p = 0xce; return mp_put_u32(p + 1, (uint32_t)v); }
	*p = 0xcf;
	return mp_put_u64(p + 1, v);
}
static inline uint8_t *
mp_put_int(uint8_t *p, int64_t v)
{
	if (v >= 0) return mp_put_uint(p, (uint64_t)v);
	if (v >= -32) { *p = (uint8_t)v; return p + 1; }
	if (v >= -128) { p[0] = 0xd0; p[1] = (uint8_t)v; return p + 2; }
	if (v >= -32768) { *p = 0xd1; return mp_put_u16(p + 1, (uint16_t)v); }
	if (v >= INT32_MIN) { *p = 0xd2; return mp_put_u32(p + 1, (uint32_t)v); }
	*p = 0xd3;
	return mp_put_u64(p + 1, (uint64_t)v);
}
static inline uint8_t *
mp_put_float(uint8_t *p, double v)
{
	uint64_t u;
	memcpy(&u, &v, 8);
	*p = 0xcb;
	return mp_put_u64(p + 1, u);
}
static inline uint8_t *mp_put_nil(uint8_t *p) { *p = MP_NIL_BYTE; return p + 1; }
static inline uint8_t *mp_put_bool(uint8_t *p, bool b) { *p = b ? 0xc3 : 0xc2; return p + 1; }
/* Heads of text, bytes, list, record: n is a length or a count. */
static inline uint8_t *
mp_put_text_head(uint8_t *p, uint32_t n)
{
	if (n < 32) { *p = (uint8_t)(0xa0 | n); return p + 1; }
	if (n < 256) { p[0] = 0xd9; p[1] = (uint8_t)n; return p + 2; }
	return mp_put_head_slow(p, MP_TEXT, n);
}
static inline uint8_t *
mp_put_bytes_head(uint8_t *p, uint32_t n) { return mp_put_head_slow(p, MP_BYTES, n); }
static inline uint8_t *
mp_put_list_head(uint8_t *p, uint32_t n)
{
	if (n < 16) { *p = (uint8_t)(0x90 | n); return p + 1; }
	return mp_put_head_slow(p, MP_LIST, n);
}
static inline uint8_t *
mp_put_record_head(uint8_t *p, uint32_t n)
{
	if (n < 16) { *p = (uint8_t)(0x80 | n); return p + 1; }
	return mp_put_head_slow(p, MP_RECORD, n);
}
static inline uint8_t *
mp_put_text(uint8_t *p, const void *s, uint32_t n)
{
	p = mp_put_text_head(p, n);
	memcpy(p, s, n);
	return p + n;
}
/* Like mp_put_text, faster for many short texts: up to MP_TEXT_SLACK bytes after both may be
 * touched, since a copy of fixed size is two moves. */
enum { MP_TEXT_SLACK = 32 };
static inline uint8_t *
mp_put_text_slack(uint8_t *p, const void *s, uint32_t n)
{
	p = mp_put_text_head(p, n);
	if (n <= MP_TEXT_SLACK)
		memcpy(p, s, MP_TEXT_SLACK);
	else
		memcpy(p, s, n);
	return p + n;
}
/* ext with its type byte; at most MP_HEAD_MAX bytes before the contents. */
uint8_t *mp_put_ext_head(uint8_t *p, int8_t type, uint32_t n);

#endif
