/* SPDX-License-Identifier: MIT
 *
 * What plan_explain (explain.c) and plan_print.c share.
 */
#ifndef LANG_EXPLAIN_H
#define LANG_EXPLAIN_H

#include "lang/spec.h"

/* plan_print with the numbers of elements (op_elements_of). */
void plan_print_counted(const struct plan *plan, struct buf *out);

#endif
