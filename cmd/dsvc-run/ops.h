/* SPDX-License-Identifier: MIT
 *
 * The table of operators as text: --ops, --help-op, and the manual page.
 */
#ifndef RUN_OPS_H
#define RUN_OPS_H

#include "base/buf.h"
#include "base/err.h"

void ops_list(struct buf *out);
/* Appends the help of an operator, or of a function of expressions. */
enum status ops_help(const char *name, struct buf *out, struct err *e);
void ops_mdoc(struct buf *out);

#endif
