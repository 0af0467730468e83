/* SPDX-License-Identifier: MIT
 *
 * What the two halves of csv.h share: finding the fields of a row, and turning
 * them into values.
 */
#ifndef VALUE_CSV_INNER_H
#define VALUE_CSV_INNER_H

#include "base/buf.h"
#include "value/csv.h"

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

/* Goes on with the row at p. end has CSV_PAD readable bytes behind it. */
enum csv_step csv_split(const struct csv_conf *conf, struct csv_row *row, struct csv_scan *scan,
			const uint8_t *p, const uint8_t *end, bool eof);

/* Writes the value of an unquoted field that is no plain text under types=auto;
 * NULL: it is text. Reads 8 bytes at p whatever n is. */
uint8_t *csv_put_number(uint8_t *w, const uint8_t *p, size_t n);

#endif
