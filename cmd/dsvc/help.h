/* SPDX-License-Identifier: MIT
 *
 * `dsvc help`: what there is, what one thing does, what has to do with a word.
 */
#ifndef DSVC_HELP_H
#define DSVC_HELP_H

#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"

/* The verbs with what they do, and where to read on. */
void help_overview(struct buf *out);
/* `help ARG...`: a verb's manual (its --help where there is no manual), an operator, a
 * function, or with -k WORD all that has to do with the word. Mostly becomes another program.
 * ST_NO: -k has found nothing. */
enum status help_verb(char **arg, size_t n, struct err *e);

#endif
