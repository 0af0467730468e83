/* SPDX-License-Identifier: MIT
 *
 * Printing of encoded values into a buffer, for format.c: the writing end lives
 * in a register and is handed through, so that no value costs a call to buf.
 * Between calls at least JSON_SLACK bytes are free behind `w` whenever
 * w <= limit; json_out_room makes that so.
 */
#ifndef JSON_JSON_OUT_H
#define JSON_JSON_OUT_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

enum { JSON_SLACK = 64 };

struct json_out {
	struct buf *b;
	uint8_t *limit;
};

/* The end of what is written, and the place of what is still to be read. */
struct json_at {
	uint8_t *w;
	const uint8_t *p;
};

uint8_t *json_out_begin(struct json_out *o, struct buf *b);
void json_out_end(struct json_out *o, uint8_t *w);
/* Makes room for n bytes and the slack; gives the (perhaps moved) writing end. */
uint8_t *json_out_room_slow(struct json_out *o, uint8_t *w, size_t n);
static inline uint8_t *
json_out_room(struct json_out *o, uint8_t *w, size_t n)
{
	if (w <= o->limit && n <= (size_t)(o->limit - w))
		return w;
	return json_out_room_slow(o, w, n);
}

/* Puts one checked value as JSON; at.p ends after it. */
struct json_at json_put(struct json_out *o, struct json_at at, const uint8_t *end);
/* Puts one checked value as JSON, but a scalar as bare text; at.p ends after it. */
struct json_at text_put(struct json_out *o, struct json_at at, const uint8_t *end);

#endif
