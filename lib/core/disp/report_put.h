/* SPDX-License-Identifier: MIT
 *
 * The pieces of a report: heads, and fields as a key and its value, in MessagePack. A record's
 * head says how many fields follow it.
 */
#ifndef CORE_REPORT_PUT_H
#define CORE_REPORT_PUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

void report_record(struct buf *b, uint32_t n);
void report_text(struct buf *b, const char *s); /* NULL is the empty text */
void report_put_uint(struct buf *b, uint64_t v);

/* A key, and the head of a list of n items. */
void report_list(struct buf *b, const char *key, size_t n);
void report_uint(struct buf *b, const char *key, uint64_t v);
void report_float(struct buf *b, const char *key, double v);
void report_bool(struct buf *b, const char *key, bool v);
void report_str(struct buf *b, const char *key, const char *v);
/* An id as it is told elsewhere: 16 hexadecimal digits, as text. */
void report_id(struct buf *b, const char *key, uint64_t v);

#endif
