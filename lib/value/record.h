/* SPDX-License-Identifier: MIT
 *
 * Looking into a dispatcher's report: one MessagePack record (doc/protocol.md). What is
 * missing, or is of another type, reads as 0, "" or an empty list.
 */
#ifndef VALUE_RECORD_H
#define VALUE_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "value/mp.h"

struct slice {
	const uint8_t *p, *end;
};

struct slice record_at(struct slice record, const char *key); /* empty: no such key */
uint64_t record_uint(struct slice record, const char *key);   /* value of an integer or a bool */
bool record_int(struct slice record, const char *key, int64_t *v); /* false: it is missing, or no integer (nil) */
double record_float(struct slice record, const char *key);
struct mp record_text(struct slice record, const char *key);
bool record_is(struct slice record, const char *key, const char *word);

/* The items of a list: for (it = record_list(...); record_next(&it, &item);) */
struct record_items {
	struct slice rest;
	uint32_t left;
};
struct record_items record_list(struct slice record, const char *key);
bool record_next(struct record_items *it, struct slice *item);

#endif
