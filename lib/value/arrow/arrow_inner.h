/* SPDX-License-Identifier: MIT
 *
 * A column, or a part of one, as arrow_schema.c makes it, arrow_bind.c fills it and arrow_rows.c reads it.
 */
#ifndef ARROW_ARROW_INNER_H
#define ARROW_ARROW_INNER_H

#include "base/buf.h"
#include "value/arrow/arrow_rows.h"

enum {
	ARROW_DEPTH_MAX = 32, ARROW_NODES_MAX = 65536, ARROW_MAP_MAX = 4096,
	ARROW_DECIMAL_MAX = 170, ARROW_TIME_MAX = 60
};

enum arrow_kind {
	ARROW_NULL, ARROW_BOOL, ARROW_I8, ARROW_U8, ARROW_I16, ARROW_U16, ARROW_I32, ARROW_U32, ARROW_I64, ARROW_U64,
	ARROW_F16, ARROW_F32, ARROW_F64,
	ARROW_HEAP32, ARROW_HEAP64, ARROW_VIEW, /* texts and bytes */
	ARROW_FIXED_BYTES, ARROW_DECIMAL,
	ARROW_DATE, ARROW_TIME, ARROW_STAMP, ARROW_SPAN, /* numbers of `width` bytes, `unit` to a second */
	ARROW_LIST32, ARROW_LIST64, ARROW_LIST_FIXED, ARROW_MAP, ARROW_STRUCT, ARROW_DICTIONARY
};

struct arrow_node {
	enum arrow_kind kind;
	bool nullable, text;      /* text: of ARROW_HEAP32 and the like; of ARROW_STAMP: it has a zone */
	bool fixed;               /* a value has at most `most` bytes */
	enum arrow_times times;
	enum arrow_decimals decimals;
	size_t most;
	int width, scale;         /* bytes of a number or item; digits after the point */
	int64_t unit;             /* so many are a second; 0: it is a number of days */
	char *name;
	uint8_t *key;             /* the name, encoded */
	uint32_t key_len;
	struct arrow_node **kids; /* struct: fields; list: its items; map: key and value; dictionary: its values */
	size_t n_kids;
	enum arrow_kind index;    /* dictionary */
	/* the array at hand; offsets and lengths are in its own values */
	const uint8_t *valid;     /* bits; NULL: there are no nulls */
	const uint8_t *data;      /* numbers, offsets, bits or views */
	const uint8_t *heap;
	const void *const *heaps; /* ARROW_VIEW */
	const int64_t *heap_sizes;
	int64_t n_heaps;
	int64_t offset, length;
	int64_t low, high;        /* range of the offsets */
};

struct arrow_rows {
	struct arrow_node *root;
	size_t fixed;             /* bytes of heads, keys and fixed values of a record */
	bool all_fixed;
};

void arrow_node_free(struct arrow_node **n);
/* Puts the value of a row, which is counted without the offset of the column. False: it is malformed, or has more
 * than `max` bytes. */
bool arrow_node_put(const struct arrow_node *n, int64_t row, size_t max, struct buf *out);

/* Whether a map becomes a record: its keys are text. */
static inline bool
arrow_map_is_record(const struct arrow_node *n)
{
	const struct arrow_node *key = n->kids[0]->kids[0];

	return key->text && (key->kind == ARROW_HEAP32 || key->kind == ARROW_HEAP64 || key->kind == ARROW_VIEW);
}
/* The bytes of a value, lent, of ARROW_HEAP32 and the like. False: they are not within its buffers. */
bool arrow_node_bytes(const struct arrow_node *n, int64_t row, const uint8_t **p, uint64_t *len);

static inline bool
arrow_is_null(const struct arrow_node *n, int64_t i)
{
	i += n->offset;
	return n->kind == ARROW_NULL || (n->valid && !(n->valid[i >> 3] >> (i & 7) & 1));
}

#endif
