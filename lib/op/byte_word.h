/* SPDX-License-Identifier: MIT
 *
 * A parameter that is one byte: a character, or \n \t \r \0 \\ \xHH.
 */
#ifndef OP_BYTE_WORD_H
#define OP_BYTE_WORD_H

#include <stdint.h>

#include "base/err.h"

/* `name`: the parameter's, for the error. */
enum status byte_word_parse(const char *name, const char *s, uint8_t *out, struct err *e);

#endif
