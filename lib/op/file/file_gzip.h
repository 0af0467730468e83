/* SPDX-License-Identifier: MIT
 *
 * gzip and zlib, by ISA-L, which needs a third of zlib's time, and not by libarchive's
 * filter: that one (3.6) does not look at the checksums, so a flipped bit would
 * pass for data, and setting it up costs as much as unpacking a small file.
 * Members one after another are one file; zeros behind the last are padding;
 * anything else there is an error, and anything at all behind zlib data. What stands before an error is given first.
 */
#ifndef FILE_FILE_GZIP_H
#define FILE_FILE_GZIP_H

#include "op/file/file_input.h"

struct file_gzip;

struct file_gzip *file_gzip_new(void);
void file_gzip_free(struct file_gzip **g);
void file_gzip_start(struct file_gzip *g, bool zlib); /* begins a new file */
/* Reads up to `room` decompressed bytes; ST_END at the end. */
enum status file_gzip_read(struct file_gzip *g, struct file_input *in, uint8_t *p, size_t room,
			   size_t *n, struct err *e);

#endif
