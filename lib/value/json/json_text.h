/* SPDX-License-Identifier: MIT
 *
 * Text and bytes as JSON strings.
 */
#ifndef JSON_JSON_TEXT_H
#define JSON_JSON_TEXT_H

#include "value/json/json_room.h"

/* Writes the n bytes at s in quotes, escaped; invalid UTF-8 becomes U+FFFD, and o->refused is
 * set if the rules want that. Bytes up to `end` may be read. Keeps the slack. */
uint8_t *json_put_text(struct json_out *o, uint8_t *w, const uint8_t *s, size_t n,
		       const uint8_t *end);
/* Writes the n bytes at s as base64, in quotes. */
uint8_t *json_put_base64(struct json_out *o, uint8_t *w, const uint8_t *s, size_t n);

#endif
