/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "op/file/file_source.h"
#include "value/mp.h"

enum msgpack_step { MSGPACK_WHOLE, MSGPACK_PART, MSGPACK_LARGE, MSGPACK_MALFORMED };

/* The head of a value: its length, the bytes of contents after it, the values it opens. */
struct msgpack_head {
	size_t len;
	uint64_t contents, values;
};

/* Reads the head at p of n bytes; false: it is 0xc1, which begins no value. If the head is not
 * complete, len is greater than n. */
static bool
msgpack_head(const uint8_t *p, size_t n, struct msgpack_head *h)
{
	/* the bytes 0xca to 0xd3 */
	static const uint8_t numbers[] = { 4, 8, 1, 2, 4, 8, 1, 2, 4, 8 };
	uint8_t c = *p, size = 0;
	uint64_t count = 0;

	*h = (struct msgpack_head){ 1, 0, 0 };
	if (c == 0xc1)
		return false;
	if (c < 0x80 || c >= 0xe0 || c == 0xc0 || c == 0xc2 || c == 0xc3)
		return true;
	if (c >= 0xca && c <= 0xd3)
		h->contents = numbers[c - 0xca];
	else if (c >= 0xd4 && c <= 0xd8)
		h->contents = 1 + (1u << (c - 0xd4));
	else if (c >= 0xc4 && c <= 0xc9)
		size = (uint8_t)(1 << (c - 0xc4) % 3);
	else if (c >= 0xd9 && c <= 0xdb)
		size = (uint8_t)(1 << (c - 0xd9));
	else if (c >= 0xdc)
		size = c & 1 ? 4 : 2;
	else
		count = c & (c < 0xa0 ? 0x0f : 0x1f);
	h->len += size;
	if (h->len > n)
		return true;
	for (uint8_t i = 0; i < size; i++)
		count = count << 8 | p[1 + i];
	if ((c & 0xf0) == 0x80 || c == 0xde || c == 0xdf)
		h->values = 2 * count;
	else if ((c & 0xf0) == 0x90 || c == 0xdc || c == 0xdd)
		h->values = count;
	else if (size || (c & 0xe0) == 0xa0)
		h->contents = count + (c >= 0xc7 && c <= 0xc9); /* an ext value has a type byte */
	return true;
}

/* Continues through the value at p from where it stopped before, so that a large value that
 * comes in many reads is walked only once. */
static enum msgpack_step
msgpack_walk(struct file_source *s, const uint8_t *p, size_t n, size_t max)
{
	uint64_t at = s->searched, open = at ? s->pending : 1;
	enum msgpack_step step = MSGPACK_WHOLE;

	while (open) {
		struct msgpack_head h;

		if (at >= n) {
			step = MSGPACK_PART;
			break;
		}
		if (!msgpack_head(p + at, n - at, &h))
			return MSGPACK_MALFORMED;
		if (at + h.len > n) {
			step = MSGPACK_PART;
			break;
		}
		at += h.len + h.contents;
		open += h.values - 1;
		if (at + open > max) /* each open value takes at least one byte */
			return MSGPACK_LARGE;
	}
	if (at > n)
		step = MSGPACK_PART;
	s->searched = at;
	s->pending = open;
	return step;
}

/* Nothing tells where the next value would begin: the rest of the file is lost as well. */
static enum status
msgpack_fault(struct op_inst *self, struct file_source *s, struct err *e)
{
	enum status st = op_source_fault(self, s->name, s->line, e);

	if (st == ST_OK) {
		file_source_take(s, s->to - s->from, 1);
		s->eof = true;
	}
	return st;
}

enum status
file_msgpack(struct op_inst *self, struct file_source *s, struct run *out, struct err *e)
{
	const uint8_t *end = s->window->data + s->to;
	size_t max = file_source_element_max(self);
	enum msgpack_step step = MSGPACK_PART;

	while (out->n < RUN_USUAL && s->from < s->to) {
		const uint8_t *p = s->window->data + s->from, *next = NULL;

		if (!s->searched) /* in this case it is known to be longer than before */
			next = mp_check_next(p, end);
		if (!next) {
			step = msgpack_walk(s, p, (size_t)(end - p), max);
			if (step == MSGPACK_WHOLE && mp_check(p, s->searched))
				next = p + s->searched;
		}
		if (!next)
			break;
		/* The element stays where it was read, and the run holds on to the window. */
		if (!out->n)
			run_hold(out, block_ref(s->window));
		run_push(out, (struct elem){ p, s->window, (uint32_t)(next - p), out->n });
		file_source_take(s, (size_t)(next - p), 1);
	}
	if (out->n || s->from == s->to)
		return ST_OK;
	if (step == MSGPACK_PART && !s->eof)
		return ST_END;
	err_set(e, ST_DATA, step == MSGPACK_LARGE ? "a value of more than %2$zu bytes at byte %1$llu"
		: step == MSGPACK_PART ? "a cut off MessagePack value at byte %1$llu"
				       : "a malformed MessagePack value at byte %1$llu",
		(unsigned long long)s->offset, max);
	return msgpack_fault(self, s, e);
}
