/* SPDX-License-Identifier: MIT
 *
 * bzip2, xz, zstd and lz4 through libarchive's filters. Frames one after another
 * are one file. Cut off or corrupt data is an error: libarchive reports some of
 * it as an empty or finished file with a message beside it, so the message
 * counts here and not the code alone.
 */
#ifndef FILE_FILE_ARCHIVE_H
#define FILE_FILE_ARCHIVE_H

#include "op/file/file_input.h"
#include "op/file/file_packing.h"

struct file_archive;

/* Reads from `in`, whose buffer holds the first bytes and which must outlive this. Gives. */
enum status file_archive_open(enum file_packing packing, struct file_input *in,
			      struct file_archive **out, struct err *e);
/* Reads up to `room` decompressed bytes; ST_END at the end. */
enum status file_archive_read(struct file_archive *a, uint8_t *p, size_t room, size_t *n,
			      struct err *e);
void file_archive_close(struct file_archive **a);

#endif
