/* SPDX-License-Identifier: MIT
 *
 * One value in the machine: a number or a test itself, a text as pointer and
 * length, a list or record as its encoding. What it points to lies in the
 * element, in a constant or in the machine's scratch memory, and is checked
 * MessagePack: the readers here look for no ends.
 */
#ifndef EXPR_VAL_H
#define EXPR_VAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/buf.h"
#include "value/mp.h"

/* ORDER val_names; numbers stand together */
enum val_kind {
	VAL_NIL, VAL_BOOL,
	VAL_INT,   /* fits int64_t */
	VAL_BIG,   /* an int above INT64_MAX, in u */
	VAL_FLOAT, VAL_TEXT, VAL_BYTES, VAL_LIST, VAL_RECORD, VAL_EXT,
	VAL_REGEX, /* exists only as an argument of functions */
	VAL_KINDS
};
#define VAL_BIT(kind) (1u << (kind))

struct pattern;

struct val {
	uint8_t kind;
	uint8_t head;  /* text, bytes: how many bytes before p are the encoded head; 0: none */
	uint8_t depth; /* list, record: depth of lists and records; 0: not counted yet */
	uint32_t n;    /* text, bytes: length; list, record, ext: length of the encoding,
	                  0: not known yet (val_span finds it) */
	union {
		bool b;
		int64_t i;
		uint64_t u;
		double f;
		const uint8_t *p; /* text, bytes: contents; list, record, ext: the encoding */
		const struct pattern *re;
	};
};

const char *val_kind_name(unsigned kind);

void val_load_slow(const uint8_t *p, struct val *v);
/* Loads the value at p, which stays there. */
static inline void
val_load(const uint8_t *p, struct val *v)
{
	uint8_t c = *p;

	if (c < 0x80 || c >= 0xe0) {
		v->kind = VAL_INT;
		v->i = (int8_t)c;
	} else if (c >= 0xa0 && c < 0xc0) {
		v->kind = VAL_TEXT;
		v->head = 1;
		v->n = c & 31u;
		v->p = p + 1;
	} else {
		switch (c) {
		case 0xcb:
			v->kind = VAL_FLOAT;
			v->u = mp_u64(p + 1);
			break;
		case 0xcc: v->kind = VAL_INT; v->i = p[1]; break;
		case 0xcd: v->kind = VAL_INT; v->i = mp_u16(p + 1); break;
		case 0xce: v->kind = VAL_INT; v->i = mp_u32(p + 1); break;
		case 0xc2: v->kind = VAL_BOOL; v->b = false; break;
		case 0xc3: v->kind = VAL_BOOL; v->b = true; break;
		case 0xd9:
			v->kind = VAL_TEXT;
			v->head = 2;
			v->n = p[1];
			v->p = p + 2;
			break;
		default:
			val_load_slow(p, v);
		}
	}
}

/* The length of the encoding of a list, record or ext. */
static inline uint32_t
val_span(const struct val *v)
{
	return v->n ? v->n : (uint32_t)(mp_past(v->p) - v->p);
}

/* Number of items of a list or pairs of a record; *first is where they begin. */
uint32_t val_count(const struct val *v, const uint8_t **first);

static inline struct val val_nil(void) { return (struct val){ .kind = VAL_NIL }; }
static inline struct val val_bool(bool b) { return (struct val){ .kind = VAL_BOOL, .b = b }; }
static inline struct val val_int(int64_t i) { return (struct val){ .kind = VAL_INT, .i = i }; }
static inline struct val val_float(double f) { return (struct val){ .kind = VAL_FLOAT, .f = f }; }
static inline struct val
val_uint(uint64_t u)
{
	return (struct val){ .kind = u > INT64_MAX ? VAL_BIG : VAL_INT, .u = u };
}
static inline struct val
val_text(const void *p, size_t n)
{
	return (struct val){ .kind = VAL_TEXT, .n = (uint32_t)n, .p = p };
}
static inline struct val
val_bytes(const void *p, size_t n)
{
	return (struct val){ .kind = VAL_BYTES, .n = (uint32_t)n, .p = p };
}
/* The value whose encoding is the list or record [p, p + n). */
static inline struct val
val_whole(enum val_kind kind, const void *p, size_t n)
{
	return (struct val){ .kind = (uint8_t)kind, .n = (uint32_t)n, .p = p };
}

/* Depth of lists and records in the value; 0 for scalars. */
unsigned val_depth(const struct val *v);

/* Upper bound for the bytes of the encoding, and the encoding itself; gives the end. */
size_t val_size(const struct val *v);
uint8_t *val_encode(const struct val *v, uint8_t *p);
void val_put(const struct val *v, struct buf *out);

/* The name of a field, prepared for looking it up: its encoding, and words of it. */
struct val_key {
	const uint8_t *enc;
	uint32_t len;           /* length of enc */
	uint32_t name_len;      /* length of the name alone, at the end of enc */
	uint64_t a, b;          /* the first and last 8, 4 or 2 bytes of enc */
};
void val_key_init(struct val_key *k, const uint8_t *enc, uint32_t len);
bool val_key_slow(const struct val_key *k, const uint8_t *p);

static inline bool
val_key_is(const struct val_key *k, const uint8_t *p)
{
	uint64_t a, b;
	uint32_t c, d;

	/* The first bytes differ: a short text may have another form of head, or it is not a
	 * text. */
	if (*p != *k->enc)
		return *p >= 0xd9 && *p <= 0xdb && val_key_slow(k, p);
	if (k->len >= 4 && k->len <= 8) {
		memcpy(&c, p, 4);
		memcpy(&d, p + k->len - 4, 4);
		return c == (uint32_t)k->a && d == (uint32_t)k->b;
	}
	if (k->len > 8 && k->len <= 16) {
		memcpy(&a, p, 8);
		memcpy(&b, p + k->len - 8, 8);
		return a == k->a && b == k->b;
	}
	/* Lengths are compared first: after a shorter name the memory may end. */
	return k->len > 16 ? val_key_slow(k, p) : !memcmp(p, k->enc, k->len);
}

/* The value of a field in the record at p; NULL: there is none. Of a repeated name the first
 * counts. */
static inline const uint8_t *
val_field(const uint8_t *p, const struct val_key *k)
{
	uint32_t n;

	if ((*p & 0xf0) == 0x80) {
		n = *p++ & 15u;
	} else if (*p == 0xde) {
		n = mp_u16(p + 1);
		p += 3;
	} else {
		n = mp_u32(p + 1);
		p += 5;
	}
	while (n--) {
		if (val_key_is(k, p))
			return mp_past(p);
		p = mp_past(mp_past(p));
	}
	return NULL;
}

/* Compares numbers of any kind, exactly: -1, 0, 1; 2: not ordered (nan). */
int val_compare_numbers(const struct val *a, const struct val *b);
bool val_equal_slow(const struct val *a, const struct val *b);
static inline bool
val_equal(const struct val *a, const struct val *b)
{
	if (a->kind == b->kind) {
		if (a->kind == VAL_INT)
			return a->i == b->i;
		if (a->kind == VAL_TEXT)
			return a->n == b->n && !memcmp(a->p, b->p, a->n);
	}
	return val_equal_slow(a, b);
}
/* Compares text and bytes by their bytes, lists item by item: -1, 0, 1. */
int val_compare_bytes(const struct val *a, const struct val *b);

static inline bool
val_is_number(const struct val *v)
{
	return v->kind >= VAL_INT && v->kind <= VAL_FLOAT;
}
double val_to_float(const struct val *v); /* the value must be a number */
/* An int of either kind, widened. */
static inline __int128
val_to_wide(const struct val *v)
{
	return v->kind == VAL_BIG ? (__int128)v->u : (__int128)v->i;
}

#endif
