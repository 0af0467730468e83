/* SPDX-License-Identifier: MIT
 *
 * What plan_explain (explain.c) and plan_print.c share.
 */
#ifndef LANG_EXPLAIN_H
#define LANG_EXPLAIN_H

#include "lang/spec.h"

/* How many elements come out of n: -1 unknown, INT64_MAX without end. */
int64_t explain_count(const struct op_node *n);
/* plan_print with those numbers. */
void plan_print_counted(const struct plan *plan, struct buf *out);

#endif
