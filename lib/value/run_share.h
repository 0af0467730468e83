/* SPDX-License-Identifier: MIT
 *
 * Keeping a whole run for another thread: its elements are not copied where
 * they lie in blocks, which are referred to.
 */
#ifndef VALUE_RUN_SHARE_H
#define VALUE_RUN_SHARE_H

#include <stddef.h>

#include "value/elem.h"

/* Puts from's elements into `to` (reset first), with file, line and parts; the parts are
 * copied to *parts, which the caller frees. Copies elements outside blocks, and a few small
 * ones that would pin large blocks. Gives the size of what `to` holds. */
size_t run_share(struct run *to, struct run_part **parts, const struct run *from);

#endif
