/* SPDX-License-Identifier: MIT
 *
 * Records laid side by side: n records become one record of lists (or tensors), field by
 * field, in the order in which fields appear first. A record that lacks a
 * field that others have gives nil there, so that all lists have n items.
 */
#ifndef BATCH_BATCH_COLUMNS_H
#define BATCH_BATCH_COLUMNS_H

#include "base/buf.h"
#include "base/err.h"
#include "op/batch/batch_rows.h"
#include "value/elem.h"

enum { BATCH_COLUMNS_MAX = 4096 };

struct column {
	const uint8_t *key; /* encoded key; lies in one of the elements */
	uint32_t key_len;
	uint32_t n;         /* number of values so far */
	struct buf values;
};
struct batch_columns {
	struct column *v;   /* cleared columns keep their buffers */
	uint32_t n, cap;
};

void batch_columns_clear(struct batch_columns *c);
/* Whether the element is a record. */
bool batch_columns_is_record(const struct elem *e);
/* Appends the record of lists, or of tensors as `as` says, to out. ST_DATA: more than
 * BATCH_COLUMNS_MAX different fields, tensors of different shapes, or more than max bytes. */
enum status batch_columns_build(struct batch_columns *c, const struct elem *e, uint32_t n,
				enum batch_rows_as as, size_t max, struct run *out,
				struct err *err);

#endif
