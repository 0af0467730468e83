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
void record_put_key(struct buf *b, const char *text); /* a key alone, or a text in a list */
void record_put_list(struct buf *b, const char *key, size_t items);
void record_put_text(struct buf *b, const char *key, const char *text); /* NULL is the empty text */
void record_put_bool(struct buf *b, const char *key, bool v);
void record_put_nil(struct buf *b, const char *key);
void record_put_mp(struct buf *b, const char *key, struct mp text); /* a text of record_text */
void record_put_uint(struct buf *b, const char *key, uint64_t v);
void record_put_int(struct buf *b, const char *key, int64_t v);
void record_put_float(struct buf *b, const char *key, double v);

#endif
