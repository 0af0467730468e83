/* SPDX-License-Identifier: MIT
 *
 * One file after another as plain bytes: what the file is packed with is seen
 * from its first bytes and not from its name. One object serves many files, and
 * keeps its buffers from one to the next.
 */
#ifndef FILE_FILE_BYTES_H
#define FILE_FILE_BYTES_H

#include "op/file/file_archive.h"

struct file_bytes;

struct file_bytes *file_bytes_new(void);
void file_bytes_free(struct file_bytes **f);

/* as_is: the bytes are taken as they lie, packed or not. */
enum status file_bytes_open(struct file_bytes *f, const char *path, bool as_is,
			    const struct op_ctx *ctx, struct err *e);
/* Right after opening: the file may also be packed by zlib, whose first two bytes a
 * text could have. `is` looks at the first FILE_SNIFF bytes, or all there are. */
typedef bool file_is_zlib(const uint8_t *p, size_t n);
void file_bytes_zlib(struct file_bytes *f, file_is_zlib *is);
/* Reads what there is, up to `room` (at least FILE_SNIFF); ST_END at the end,
 * ST_AGAIN: stopped. After an error the file can only be closed. */
enum status file_bytes_read(struct file_bytes *f, uint8_t *p, size_t room, size_t *n, struct err *e);
/* Before the first read: it begins at this offset of the plain bytes, counted
 * from where reading began. Plain regular files are sought in, and that at any
 * time; of others what stands before is read and dropped, with [p, p+room) to
 * work in, and *n bytes that follow it are already at p. ST_END: it is shorter. */
enum status file_bytes_skip(struct file_bytes *f, uint64_t offset, uint8_t *p, size_t room,
			    size_t *n, struct err *e);
/* How many bytes are to come, when that is known (plain regular files; a guess,
 * as files grow); 0: unknown. */
uint64_t file_bytes_size(const struct file_bytes *f);
void file_bytes_close(struct file_bytes *f);

enum { FILE_SNIFF = 16 }; /* bytes that tell the packing */
enum file_packing file_packing_of(const uint8_t *p, size_t n);
/* Looks into a file; FILE_PLAIN also when it cannot be read. */
enum file_packing file_packing_at(const char *path);

#endif
