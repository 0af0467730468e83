/* SPDX-License-Identifier: MIT
 *
 * Constant expressions: the value of one, the text that scalar parameters are
 * read from, and the literal that gives a value back.
 */
#ifndef LANG_CONSTANT_H
#define LANG_CONSTANT_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "expr/expr.h"

/* Appends the value of an expression that needs no element. `text` is the spec from which the
 * tree was read, for places in errors. */
enum status constant_value(const struct expr_ast *a, const char *file, const char *text,
			   size_t text_len, struct buf *out, struct err *e);
/* Reads and evaluates such an expression from a text of its own. */
enum status constant_read(const char *text, size_t n, struct buf *out, struct err *e);
/* Prints a value as the text of a parameter: scalars bare. False for lists, records, nil. */
bool constant_text(const uint8_t *p, size_t n, struct buf *out);
/* Prints a value as an expression that gives the same value. */
void constant_print(const uint8_t *p, size_t n, struct buf *out);

#endif
