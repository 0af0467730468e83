/* SPDX-License-Identifier: MIT */
#include "op/batch/batch_every.h"

uint64_t
batch_every_groups(const struct op_node *n)
{
	const struct batch_every *b = n->params;

	return (uint64_t)b->n;
}

int64_t
batch_every_cardinality(const struct op_node *n, const int64_t *in)
{
	const struct batch_every *b = n->params;

	if (in[0] == -1 || in[0] == INT64_MAX)
		return in[0];
	return in[0] / b->n + (!b->drop && in[0] % b->n);
}

enum status
batch_every_feed(struct op_inst *self, const struct run *in, struct run *out, struct err *e)
{
	struct batch_every *b = self->state;
	enum status st = ST_OK;

	for (; st == ST_OK && self->at < in->n; self->at++) {
		if (run_full(out))
			return ST_AGAIN;
		st = batch_collect_add(self, &b->stack, in->e[self->at], e);
		if (st == ST_OK && b->stack.part.n == b->n)
			st = b->give(self, out, e);
	}
	return st;
}

enum status
batch_every_finish(struct op_inst *self, struct run *out, struct err *e)
{
	struct batch_every *b = self->state;
	enum status st = ST_OK;

	if (b->stack.part.n && !b->drop)
		st = b->give(self, out, e);
	batch_collect_reset(&b->stack);
	return st == ST_OK ? ST_END : st;
}

void
batch_every_close(struct op_inst *self)
{
	struct batch_every *b = self->state;

	batch_collect_clear(&b->stack);
	batch_columns_clear(&b->columns);
}

void
batch_every_save(struct op_inst *self, struct buf *out)
{
	struct batch_every *b = self->state;

	batch_collect_save(&b->stack, out);
}

enum status
batch_every_restore(struct op_inst *self, const uint8_t *p, size_t n, struct err *e)
{
	struct batch_every *b = self->state;
	struct state_in in = state_begin(p, n);

	batch_collect_restore(&b->stack, &in);
	if (b->stack.part.n >= b->n)
		in.bad = true;
	return state_finish(self, &in, e);
}
