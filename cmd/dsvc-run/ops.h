/* SPDX-License-Identifier: MIT
 *
 * The tables of operators and functions as text: --ops, --functions, --help-op, and the
 * manual page.
 */
#ifndef RUN_OPS_H
#define RUN_OPS_H

#include "base/buf.h"
#include "base/err.h"

void ops_list(struct buf *out);
void ops_functions(struct buf *out);
/* Operators and functions, one a line, for `dsvc help -k`: name, clause, and what else is searched, with tabs
 * between. */
void ops_names(struct buf *out);
/* Appends the help of an operator, or of a function of expressions. */
enum status ops_help(const char *name, struct buf *out, struct err *e);
void ops_mdoc(struct buf *out);

#endif
