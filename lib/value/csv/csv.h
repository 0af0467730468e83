/* SPDX-License-Identifier: MIT
 *
 * CSV (RFC 4180) and TSV in, as MessagePack: a row is a record of its columns'
 * names, or a list where there are no names. One object per file being read, as
 * it remembers the columns and how far into an unfinished row it has looked.
 *
 *	unquoted field   types auto: nothing is nil; what JSON would read as a number
 *	                 or as true or false is that, ints of 64 bits and floats
 *	                 exact, -0 a float; all else is text: 007, .5, 0x1f, numbers
 *	                 too large
 *	"quoted" field   text, with newlines and delimiters, "" for a quote; a row of ""
 *	                 alone is an empty field, as an empty row would be passed over
 *	TSV              no quotes; \t \n \r \\ are escapes
 *
 * Rows end with \n or \r\n; empty rows are passed over, and a byte order mark. In a
 * TSV of one column an empty row is an empty field, which has no other form there.
 * A column without a name is called by its number, the second one of a name
 * NAME_2. Text is passed on as it is, UTF-8 or not.
 */
#ifndef CSV_CSV_H
#define CSV_CSV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "value/elem.h"
#include "value/json/json.h"

enum {
	CSV_PAD = 64,            /* bytes behind the input that may be read */
	CSV_COLUMNS_MAX = 100000,
	CSV_NO_QUOTE = -1
};

struct csv_conf {
	uint8_t delim;
	int quote;    /* a byte, or CSV_NO_QUOTE */
	bool escapes; /* TSV's */
	bool text;    /* every field is text */
	bool header;  /* the first row of a file names its columns */
};

struct csv;

/* Gives. `names`: the columns, lent; NULL with header false: rows become lists. With
 * header true they are those wanted, in this order. */
struct csv *csv_new(const struct csv_conf *conf, const char *const *names, size_t n_names);
void csv_free(struct csv **c);
/* Only these columns are wanted, of those there are; lent. NULL: all. */
void csv_project(struct csv *c, const struct json_fields *fields);
/* Another file begins: its header comes first. */
void csv_restart(struct csv *c);
/* The row that is not all there yet is given up. */
void csv_forget(struct csv *c);
/* The names of the columns are known, so that rows can be read. */
bool csv_ready(const struct csv *c);

/* Reads the header from the start of a file; `eof`: there is no more than this.
 * ST_END: it is not all there (with eof: there is none). ST_DATA: it is bad. */
enum status csv_header(struct csv *c, const uint8_t *p, size_t n, bool eof, size_t *used,
		       uint32_t *lines, struct err *e);
/* Columns of the file, once its header is read or names were given. */
size_t csv_columns(const struct csv *c);
const char *csv_column(const struct csv *c, size_t i, size_t *len);

/* Appends a record (or list) for each row that is all there, up to `max` or so
 * many bytes that the run is full; pos is the line counted from 0. ST_OK: *used
 * bytes in *lines lines are done with; ST_END: it needs more. ST_DATA, only while
 * out is empty: the first row is bad, *used and *lines reach behind it. */
enum status csv_rows(struct csv *c, const uint8_t *p, size_t n, bool eof, uint32_t max,
		     struct run *out, size_t *used, uint32_t *lines, struct err *e);

/* One text that is one row, with or without its end: lends the value until the next call. */
enum status csv_row_of(struct csv *c, const uint8_t *p, size_t n, struct elem *out, struct err *e);

/* The rule of types=auto for an unquoted text, which every reader of texts goes by: writes
 * null for nothing, a number, true or false, else the text. Room for n and MP_HEAD_MAX or
 * MP_FLOAT_MAX bytes; 8 bytes at p are readable whatever n is. */
uint8_t *csv_put_typed(uint8_t *w, const uint8_t *p, size_t n);

#endif
