/* SPDX-License-Identifier: MIT
 *
 * The buffer that values are printed into: its writing end lives in a register and
 * is handed through, so that no value costs a call to buf. Between calls at least
 * JSON_SLACK bytes are free after `w` whenever w <= limit; json_out_room makes
 * that so.
 */
#ifndef JSON_JSON_ROOM_H
#define JSON_JSON_ROOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "value/json_rules.h"

enum { JSON_SLACK = 64 };

struct json_out {
	struct buf *b;
	uint8_t *limit;
	struct json_rules rules;
	bool refused; /* something that the rules refuse was written, in some other form */
};

uint8_t *json_out_begin(struct json_out *o, struct buf *b, const struct json_rules *rules);
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

#endif
