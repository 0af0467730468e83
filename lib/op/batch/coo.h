/* SPDX-License-Identifier: MIT
 *
 * Lists of any length as one sparse table of two axes, in coordinates:
 *
 *	{indices: [[row, column], ...], values: [...], shape: [rows, columns]}
 *
 * Null stands for no value. columns is the length of the longest list.
 */
#ifndef BATCH_COO_H
#define BATCH_COO_H

#include "op/op.h"

const struct type *coo_typing(struct op_typing *t, const struct type *x);
/* Appends the table of n lists to out. ST_DATA: one of them is not a list, or the table has
 * more than max bytes. */
enum status coo_build(const struct elem *x, uint32_t n, size_t max, struct run *out, struct err *e);

#endif
