/* SPDX-License-Identifier: MIT
 *
 * What the parts of csv.h share: columns, finding the fields of a row, and turning
 * them into values.
 */
#ifndef CSV_CSV_INNER_H
#define CSV_CSV_INNER_H

#include "base/buf.h"
#include "value/csv/csv.h"

enum { CSV_SLACK = 32 }; /* short texts are copied by fixed lengths */

enum csv_step {
	CSV_ROW,
	CSV_PART,    /* the row's end is not there yet */
	CSV_BEHIND,  /* something follows a closing quote */
	CSV_OPEN,    /* a quote is never closed */
	CSV_MANY     /* too many fields */
};

/* Looks for the next delimiter or newline, 64 bytes at a time. */
struct csv_scan {
	const uint8_t *base; /* NULL: not begun */
	uint64_t mask;       /* delimiters from base on that were not passed yet */
};

/* The fields of one row, relative to its start. Field i is [begin, ends[i]),
 * where begin is 0 or ends[i - 1] + 1. */
struct csv_row {
	uint32_t *ends;
	size_t cap;
	uint32_t n;      /* fields so far */
	bool quoted;     /* one of them, at least, is quoted */
	bool inside;     /* unfinished: the end is in quotes */
	size_t at;       /* unfinished: examined up to here */
	size_t len;      /* finished: length with its end */
};

/* A column. */
struct csv_column {
	uint32_t column; /* its number in the row */
	uint32_t key;    /* where its encoded name begins in keys */
	uint32_t key_len;
};

struct csv {
	struct csv_conf conf;
	const char *const *names; /* names that were given; NULL: none */
	size_t n_names;
	const struct json_fields *fields;
	struct csv_row row;
	bool ready;              /* the names are known, or there are none */
	struct buf keys;         /* encoded names, end to end, and slack */
	struct csv_column *all;     /* all columns of the file */
	size_t n_all, cap_all;
	struct csv_column *out;     /* the columns wanted, in their order */
	size_t n_out, cap_out;
	size_t keys_len;         /* size of the keys wanted */
	size_t *hashes;          /* hashes of the names, while they are read: open addressing */
	size_t slots;
	/* csv_row_of: the text with its end, and readable bytes after it */
	struct buf line;
	struct run one;          /* csv_row_of: the value of the text */
};

/* Continues with the row at p. CSV_PAD bytes after end must be readable. */
enum csv_step csv_split(const struct csv_conf *conf, struct csv_row *row, struct csv_scan *scan,
			const uint8_t *p, const uint8_t *end, bool eof);

/* Writes the value of an unquoted field that is no plain text under types=auto;
 * NULL: it is text. Reads 8 bytes at p whatever n is. */
uint8_t *csv_put_number(uint8_t *w, const uint8_t *p, size_t n);

/* ---- columns (csv_columns.c) ---- */

/* Adds names between begin and end, at most n; one that is empty or taken is changed.
 * csv_choose then finds the columns wanted. */
void csv_columns_begin(struct csv *c, size_t n);
void csv_columns_add(struct csv *c, const void *name, size_t n);
void csv_columns_end(struct csv *c);
enum status csv_choose(struct csv *c, struct err *e);

/* ---- rows that have more or fewer fields than there are columns (csv_ragged.c) ---- */

/* Room that the record of such a row needs beside that of others. */
size_t csv_ragged_room(const struct csv *c);
/* Writes the record; `put` writes a field. */
typedef uint8_t *csv_put_fn(const struct csv_conf *conf, uint8_t *w, const uint8_t *p, size_t n,
			    bool row_quoted);
uint8_t *csv_put_ragged(const struct csv *c, csv_put_fn *put, uint8_t *w, const uint8_t *p);

static inline void
csv_row_reset(struct csv_row *row)
{
	row->n = 0;
	row->at = 0;
	row->quoted = row->inside = false;
}

#endif
