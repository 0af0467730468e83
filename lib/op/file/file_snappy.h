/* SPDX-License-Identifier: MIT
 *
 * Snappy's framing format, as `save` and other programs write it: blocks of at most
 * 64 KiB, each with a checksum, which is compared. Streams one after another are one
 * file. What stands before an error is given first.
 */
#ifndef FILE_FILE_SNAPPY_H
#define FILE_FILE_SNAPPY_H

#include "op/file/file_input.h"

struct file_snappy;

struct file_snappy *file_snappy_new(void);
void file_snappy_free(struct file_snappy **s);
void file_snappy_start(struct file_snappy *s); /* begins a new file */
/* Reads up to `room` decompressed bytes; ST_END at the end. */
enum status file_snappy_read(struct file_snappy *s, struct file_input *in, uint8_t *p, size_t room,
			     size_t *n, struct err *e);

#endif
