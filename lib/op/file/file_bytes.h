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

/* Opens a file. as_is: its bytes are not decompressed. tag: as file_input_open. */
enum status file_bytes_open(struct file_bytes *f, const char *path, const char *tag, bool as_is,
			    const struct op_ctx *ctx, struct err *e);
/* Do what file_input_tag and file_input_until do. */
const char *file_bytes_tag(const struct file_bytes *f);
void file_bytes_until(struct file_bytes *f, uint64_t end);
/* To be called right after opening, before anything else is read: the list of a saved folder has
 * this of the file. A read fails (ST_DATA) before it gives the last bytes if they are others, in
 * the words of seal_file_check. path is lent until the file is closed. */
struct seal_file;
void file_bytes_expect(struct file_bytes *f, const char *path, const struct seal_file *has);
/* To be called right after opening: the file may also be compressed by zlib, whose first two
 * bytes could belong to a text. `is` examines the first FILE_SNIFF bytes, or all there are. */
typedef bool file_is_zlib(const uint8_t *p, size_t n);
void file_bytes_zlib(struct file_bytes *f, file_is_zlib *is);
/* To be called right after opening: the file is text, and if it begins with a byte order mark of
 * UTF-16 it is read as UTF-8. Without effect with as_is. */
void file_bytes_text(struct file_bytes *f);
/* Reads up to `room` bytes (at least FILE_SNIFF); ST_END at the end, ST_AGAIN: stopped. After
 * an error the file can only be closed. */
enum status file_bytes_read(struct file_bytes *f, uint8_t *p, size_t room, size_t *n, struct err *e);
/* Whether its bytes are known to lie in the file as they are read; then `room` may be any. */
bool file_bytes_plain(const struct file_bytes *f);
/* Goes to an offset of such a file on this machine, between two reads. False: it cannot, and nothing has changed. */
bool file_bytes_seek(struct file_bytes *f, uint64_t offset);
/* Goes to an offset of the decompressed bytes, counted from where reading began; called before
 * the first read, for plain regular files at any time. Plain regular files are sought; of
 * others everything before the offset is read and dropped, using [p, p+room), and the *n bytes
 * after it are already at p. ST_END: the file is shorter. */
enum status file_bytes_skip(struct file_bytes *f, uint64_t offset, uint8_t *p, size_t room,
			    size_t *n, struct err *e);
/* Number of bytes still to be read, where known (plain regular files; they may grow); 0:
 * unknown. */
uint64_t file_bytes_size(const struct file_bytes *f);
/* Lends the bytes from the offset on, as file_input_lend; only of a plain file. file_bytes_lost and file_bytes_pass do
 * what file_input_lost and file_input_pass do. */
const uint8_t *file_bytes_lend(struct file_bytes *f, uint64_t offset, size_t most, size_t *n);
bool file_bytes_lost(struct file_bytes *f);
enum status file_bytes_pass(struct file_bytes *f, uint64_t offset, struct err *e);
void file_bytes_close(struct file_bytes *f);

#endif
