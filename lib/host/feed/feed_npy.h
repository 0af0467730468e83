/* SPDX-License-Identifier: MIT
 *
 * A core's part of a step as a file of numpy: --as npy.
 */
#ifndef HOST_FEED_NPY_H
#define HOST_FEED_NPY_H

#include "value/columns.h"

/* ST_DATA: the elements are not one array, or numpy does not have their dtype. */
enum status feed_npy_check(const struct columns *c, struct err *e);
/* Appends rows [first, first + n) of columns that were checked. */
void feed_npy_put(const struct columns *c, const uint8_t *slot, uint64_t first, uint64_t n, struct buf *out);

#endif
