/* SPDX-License-Identifier: MIT
 *
 * The bytes of one file as they are on the disk, or of a pipe, a terminal,
 * standard input ("-"). Reading gives what is there rather than wait for more,
 * and a wait for input that does not come ends soon after *stop is set. Errors
 * do not name the file: who knows the operator does (op_source_fault).
 */
#ifndef FILE_FILE_INPUT_H
#define FILE_FILE_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "op/op.h"

enum { FILE_INPUT_BLOCK = 64 * 1024 };

/* Zero but for fd -1 (file_input_init) is closed. */
struct file_input {
	int fd;
	bool regular;
	uint64_t size;       /* regular: bytes when it was opened */
	uint64_t taken;      /* bytes read so far */
	const struct op_ctx *ctx; /* whose stop ends a wait; NULL: none */
	/* packed bytes on their way to the unpacker: [from, to) is unread */
	uint8_t *buf;
	size_t from, to;
};

void file_input_init(struct file_input *in);
enum status file_input_open(struct file_input *in, const char *path, const struct op_ctx *ctx,
			    struct err *e);
/* Up to `room` bytes to p. ST_END at the end; ST_AGAIN: stopped. */
enum status file_input_read(struct file_input *in, uint8_t *p, size_t room, size_t *n, struct err *e);
/* Whether reading would not wait, or not longer than that. */
bool file_input_ready(const struct file_input *in, int wait_ms);
/* The next block to buf, whose bytes must all have been taken. */
enum status file_input_fill(struct file_input *in, struct err *e);
/* Regular files only: the next read begins there. */
enum status file_input_seek(struct file_input *in, uint64_t offset, struct err *e);
void file_input_close(struct file_input *in); /* keeps buf */
void file_input_clear(struct file_input *in);

#endif
