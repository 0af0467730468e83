/* SPDX-License-Identifier: MIT
 *
 * What text and nul share: each element as text (scalars bare, the rest as JSON), with a
 * byte behind it.
 */
#ifndef FORMAT_FORMAT_LINES_H
#define FORMAT_FORMAT_LINES_H

#include "base/buf.h"
#include "value/elem.h"

void format_lines(const struct elem *e, uint32_t n, char end, struct buf *out);

#endif
