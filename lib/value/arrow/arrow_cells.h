/* SPDX-License-Identifier: MIT
 *
 * Values of a single column, of the array that arrow_rows_bind had last, as they are in elements: numbers many at
 * once, the others one by one.
 */
#ifndef ARROW_ARROW_CELLS_H
#define ARROW_ARROW_CELLS_H

#include "base/buf.h"
#include "value/arrow/arrow_rows.h"

enum arrow_cells {
	ARROW_CELLS_OTHER, /* for arrow_cells_put alone */
	ARROW_CELLS_INT, ARROW_CELLS_FLOAT,
	ARROW_CELLS_BYTES  /* text, too */
};

/* The place of a column. False: there is none of this name. */
bool arrow_cells_find(const struct arrow_rows *r, const char *name, size_t *column);
enum arrow_cells arrow_cells_kind(const struct arrow_rows *r, size_t column);
/* n values from a row on; null[i]: it is null, and out[i] is any number. */
void arrow_cells_ints(const struct arrow_rows *r, size_t column, int64_t row, size_t n, int64_t *out, bool *null);
void arrow_cells_floats(const struct arrow_rows *r, size_t column, int64_t row, size_t n, double *out, bool *null);
/* The bytes of one value, lent; *p is NULL where it is null. False: it is malformed. */
bool arrow_cells_bytes(const struct arrow_rows *r, size_t column, int64_t row, const uint8_t **p, uint64_t *len);
/* Puts one value, encoded. False: it is malformed, or has more than `max` bytes. */
bool arrow_cells_put(const struct arrow_rows *r, size_t column, int64_t row, size_t max, struct buf *out);

#endif
