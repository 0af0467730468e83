/* SPDX-License-Identifier: MIT
 *
 * Texts and numbers of JSON, written into memory that the caller has: for what writes many lines, or may not allocate.
 */
#ifndef BASE_JSON_TEXT_H
#define BASE_JSON_TEXT_H

#include <stddef.h>
#include <stdint.h>

enum {
	JSON_TEXT_MOST = 6, /* bytes that one byte of a text becomes at most */
	JSON_INT_MOST = 20  /* bytes of a number */
};

/* Writes what stands between the quotes for a text of others, up to `end`, and gives the end of what it wrote: a text
 * that does not fit is cut behind a character. Bytes that are no UTF-8 become U+FFFD; DEL is escaped like the control
 * characters. */
char *json_text(char *to, const char *end, const char *s, size_t n);
char *json_uint(char *to, uint64_t v);
char *json_int(char *to, int64_t v);

#endif
