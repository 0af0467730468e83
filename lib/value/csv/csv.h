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
	CSV_PAD = 64,            /* bytes that must be readable after the input */
	CSV_COLUMNS_MAX = 100000,
	CSV_NO_QUOTE = -1
};

struct csv_conf {
	uint8_t delim;
	int quote;    /* a byte, or CSV_NO_QUOTE */
	bool escapes; /* backslash escapes, as in TSV */
	bool text;    /* every field is text */
	bool header;  /* the first row of a file names its columns */
	/* A row may have fewer fields than there are columns: the others are like empty fields; or
	 * more: these are called by their number. Else such a row is an error. */
	bool ragged;
	const char *comment; /* lines that begin so are passed over; lent; NULL: none are */
	size_t n_comment;
};

struct csv;

/* Gives a reader. `names`: the columns, lent; NULL with header false: rows become lists. With
 * header true they are the columns wanted, in this order. */
struct csv *csv_new(const struct csv_conf *conf, const char *const *names, size_t n_names);
void csv_free(struct csv **c);
/* Has only those of the columns read that are among the fields; lent. NULL: all. */
void csv_project(struct csv *c, const struct json_fields *fields);
/* With `ragged`, when names were given: ST_DATA if one is what a further field may be called. For
 * names of a header csv_header asks itself. */
enum status csv_ragged_check(const struct csv *c, struct err *e);
/* Begins another file: its header comes first. */
void csv_restart(struct csv *c);
/* Gives up the row that is not complete yet. */
void csv_forget(struct csv *c);
/* Whether the names of the columns are known, so that rows can be read. */
bool csv_ready(const struct csv *c);

/* Reads the header from the start of a file; `eof`: there is no more than this. ST_END: it is
 * not complete (with eof: the file has none). ST_DATA: it is bad. */
enum status csv_header(struct csv *c, const uint8_t *p, size_t n, bool eof, size_t *used,
		       uint32_t *lines, struct err *e);
/* Number of columns in the file, once its header is read or names were given. */
size_t csv_columns(const struct csv *c);
const char *csv_column(const struct csv *c, size_t i, size_t *len);

/* Appends a record (or list) for each complete row, up to `max` rows or until the run is full;
 * pos is the line counted from 0. ST_OK: *used bytes in *lines lines were read; ST_END: it
 * needs more. ST_DATA, only while out is empty: the first row is bad, and *used and *lines
 * include it. */
enum status csv_rows(struct csv *c, const uint8_t *p, size_t n, bool eof, uint32_t max,
		     struct run *out, size_t *used, uint32_t *lines, struct err *e);

/* Reads a text that is one row, with or without its end; lends the value until the next call. */
enum status csv_row_of(struct csv *c, const uint8_t *p, size_t n, struct elem *out, struct err *e);

/* The rule of types=auto for an unquoted text, which all readers of texts apply: writes null
 * for an empty text, a number, true or false, else the text. Needs room for n and MP_HEAD_MAX
 * or MP_FLOAT_MAX bytes; 8 bytes at p must be readable whatever n is. */
uint8_t *csv_put_typed(uint8_t *w, const uint8_t *p, size_t n);

#endif
