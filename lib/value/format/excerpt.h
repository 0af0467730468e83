/* SPDX-License-Identifier: MIT
 *
 * An element as JSON for people: whole if it is short, else its beginning.
 */
#ifndef FORMAT_EXCERPT_H
#define FORMAT_EXCERPT_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

enum { EXCERPT_BYTES = 1024 }; /* how much of the JSON is kept */

/* Appends the excerpt, cut between characters; a very large element is described by its size. */
void excerpt_print(const uint8_t *p, size_t len, struct buf *out);

#endif
