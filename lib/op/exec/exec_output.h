/* SPDX-License-Identifier: MIT
 *
 * What a child writes to its stdout, read without waiting, and cut into answers.
 */
#ifndef EXEC_EXEC_OUTPUT_H
#define EXEC_EXEC_OUTPUT_H

#include "value/format/frame.h"

enum { CHILD_OUTPUT_READ = 64 * 1024 };

struct child_output {
	struct buf b;      /* bytes that were read; those from `at` on have not been taken */
	size_t at;
	bool eof;
	bool fresh;        /* something was read that was not examined yet */
};

void child_output_clear(struct child_output *p);
void child_output_reset(struct child_output *p); /* empties it for another child */
/* Reads once from fd. True: there is something new, or the end. */
bool child_output_read(struct child_output *p, int fd);
/* Lends the next whole answer; ST_END with *n 0: it is not complete yet. */
enum status child_output_next(struct child_output *p, struct frame *f, const uint8_t **answer,
			      size_t *n, struct err *e);
/* Puts whole answers into out, as many as a run should hold. pos counts the elements put into
 * out. *more: there are others, or may be. */
enum status child_output_all(struct child_output *p, struct frame *f, struct run *out, bool *more,
			     struct err *e);

#endif
