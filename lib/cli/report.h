/* SPDX-License-Identifier: MIT
 *
 * The one place where a program prints an error, in the form that editors know:
 *
 *	dsvc-run: <arg>:1:12: `take` needs a number here
 *	  1 | range 10 | take  | batch 4
 *	    |            ^^^^^^
 *	  help: use single quotes, or @name
 */
#ifndef CLI_REPORT_H
#define CLI_REPORT_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"

/* Prints to stderr, in colour on a terminal unless NO_COLOR says otherwise, and
 * returns the exit code. Prints nothing for ST_OK, ST_END and an empty ST_NO. */
int report(const char *program, const struct err *e);
void report_format(struct buf *out, const char *program, const struct err *e, bool colour);

#endif
