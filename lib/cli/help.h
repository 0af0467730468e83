/* SPDX-License-Identifier: MIT
 *
 * A program's table as text for people: -h, --help, --version.
 */
#ifndef CLI_HELP_H
#define CLI_HELP_H

#include "base/buf.h"
#include "cli/program.h"

void help_short(struct buf *out, const struct program *p);   /* one screen */
void help_full(struct buf *out, const struct program *p);    /* everything */
void help_version(struct buf *out, const struct program *p);
/* Words that stand in a text of at most `width` columns, each line begun by
 * `indent` blanks; the first line already has `col` columns. */
void help_wrap(struct buf *out, const char *text, int indent, int col, int width);

#endif
