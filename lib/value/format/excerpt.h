/* SPDX-License-Identifier: MIT
 *
 * An element as JSON for people: whole if it is short, else its beginning.
 */
#ifndef FORMAT_EXCERPT_H
#define FORMAT_EXCERPT_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

enum { EXCERPT_BYTES = 1024 }; /* of the JSON that are kept */

/* Appends, cut at a character's end; a very large one is told by its size. */
void excerpt_print(const uint8_t *p, size_t len, struct buf *out);

#endif
