/* SPDX-License-Identifier: MIT
 *
 * Ways to end: with what was written checked, or by a signal.
 */
#ifndef CLI_QUIT_H
#define CLI_QUIT_H

#include "base/buf.h"
#include "base/err.h"

enum { QUIT_LATE = 124 }; /* the exit code when --timeout has passed */

/* Writes all of b to standard output. */
enum status quit_write(const struct buf *b, struct err *e);
/* Flushes and checks standard output: ST_IO when what was written is not all
 * there. A closed pipe ends the program, in silence, by SIGPIPE. */
enum status quit_flush(struct err *e);
/* Does both: all that a program has to say. */
enum status quit_say(const struct buf *b, struct err *e);
/* A file that is of no use when a signal ends the program: quit_signal removes it. Lent until
 * the next call; NULL: none. */
void quit_removes(const char *path);
/* Dies of the signal with its default action, so that the parent sees 128 + n
 * and WIFSIGNALED alike. ALRM is --timeout (stop.h): says so and ends with 124. Standard output is not flushed. */
void quit_signal(int sig) __attribute__((noreturn));

#endif
