/* SPDX-License-Identifier: MIT
 *
 * The regular files of a tar archive one after another, by libarchive; what the
 * archive is packed with is undone by file_bytes. Other formats than tar are
 * refused. Names are bounded by libarchive; contents by the caller's limit.
 */
#ifndef FILE_TAR_ENTRIES_H
#define FILE_TAR_ENTRIES_H

#include "base/buf.h"
#include "op/file/file_bytes.h"

struct tar_entries;

struct tar_entries *tar_entries_new(void);
void tar_entries_free(struct tar_entries **t);
enum status tar_entries_open(struct tar_entries *t, const char *path, const char *tag, const struct op_ctx *ctx,
			     struct err *e);
/* Goes to the next file, and lends its name. ST_END: there are no more, and the archive has
 * its end mark; ST_DATA: among others, the archive was cut off after a file. */
enum status tar_entries_next(struct tar_entries *t, const char **name, struct err *e);
/* Appends the file's contents, at most max bytes; ST_NO: it has more, and is skipped. */
enum status tar_entries_read(struct tar_entries *t, size_t max, struct buf *out, struct err *e);
void tar_entries_close(struct tar_entries *t);

#endif
