/* SPDX-License-Identifier: MIT
 *
 * All operators there are, from the files of the wings.
 */
#ifndef OP_TABLE_H
#define OP_TABLE_H

#include "op/op.h"

/* The table: all operators by name, alphabetical; NULL at the end. */
const struct op_desc *op_find(const char *name, size_t n); /* knows aliases */
const struct op_desc *op_at(size_t i);

#endif
