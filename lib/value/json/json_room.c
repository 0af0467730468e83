/* SPDX-License-Identifier: MIT */
#include "value/json/json_room.h"

enum { JSON_FIRST = 1024 }; /* room to begin with */

uint8_t *
json_out_begin(struct json_out *o, struct buf *b, const struct json_rules *rules)
{
	o->rules = *rules;
	o->refused = false;
	o->b = b;
	/* All memory that is allocated already can be written to. */
	uint8_t *w = buf_room(b, JSON_FIRST + JSON_SLACK);
	o->limit = b->data + b->cap - 1 - JSON_SLACK;
	return w;
}

void
json_out_end(struct json_out *o, uint8_t *w)
{
	o->b->len = (size_t)(w - o->b->data);
	*w = '\0';
}

uint8_t *
json_out_room_slow(struct json_out *o, uint8_t *w, size_t n)
{
	o->b->len = (size_t)(w - o->b->data);
	w = buf_room(o->b, n + JSON_SLACK);
	o->limit = o->b->data + o->b->cap - 1 - JSON_SLACK;
	return w;
}
