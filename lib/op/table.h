/* SPDX-License-Identifier: MIT
 *
 * All operators there are, from the files of the wings.
 */
#ifndef OP_TABLE_H
#define OP_TABLE_H

#include "op/op.h"

/* The table of all operators, by name in alphabetical order; NULL at the end. */
const struct op_desc *op_find(const char *name, size_t n); /* finds aliases, too */
const struct op_desc *op_at(size_t i);

#endif
