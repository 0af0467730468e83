/* SPDX-License-Identifier: MIT
 *
 * What a child writes to its stdout, read without waiting, and cut into answers.
 */
#ifndef EXEC_EXEC_POUR_H
#define EXEC_EXEC_POUR_H

#include "value/format/frame.h"

enum { POUR_READ = 64 * 1024 };

struct pour {
	struct buf b;      /* read and not taken: from `at` on */
	size_t at;
	bool eof;
	bool fresh;        /* something was read that was not looked at */
};

void pour_clear(struct pour *p);
void pour_reset(struct pour *p); /* for another child */
/* Reads once from fd. True: there is something new, or the end. */
bool pour_read(struct pour *p, int fd);
/* The next whole answer, lent; *n 0 and ST_END: not all there. */
enum status pour_next(struct pour *p, struct frame *f, const uint8_t **answer, size_t *n,
		      struct err *e);
/* All whole answers into out as far as a run should hold. pos is the number of the
 * element in out. *more: there are others, or may be. */
enum status pour_all(struct pour *p, struct frame *f, struct run *out, bool *more, struct err *e);

#endif
