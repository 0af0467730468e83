/* SPDX-License-Identifier: MIT
 *
 * Rows of csv and tsv. The first element says what the rows are. Records: its keys are
 * the header, and later ones must have the same, in any order. Lists: rows as they are.
 * Anything else is a row of one field. Values within values are JSON.
 */
#ifndef FORMAT_CSV_OUT_H
#define FORMAT_CSV_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

enum csv_mode { CSV_UNKNOWN, CSV_RECORDS, CSV_LISTS, CSV_VALUES };

/* A column: its encoded key in keys. */
struct csv_key {
	uint32_t at, len;
};

struct csv_out {
	enum csv_mode mode;
	bool tabs;
	bool special[256];   /* bytes that make a field be quoted or escaped */
	struct buf keys;
	struct csv_key *key;
	size_t n;
	struct buf json;     /* nested value as JSON */
	const uint8_t **value; /* the values of a record in another order than the header */
};

/* Appends one row, and the header before the first. ST_DATA: the element does not fit the
 * first row. */
enum status csv_out_elem(struct csv_out *c, bool tabs, const uint8_t *p, size_t n, struct buf *out,
			 struct err *e);
void csv_out_clear(void *state); /* state: a struct csv_out */

#endif
