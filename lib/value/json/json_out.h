/* SPDX-License-Identifier: MIT
 *
 * Printing of encoded values as JSON and as text, for json_print.h and format.c.
 */
#ifndef JSON_JSON_OUT_H
#define JSON_JSON_OUT_H

#include "value/json/json_room.h"

/* The end of what is written, and the place of what is still to be read. */
struct json_at {
	uint8_t *w;
	const uint8_t *p;
};

/* Puts one checked value as JSON; at.p ends after it. */
struct json_at json_put(struct json_out *o, struct json_at at, const uint8_t *end);
/* Puts one checked value as JSON, but a scalar as bare text; at.p ends after it. */
struct json_at text_put(struct json_out *o, struct json_at at, const uint8_t *end);

#endif
