/* SPDX-License-Identifier: MIT
 *
 * Keys as names of files below a folder. No key leads out of it, and keys whose texts differ
 * have different names:
 *
 *	text, number, bool   itself; what is no letter, digit, `-_+,=@:` or blank, a dot at the
 *	                     beginning, and bytes that are no UTF-8 become %XX
 *	null                 %null
 *	the empty text       %
 *	a list of these      the names, each a folder in the one before
 */
#ifndef KEEP_SPLIT_NAME_H
#define KEEP_SPLIT_NAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

enum { SPLIT_NAME_MAX = 200, SPLIT_NAME_PARTS = 8 }; /* bytes of a name, and names of a list */

/* Appends the name of a key. NULL, or what is wrong with the key. */
const char *split_name(const uint8_t *p, size_t len, struct buf *out);
/* Whether split_name could have made it; of a name that others wrote. */
bool split_name_valid(const uint8_t *p, size_t n);

#endif
