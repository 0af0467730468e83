/* SPDX-License-Identifier: MIT
 *
 * The bytes of one file as they are on the disk, or of a pipe, a terminal,
 * standard input ("-"), or of an object elsewhere (fetch/url.h). Reading gives what is there rather than wait for more,
 * and a wait for input that does not come ends soon after *stop is set. Errors
 * do not name the file: who knows the operator does (op_source_fault).
 */
#ifndef FILE_FILE_INPUT_H
#define FILE_FILE_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/mapped.h"
#include "op/op.h"

struct fetch;

enum { FILE_INPUT_BLOCK = 64 * 1024 };

/* With fd -1 and everything else zero (file_input_init) it is closed. */
struct file_input {
	int fd;
	bool regular;        /* can be read from any byte on */
	uint64_t size;       /* regular file: its size when it was opened; object: 0 until a byte was read */
	struct fetch *object; /* NULL: it is no object */
	uint64_t taken;      /* number of bytes read so far */
	const struct op_ctx *ctx; /* its stop ends a wait; NULL: none */
	/* compressed bytes for decompression: [from, to) is unread */
	uint8_t *buf;
	size_t from, to;
	/* by file_input_expect: known of its bytes; sum: their CRC-32C so far */
	bool expects, summed, broken;
	bool unmapped;       /* by file_input_lend: a piece could not be mapped, so no other is */
	struct mapped piece;
	uint64_t want_bytes;
	uint32_t want, sum;
};

void file_input_init(struct file_input *in);
/* tag: an object must be this one; NULL: any, and the one that is there first from then on. */
enum status file_input_open(struct file_input *in, const char *path, const char *tag, const struct op_ctx *ctx,
			    struct err *e);
/* Tells this object from what may be there later; NULL: nothing does. Lent until the next read. */
const char *file_input_tag(const struct file_input *in);
/* Says that little behind this byte will be read. */
void file_input_until(struct file_input *in, uint64_t end);
/* To be called right after opening: the file has so many bytes and, if summed, this CRC-32C. The
 * read that would give the last ones, or that finds too few or too many, fails if they
 * are others (ST_DATA), and sets `broken`. */
void file_input_expect(struct file_input *in, uint64_t bytes, bool summed, uint32_t sum);
/* Reads up to `room` bytes to p. ST_END at the end; ST_AGAIN: stopped. */
enum status file_input_read(struct file_input *in, uint8_t *p, size_t room, size_t *n, struct err *e);
/* Whether a read would not wait, or at most wait_ms. */
bool file_input_ready(const struct file_input *in, int wait_ms);
/* For regular files, before anything was read: gives the first bytes, up to n, which stay unread. */
enum status file_input_peek(struct file_input *in, uint8_t *p, size_t n, size_t *got, struct err *e);
/* Reads the next block into buf, whose bytes must all have been taken. */
enum status file_input_fill(struct file_input *in, struct err *e);
/* For regular files: has the next read begin at the offset. */
enum status file_input_seek(struct file_input *in, uint64_t offset, struct err *e);
/* For regular files of some size: lends the bytes from the offset on where the kernel has them, at least one and up to
 * `most`, until the next call, without reading them: the next read begins where it would have. NULL: it cannot be, as
 * at the end. file_input_lost tells whether they were those of the file; if not, no more are lent. */
const uint8_t *file_input_lend(struct file_input *in, uint64_t offset, size_t most, size_t *n);
bool file_input_lost(struct file_input *in);
/* Counts what lies before the offset as read, and has the next read begin there. */
enum status file_input_pass(struct file_input *in, uint64_t offset, struct err *e);
void file_input_close(struct file_input *in); /* keeps buf */
void file_input_clear(struct file_input *in);

#endif
