/* SPDX-License-Identifier: MIT
 *
 * The bytes of an Arrow stream from front to back: of standard input, a pipe, or a file that may be compressed. What
 * comes before the first message of a file in Arrow's file format is left out, so that such a file may come through a
 * pipe, too.
 */
#ifndef TABLE_ARROW_BYTES_H
#define TABLE_ARROW_BYTES_H

#include "op/op.h"

struct arrow_bytes;

enum { ARROW_MAGIC = 6 };
/* Whether these are the first bytes of the file format. */
bool arrow_magic(const uint8_t *p, size_t n);

/* Gives. tag: as file_bytes_open. */
enum status arrow_bytes_open(const char *path, const char *tag, const struct op_ctx *ctx, struct arrow_bytes **out,
			     struct err *e);
/* The callback of struct arrow_from. */
int64_t arrow_bytes_read(void *bytes, int64_t offset, int64_t n, void *to);
const char *arrow_bytes_tag(const struct arrow_bytes *b);
/* Why a read failed, and then nothing is known of it any more; kind ST_OK: none has; ST_AGAIN: stopped. */
struct err arrow_bytes_failed(struct arrow_bytes *b);
void arrow_bytes_close(struct arrow_bytes **b);

#endif
