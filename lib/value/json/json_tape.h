/* SPDX-License-Identifier: MIT
 *
 * Turns a simdjson tape (json_simd.h) into MessagePack in one pass: the tape has the
 * counts that heads need, so nothing has to be patched afterwards.
 */
#ifndef JSON_JSON_TAPE_H
#define JSON_JSON_TAPE_H

#include "value/json/json.h"
#include "value/json/json_simd.h"

/* Bytes of room that a document from text_len bytes needs at w. */
size_t json_tape_room(const struct simd_doc *d, size_t text_len);
/* Writes the document's value, of a record only `fields` unless NULL; gives the end. May also
 * write bytes after the end, within the room. */
uint8_t *json_tape_put(const struct simd_doc *d, const struct json_fields *fields, uint8_t *w);

#endif
