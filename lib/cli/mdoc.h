/* SPDX-License-Identifier: MIT
 *
 * A program's table as parts of its manual page: --print-mdoc options|exits.
 * tools/gen.sh puts them between the markers of man/NAME.1.
 */
#ifndef CLI_MDOC_H
#define CLI_MDOC_H

#include "base/buf.h"
#include "cli/program.h"

void mdoc_options(struct buf *out, const struct program *p);
void mdoc_exits(struct buf *out, const struct program *p);
/* Text as running text of mdoc: escaped, each sentence's line ended. For other
 * generators, of operators for one. */
void mdoc_text(struct buf *out, const char *text);

#endif
