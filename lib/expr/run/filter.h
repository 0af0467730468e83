/* SPDX-License-Identifier: MIT
 *
 * Filters that are one regular expression: x ~ /re/. Where every match must
 * hold one of a few texts (needle.h), those are searched for in many elements
 * at once, and only elements that hold one are matched.
 */
#ifndef RUN_FILTER_H
#define RUN_FILTER_H

#include "expr/vm.h"

/* Does what expr_filter does, for an expression with x->quick set. */
enum status filter_run(struct expr_vm *vm, const struct run *in, uint32_t *from, struct run *out);

#endif
