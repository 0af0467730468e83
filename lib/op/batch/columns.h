/* SPDX-License-Identifier: MIT
 *
 * Records laid side by side: n records become one record of lists (or tensors), field by
 * field, in the order in which fields appear first. A record that lacks a
 * field that others have gives nil there, so that all lists have n items.
 */
#ifndef BATCH_COLUMNS_H
#define BATCH_COLUMNS_H

#include "base/buf.h"
#include "base/err.h"
#include "op/batch/rows.h"
#include "value/elem.h"

enum { COLUMNS_MAX = 4096 };

struct column {
	const uint8_t *key; /* encoded, in one of the elements */
	uint32_t key_len;
	uint32_t n;         /* values so far */
	struct buf values;
};
struct columns {
	struct column *v;   /* their buffers are used again */
	uint32_t n, cap;
};

void columns_clear(struct columns *c);
/* Whether the element is a record. */
bool columns_is_record(const struct elem *e);
/* Appends the record of lists to out, or of tensors as `as` says. More than COLUMNS_MAX
 * different fields, tensors of different shapes, more than max bytes: ST_DATA. */
enum status columns_build(struct columns *c, const struct elem *e, uint32_t n, enum rows_as as,
			  size_t max, struct run *out, struct err *err);

#endif
