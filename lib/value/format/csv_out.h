/* SPDX-License-Identifier: MIT
 *
 * Rows of csv and tsv. The first element says what the rows are. Records: its keys are
 * the header, and later ones must have the same, in any order. Lists: rows as they are.
 * Anything else is a row of one field. Values within values are JSON.
 *
 * With unsparsify all records are held back until the end, at most CSV_HELD bytes of them;
 * the header then has every key of any of them, in the order in which they came first, and
 * what a record lacks is an empty field.
 *
 * Without an element there is still a header, if the type tells the fields.
 */
#ifndef FORMAT_CSV_OUT_H
#define FORMAT_CSV_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "value/format/format_desc.h"

enum csv_mode { CSV_UNKNOWN, CSV_RECORDS, CSV_LISTS, CSV_VALUES };

/* A column: its encoded key in keys. */
struct csv_key {
	uint32_t at, len;
};

enum { CSV_HELD = 1 << 30, CSV_KEYS = 10000 };

struct csv_out {
	enum csv_mode mode;
	bool tabs, unsparsify, no_header;
	uint8_t delim;       /* 0: a comma, or with tabs a tab */
	struct json_rules rules;
	bool special[256];   /* bytes that make a field be quoted or escaped */
	struct buf keys;
	struct csv_key *key;
	size_t n;
	struct buf json;     /* nested value as JSON */
	const uint8_t **value; /* the values of a record in the order of the header; NULL: it lacks one */
	size_t cap_key, cap_value;
	struct buf held;     /* with unsparsify: records end to end */
	struct buf typed;    /* keys of the type, encoded, for when no element comes */
	size_t n_typed;
};

/* Appends one row, and the header before the first. ST_DATA: the element does not fit the
 * first row. */
enum status csv_out_elem(struct csv_out *c, bool tabs, const uint8_t *p, size_t n, struct buf *out,
			 struct err *e);
enum status csv_out_set(void *state, const struct format_opts *o, const struct type *type, struct err *e);
enum status csv_out_end(void *state, uint64_t count, struct buf *out, struct err *e);
void csv_out_rest(void *state, struct buf *out);
void csv_out_clear(void *state); /* state: a struct csv_out */

#endif
