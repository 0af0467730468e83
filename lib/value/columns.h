/* SPDX-License-Identifier: MIT
 *
 * Elements as columns: N rows of equal structure, each field an array of its own. A slot
 * is memory that holds such rows, and the columns say where in it each array lies:
 *
 *	slot:  | x: f32[rows][128] | y: i64[rows] | name: u64[rows + 1] ... bytes |
 *
 * The first element fixes the structure (columns_record), every later one is compared with
 * it as it is put. Records are flattened in the order of their fields; a column has the path
 * of its field. Numbers, bools and tensors lie as they are, row after row. Texts, bytes and
 * lists of numbers are items in a heap with rows + 1 offsets, counted in items. Anything else,
 * and what may be nil, is one MessagePack value a row, laid like bytes.
 *
 * Elements are rows, or batches: then a list, or the first axis of a tensor, holds the rows.
 * An element without such an axis is one row, and the columns are `whole`. A field may have its rows
 * along another axis of its tensors (struct column_axis).
 *
 * All columns begin at a multiple of COLUMN_ALIGN. Nothing here allocates per row.
 */
#ifndef VALUE_COLUMNS_H
#define VALUE_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "value/type.h"

enum {
	COLUMN_ALIGN = 64, COLUMNS_MAX = 4096, COLUMNS_DEPTH = 32,
	COLUMN_HEAD_MAX = 14 + 8 * TYPE_DIMS_MAX, /* bytes of a tensor before its numbers */
	COLUMNS_FAR = 2 * 1024 * 1024 /* slots from this size on are no longer in a cache when they are read */
};

enum column_kind { /* the numbers stand in messages: new ones go behind the others */
	COLUMN_FIXED,   /* rows of dtype and dims */
	COLUMN_TEXT, COLUMN_BYTES,
	COLUMN_INTS, COLUMN_FLOATS, /* lists of i64 or f64 */
	COLUMN_VALUE,   /* one MessagePack value a row */
	COLUMN_KINDS
};

struct column {
	char **path;         /* names of the fields from the outermost on; none: a bare value */
	size_t n_path;
	enum column_kind kind;
	enum dtype dtype;    /* COLUMN_FIXED: its numbers, and the dims of one row */
	int n_dims;
	uint64_t dims[TYPE_DIMS_MAX];
	bool tensor;         /* COLUMN_FIXED: its values are tensors, not numbers or bools */
	int axis;            /* along which the rows of batches lie; dims has the others */
	size_t size;         /* bytes of a row (COLUMN_FIXED) or of an item in the heap */
	size_t at;           /* offset in the slot: of the rows, or of the offsets */
	size_t heap, room;   /* not COLUMN_FIXED: offset of the heap in the slot, and its bytes */
	size_t lack;         /* so many bytes the heap had too few when it was full */
	bool far;            /* large rows are written past the cache */
	uint32_t n_alike;    /* length of `alike`; 0: no tensor was put yet */
	uint8_t alike[COLUMN_HEAD_MAX]; /* bytes before the numbers of a tensor that fitted */
};

struct column_node;
struct columns {
	struct column *v;
	size_t n;
	struct column_node *root; /* how the fields nest */
	bool batches;        /* elements are batches of rows */
	bool whole;          /* asked for batches, but elements have no common axis */
	int mask;            /* number of the column that tells real rows from padding; -1: none */
	uint64_t rows;       /* set by columns_lay */
	size_t bytes;        /* size of a slot */
	uint64_t stamp;      /* for finding fields that come twice */
};

/* The axis, from 0, along which the rows of a field lie; `a.b` in a nested record, "" for a bare tensor. */
struct column_axis { const char *field; int axis; };
struct column_axes { const struct column_axis *v; size_t n; };

/* Works the structure out from the first element. type: what is known of it beforehand, may be
 * NULL. batches: elements are to be taken as batches; axes, may be NULL, for fields whose rows do not lie along
 * the first axis. mask: name of a column to be added, or NULL.
 * *rows: how many rows the element has. ST_DATA. Gives. */
enum status columns_record(const uint8_t *p, size_t len, const struct type *type, bool batches,
			   const struct column_axes *axes, const char *mask, struct columns **out, uint64_t *rows,
			   struct err *e);
void columns_free(struct columns **c);
/* Lays out a slot of so many rows. each: rows that the first element had; heaps get room for rows that are twice as
 * long as those. 0: they have the room that they had. False: it would have more than `most` bytes. */
bool columns_lay(struct columns *c, uint64_t rows, uint64_t each, size_t most);
/* Doubles the heap that was full, or as far as `most` bytes in all allow; columns_lay must follow. */
void columns_widen(struct columns *c, size_t most);
/* Gives a copy, for a ring of another size. */
struct columns *columns_copy(const struct columns *c);
/* Copies the first rows of a slot into one that is laid out wider. */
void columns_move(const struct columns *from, const uint8_t *old, const struct columns *to, uint8_t *slot,
		  uint64_t rows);

/* Puts an element at a row, and tells how many rows it filled (1 unless they are batches). ST_AGAIN: a heap has
 * no room, nothing counts as put. ST_DATA: its structure is another one; *e names the field, with both types.
 * `left`: rows that there is room for; more are ST_DATA. */
enum status columns_put(struct columns *c, uint8_t *slot, uint64_t row, uint64_t left, const uint8_t *p, size_t len,
			uint64_t *rows, struct err *e);
/* Fills rows [row, row + n) with zeros, or nothing; or, with `last`, with the row before them if there is one. False:
 * a heap has no room for that. */
bool columns_pad(struct columns *c, uint8_t *slot, uint64_t row, uint64_t n, bool last);
/* Appends rows [first, first + n) as one MessagePack value: a record of tensors and lists, or
 * the element itself where columns are whole and n is 1. False: it would be too large for one. */
bool columns_take(const struct columns *c, const uint8_t *slot, uint64_t first, uint64_t n, struct buf *out);
/* Dims of n rows of a fixed column, as they were in the element, and their number; -1: they would be too many. */
int column_shape(const struct column *c, uint64_t n, uint64_t dims[TYPE_DIMS_MAX]);
/* Copies rows [first, first + n) of a fixed column, along their axis. */
void column_rows(const struct column *c, const uint8_t *slot, uint64_t first, uint64_t n, uint8_t *to);
/* Appends `img.pixels`, the name of a column for people. */
void column_name(const struct column *c, struct buf *out);
/* Appends `u8[224,224,3]`, `int` or `[float]`: the type of a row. */
void column_type(const struct column *c, struct buf *out);

#endif
