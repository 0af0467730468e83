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
	CSV_BEHIND,  /* something stands behind a closing quote */
	CSV_OPEN,    /* a quote is never closed */
	CSV_MANY     /* too many fields */
};

/* Looks for the next delimiter or newline, 64 bytes at a time. */
struct csv_scan {
	const uint8_t *base; /* NULL: not begun */
	uint64_t mask;       /* those at base and behind it that were not passed yet */
};

/* The fields of one row, relative to its start. Field i is [begin, ends[i]),
 * where begin is 0 or ends[i - 1] + 1. */
struct csv_row {
	uint32_t *ends;
	size_t cap;
	uint32_t n;      /* fields so far */
	bool quoted;     /* one of them at least */
	bool inside;     /* unfinished: in quotes */
	size_t at;       /* unfinished: looked so far */
	size_t len;      /* finished: with its end */
};

/* A column. */
struct csv_column {
	uint32_t column; /* of the row */
	uint32_t key;    /* where its encoded name begins in keys */
	uint32_t key_len;
};

struct csv {
	struct csv_conf conf;
	const char *const *names; /* given; NULL: none */
	size_t n_names;
	const struct json_fields *fields;
	struct csv_row row;
	bool ready;              /* the names are known, or there are none */
	struct buf keys;         /* encoded names, end to end, and slack */
	struct csv_column *all;     /* each column of the file */
	size_t n_all, cap_all;
	struct csv_column *out;     /* those wanted, in their order */
	size_t n_out, cap_out;
	size_t keys_len;         /* bytes of the keys wanted */
	size_t *hashes;          /* of the names, while they are read: open addressing */
	size_t slots;
	struct buf line;         /* csv_row_of: the text with its end and what may be read behind */
	struct run one;          /* and its value */
};

/* Goes on with the row at p. end has CSV_PAD readable bytes behind it. */
enum csv_step csv_split(const struct csv_conf *conf, struct csv_row *row, struct csv_scan *scan,
			const uint8_t *p, const uint8_t *end, bool eof);

/* Writes the value of an unquoted field that is no plain text under types=auto;
 * NULL: it is text. Reads 8 bytes at p whatever n is. */
uint8_t *csv_put_number(uint8_t *w, const uint8_t *p, size_t n);

/* ---- columns (csv_columns.c) ---- */

/* Names are added between begin and end, at most n; an empty one or one that is there
 * already is changed. Then csv_choose says which are wanted. */
void csv_columns_begin(struct csv *c, size_t n);
void csv_columns_add(struct csv *c, const void *name, size_t n);
void csv_columns_end(struct csv *c);
enum status csv_choose(struct csv *c, struct err *e);

static inline void
csv_row_reset(struct csv_row *row)
{
	row->n = 0;
	row->at = 0;
	row->quoted = row->inside = false;
}

#endif
