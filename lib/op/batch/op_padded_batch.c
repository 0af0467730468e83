/* SPDX-License-Identifier: MIT
 * padded_batch: puts every N elements together, lists padded to the length of
 * the longest.
 */
#include "op/batch/batch_collect.h"

struct padded_batch {
	int64_t n;
	struct buf pad, shape;
	bool drop;
	struct padding padding;
	struct batch_collect stack;
	struct batch_columns columns;
};

static const struct param padded_batch_params[] = {
	{ "n", PARAM_INT, offsetof(struct padded_batch, n), .min = 1, .max = INT32_MAX,
	  .help = "elements in a batch" },
	{ "pad", PARAM_VALUE, offsetof(struct padded_batch, pad),
	  .flags = PARAM_KEY_ONLY | PARAM_OPTIONAL,
	  .help = "what stands in the gaps; without it 0, 0.0, \"\" or false, by kind" },
	{ "shape", PARAM_VALUE, offsetof(struct padded_batch, shape),
	  .flags = PARAM_KEY_ONLY | PARAM_OPTIONAL,
	  .help = "the lengths to pad to, as [20] or [null, 3]; null: that of the longest" },
	{ "drop_remainder", PARAM_BOOL, offsetof(struct padded_batch, drop), "false",
	  .flags = PARAM_KEY_ONLY, .help = "drop the last batch when it is not full" },
	{ 0 }
};

static enum status
padded_batch_typing(struct op_node *n, struct op_typing *t, const struct type **type,
		    struct err *e)
{
	const struct padded_batch *b = n->params;
	struct padding p;

	*type = batch_collect_typing(t, n->in[0]->type, true);
	return padding_shape(&b->shape, &p, e);
}

static uint64_t
padded_batch_groups(const struct op_node *n)
{
	const struct padded_batch *b = n->params;

	return (uint64_t)b->n;
}

static int64_t
padded_batch_cardinality(const struct op_node *n, const int64_t *in)
{
	const struct padded_batch *b = n->params;

	if (in[0] == -1 || in[0] == INT64_MAX)
		return in[0];
	return in[0] / b->n + (!b->drop && in[0] % b->n);
}

static enum status
padded_batch_open(struct op_inst *self, struct err *e)
{
	struct padded_batch *b = self->state;

	b->padding.value = &b->pad;
	b->padding.type = self->node->in[0]->type;
	return padding_shape(&b->shape, &b->padding, e);
}

static enum status
padded_batch_feed(struct op_inst *self, const struct run *in, struct run *out, struct err *e)
{
	struct padded_batch *b = self->state;
	enum status st = ST_OK;

	for (; st == ST_OK && self->at < in->n; self->at++) {
		if (run_full(out))
			return ST_AGAIN;
		st = batch_collect_add(self, &b->stack, in->e[self->at], e);
		if (st == ST_OK && b->stack.part.n == b->n)
			st = batch_collect_give(self, &b->stack, &b->columns, &b->padding, out, e);
	}
	return st;
}

static enum status
padded_batch_finish(struct op_inst *self, struct run *out, struct err *e)
{
	struct padded_batch *b = self->state;
	enum status st = ST_OK;

	if (b->stack.part.n && !b->drop)
		st = batch_collect_give(self, &b->stack, &b->columns, &b->padding, out, e);
	batch_collect_reset(&b->stack);
	return st == ST_OK ? ST_END : st;
}

static void
padded_batch_close(struct op_inst *self)
{
	struct padded_batch *b = self->state;

	batch_collect_clear(&b->stack);
	batch_columns_clear(&b->columns);
}

static void
padded_batch_save(struct op_inst *self, struct buf *out)
{
	struct padded_batch *b = self->state;

	batch_collect_save(&b->stack, out);
}

static enum status
padded_batch_restore(struct op_inst *self, const uint8_t *p, size_t n, struct err *e)
{
	struct padded_batch *b = self->state;
	struct state_in in = state_begin(p, n);

	batch_collect_restore(&b->stack, &in);
	if (b->stack.part.n >= b->n)
		in.bad = true;
	return state_finish(self, &in, e);
}

const struct op_desc op_padded_batch = {
	.name = "padded_batch",
	.brief = "every N elements together, lists padded to the same length",
	.doc = "As batch, but lists in the elements become equally long: at every depth as long "
	       "as the longest in the batch, or as shape= says. In records each field is "
	       "padded by itself, and shape= goes for all of them. A list longer than shape= "
	       "is an error. Tensors of one dtype and rank become one tensor.",
	.kind = OP_TRANSFORM,
	.scope = OP_STREAM,
	.params = padded_batch_params,
	.state_size = sizeof(struct padded_batch),
	.typing = padded_batch_typing,
	.cardinality = padded_batch_cardinality,
	.groups = padded_batch_groups,
	.open = padded_batch_open,
	.feed = padded_batch_feed,
	.finish = padded_batch_finish,
	.close = padded_batch_close,
	.save = padded_batch_save,
	.restore = padded_batch_restore,
	.example = "elements [[1, 2, 3], [4], [5, 6]] | padded_batch 2",
	.output = "[[1,2,3],[4,0,0]]\n[[5,6]]\n",
};
