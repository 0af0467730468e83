/* SPDX-License-Identifier: MIT */
#include "op/whole/partial.h"

/* A part ends with this many keys or bytes. If it had fewer than two elements for each key, the
 * next ones are short: their tables stay in the processor's cache, and no memory is spent on what
 * hardly shortens the stream. After a while it is tried again. */
enum {
	PARTIAL_KEYS = 1 << 16, PARTIAL_BYTES = 8 << 20,
	PARTIAL_SHORT = 1024, PARTIAL_SHORTER = 512,
	PARTIAL_ASK = 256
};

enum op_scope
partial_scope(int partial)
{
	return partial == PARTIAL_MAKE ? OP_STREAM : OP_GLOBAL;
}

uint32_t
partial_room(const struct partial_end *p)
{
	return PARTIAL_ASK - (uint32_t)(p->taken % PARTIAL_ASK);
}

bool
partial_over(const struct partial_end *p, uint32_t keys)
{
	if (!p->taken || p->taken % PARTIAL_ASK)
		return false;
	return keys >= PARTIAL_KEYS || p->weight >= PARTIAL_BYTES || (p->shorter && p->taken >= PARTIAL_SHORT);
}

void
partial_next(struct partial_end *p, uint32_t keys)
{
	bool idle = keys > p->taken / 2;

	if (p->shorter)
		p->shorter--;
	else if (idle)
		p->shorter = PARTIAL_SHORTER;
	p->giving = false;
	p->taken = p->weight = 0;
}

enum status
partial_feed(struct op_inst *self, const struct partial_how *how, struct partial_end *p, const struct run *in,
	     struct run *out, struct err *e)
{
	enum status st = ST_OK;
	uint32_t i = self->at;

	while (st == ST_OK && i < in->n) {
		if (p->giving && !how->give(self, out)) {
			self->at = i;
			return ST_AGAIN;
		}
		uint32_t from = i, room = partial_room(p), given = out->n;

		while (st == ST_OK && i < in->n && i - from < room)
			st = how->take(self, in, &i, in->n - from < room ? in->n : from + room, out, e);
		out->n = given; /* without elements that failed, with on_error=keep */
		p->taken += i - from;
		p->giving = partial_over(p, how->keys(self));
	}
	return st;
}

void
partial_save(const struct partial_end *p, struct buf *out)
{
	state_put_u64(out, p->giving);
	state_put_u64(out, p->taken);
	state_put_u64(out, p->weight);
	state_put_u64(out, p->shorter);
}

void
partial_restore(struct partial_end *p, struct state_in *in)
{
	p->giving = state_get_u64(in, 1);
	p->taken = state_get_u64(in, UINT64_MAX);
	p->weight = state_get_u64(in, UINT64_MAX);
	p->shorter = state_get_u64(in, PARTIAL_SHORTER);
}
