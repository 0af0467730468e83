/* SPDX-License-Identifier: MIT
 *
 * Elements as cells of a table, for the formats that people read: pretty, markdown and
 * vertical. Records give their keys as the header, lists rows without one, other values rows
 * of one cell. An element whose keys are others, or in another order, begins another table.
 *
 *	cells    the rows that are held back, each cell ended by a NUL
 *	column   how wide its cells are on a terminal, and whether all are numbers
 */
#ifndef FORMAT_TABLE_H
#define FORMAT_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

struct table_column {
	uint32_t width; /* the widest cell's, in columns of the terminal */
	bool text;      /* has a cell that is no number */
};

struct table {
	bool begun;        /* there is a table, whose keys are in `keys` */
	bool shown;        /* its header and the rows so far have been written */
	bool records;      /* its rows come from records */
	uint32_t n;        /* columns */
	uint32_t tables;   /* written before this one */
	uint64_t rows;     /* held back */
	size_t screen;     /* width of the terminal; 0: any */
	struct buf keys;   /* encoded, end to end */
	struct buf cells, one;
	struct table_column *column;
	size_t cap;
};

/* A value inside of an element: its encoding. */
struct table_cell {
	const uint8_t *p, *end;
};

/* An element's n cells, one after another at `cells`; in a record each behind its key. */
struct table_row {
	bool record, bare; /* bare: a single value, which is its only cell */
	uint32_t n;
	const uint8_t *cells, *end;
};

struct table_row table_row(const uint8_t *p, size_t n);
/* Steps to the next cell of the row: *key is its key, or NULL in a list. */
struct table_cell table_next(struct table_row *r, const uint8_t **key);
/* Whether the row goes into the table that is there. */
bool table_fits(const struct table *t, const struct table_row *r);
/* Makes a table with the columns of this row. */
void table_begin(struct table *t, const struct table_row *r);
/* Appends the text of a value in one line: control characters are written \n, \t, \x07, null
 * as `nothing` says. Gives whether it is a number or null. */
bool table_text(struct table_cell c, const char *nothing, struct buf *out);
/* How many columns of a terminal a text takes. Texts that are not UTF-8 count bytes. */
size_t table_width(const uint8_t *p, size_t n);
/* The longest beginning of the text that takes at most `columns`; its length in bytes. */
size_t table_cut(const uint8_t *p, size_t n, size_t columns);
void table_clear(void *state);

#endif
