/* SPDX-License-Identifier: MIT
 *
 * What text and nul share: each element as text (scalars bare, the rest as JSON), with a
 * byte behind it.
 */
#ifndef FORMAT_FORMAT_LINES_H
#define FORMAT_FORMAT_LINES_H

#include <stdbool.h>

#include "base/buf.h"
#include "value/elem.h"
#include "value/json_rules.h"

/* False: the rules refuse one of them. */
bool format_lines(const struct json_rules *rules, const struct elem *e, uint32_t n, char end, struct buf *out);

#endif
