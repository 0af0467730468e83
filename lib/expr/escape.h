/* SPDX-License-Identifier: MIT
 *
 * Backslashes in quoted texts, the same in expressions and in words:
 *	\n \r \t \b \f \v \0 \e \a \" \\ \/ \' \@ \$, \xFF,
 *	\u{1F600}, \u00e9, and \ud83d\ude00 as JSON writes it
 */
#ifndef EXPR_ESCAPE_H
#define EXPR_ESCAPE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

/* Reads the escape at s, after its backslash, and adds the character to out as UTF-8 (\x: as
 * that byte). *used: bytes it took. False: it is not an escape; *used: bytes examined. */
bool escape_read(const char *s, size_t len, struct buf *out, size_t *used);

#endif
