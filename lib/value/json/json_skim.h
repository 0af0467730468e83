/* SPDX-License-Identifier: MIT
 *
 * Most lines of NDJSON are records of plain fields, of which a projection wants a
 * few. Those are read here, straight from the text and the places of its brackets,
 * colons and values that the parser has found: no tape, no copy of what is not
 * wanted. All of the line is validated, though; whatever is not plain (records and
 * lists within, exponents, numbers of many digits, a name given twice, anything
 * wrong) is left to the parser, which then says what it is.
 */
#ifndef JSON_JSON_SKIM_H
#define JSON_JSON_SKIM_H

#include <stdbool.h>

#include "value/json/json.h"
#include "value/json/json_simd.h"

/* Bytes of room that a line of line_len bytes can need. */
size_t json_skim_room(size_t line_len);

/* Reads the document that begins at x->at, on a line without backslashes that ends at
 * `line_end` of the text and must hold nothing else. Moves *w and x->at past it; false:
 * nothing was done. */
bool json_skim(const uint8_t *text, struct simd_marks *x, size_t line_end,
	       const struct json_fields *f, uint8_t **w);

#endif
