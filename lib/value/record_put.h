/* SPDX-License-Identifier: MIT
 *
 * Making a record piece by piece, the counterpart of value/record.h: a head with the number of
 * fields, then the fields.
 */
#ifndef VALUE_RECORD_PUT_H
#define VALUE_RECORD_PUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "value/mp.h"

void record_put_head(struct buf *b, uint32_t fields);
void record_put_list(struct buf *b, const char *key, uint32_t items);
void record_put_text(struct buf *b, const char *key, const char *text);
void record_put_mp(struct buf *b, const char *key, struct mp text); /* a text of record_text */
void record_put_uint(struct buf *b, const char *key, uint64_t v);
void record_put_float(struct buf *b, const char *key, double v);

#endif
