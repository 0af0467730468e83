/* SPDX-License-Identifier: MIT
 *
 * A parameter that is one byte (PARAM_BYTE): a character, or an escape for one, \n \t
 * \r \0 \xHH and the like, which reaches us with its backslash however it is quoted.
 */
#ifndef FILE_BYTE_WORD_H
#define FILE_BYTE_WORD_H

#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

/* Reads the one byte that s names; `name` is the parameter's, for the error. */
enum status byte_word_parse(const char *name, const char *s, uint8_t *out, struct err *e);
/* Adds the bytes, one or more, that s stands for: characters and escapes. */
enum status byte_word_text(const char *name, const char *s, struct buf *out, struct err *e);

#endif
