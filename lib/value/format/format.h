/* SPDX-License-Identifier: MIT
 *
 * Elements out: the formats of -t. A format turns runs into bytes in a buffer;
 * writing them is the caller's business (cli/output.h), so nothing here blocks.
 *
 *	text    scalars as they are, one a line; lists and records as JSON
 *	ndjson  one JSON value a line     json  one array of all, pretty enough to read
 *	raw     contents of text and bytes, nothing between; others as text
 *	nul     as text, each ended by NUL instead of newline
 *	csv     records as rows under a header of the first one's keys; lists as rows
 *	tsv     the same with tabs, and \t \n \r \\ for what cannot stand in a field
 *	msgpack elements end to end
 *	arrow   records as rows of an Arrow stream (IPC), whose columns are those of the first batch
 *	npy     one array of all, which must be alike; into what cannot be sought in
 *	        (a pipe) one array for each element
 *	tfrecord contents of text and bytes, framed; records as tf.train.Example
 *	tar     the fields of each record as files __key__.FIELD (WebDataset)
 *	bars, hist  numbers as lines of blocks: one line each, or counted in ranges
 *	pretty, markdown  rows of tables, for people     vertical  a line for each field
 *	count   the number of elements, at the end       none    nothing
 *	auto    text when the element's type is a scalar, else ndjson
 *
 * JSON: bytes are base64 text, non-finite floats by the rules (nan, inf in text form),
 * floats shortest that reads back the same with a `.0` kept on whole floats,
 * tensors nested lists, texts that are not UTF-8 by the rules (json_rules.h). Formats for people
 * (pretty, markdown, vertical) show any value.
 */
#ifndef FORMAT_FORMAT_H
#define FORMAT_FORMAT_H

#include "base/buf.h"
#include "base/err.h"
#include "value/elem.h"
#include "value/json/json_print.h"
#include "value/json_rules.h"
#include "value/type.h"

#include "format_list.h" /* FORMAT_LIST and FORMAT_CHOICES, by make */

/* One for each format_NAME.c, in the order of FORMAT_CHOICES. */
#define FORMAT_KIND(name, NAME) FORMAT_##NAME,
enum format_kind { FORMAT_AUTO, FORMAT_LIST(FORMAT_KIND) FORMAT_KINDS };

/* The options of formats. Zero: none, and the usual rules. */
struct format_opts {
	char *delim;     /* csv: the byte between fields, or \t; NULL: a comma */
	bool unsparsify; /* csv, tsv: hold all records back, and give each field of any of them a column */
	bool no_header;  /* csv, tsv: rows alone */
	struct json_rules json; /* says what becomes of values that JSON cannot hold */
	bool blocks;     /* bars, hist: the characters of the terminal include block elements */
};

struct format; /* state: kind, elements so far */

/* type may be NULL (unknown: `auto` then decides by the first element). */
struct format *format_new(enum format_kind kind, const struct type *type);
/* To be called before the first element. ST_USAGE: an option that is not for this format. The options are lent
 * for the call. */
enum status format_set(struct format *f, const struct format_opts *o, const struct type *type, struct err *e);
void format_free(struct format **f);
/* To be called before the first element: the beginning of the output can be overwritten at the
 * end. */
void format_seekable(struct format *f);
/* To be called before the first element: the output goes to a terminal of this width. */
void format_screen(struct format *f, size_t columns);
/* Appends the elements of the run to out. ST_DATA: the format cannot hold one of them; those
 * before it are in out. */
enum status format_run(struct format *f, const struct run *r, struct buf *out, struct err *e);
/* Appends `count` elements end to end, as in a chunk; the bytes may be unchecked: malformed
 * ones give ST_PROTO, and leave out as it was. Same result as format_run. */
enum status format_bytes(struct format *f, const uint8_t *p, size_t len,
			 uint64_t count, struct buf *out, struct err *e);
/* Like format_bytes for a verbatim format, but the caller writes the bytes itself: only checks
 * that they are that many elements. */
enum status format_pass(struct format *f, const uint8_t *p, size_t len, uint64_t count,
			struct err *e);
/* Appends the end of the output: `]` for json, the number for count. ST_DATA: elements that were held back cannot
 * be written. */
enum status format_end(struct format *f, struct buf *out, struct err *e);
/* Appends the rows that were held back, when the end does not come. */
void format_rest(struct format *f, struct buf *out);
/* The bytes that the beginning of the output is to be overwritten with, at any time; false:
 * none. */
bool format_patch(struct format *f, struct buf *out);
bool format_is_binary(enum format_kind kind); /* not fit for a terminal */
bool format_is_framed(enum format_kind kind); /* cannot be continued where it was left */
bool format_is_blind(enum format_kind kind);  /* uses no element's contents */
bool format_is_verbatim(enum format_kind kind); /* the elements' own bytes, end to end */

#endif
