/* SPDX-License-Identifier: MIT
 *
 * Records laid side by side: n records become one record of lists, field by
 * field, in the order in which fields appear first. A record that lacks a
 * field that others have gives nil there, so that all lists have n items.
 */
#ifndef OP_COLUMNS_H
#define OP_COLUMNS_H

#include "base/buf.h"
#include "base/err.h"
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
/* Appends the record of lists to out. More than COLUMNS_MAX different fields: ST_DATA. */
enum status columns_build(struct columns *c, const struct elem *e, uint32_t n, struct run *out,
			  struct err *err);

#endif
