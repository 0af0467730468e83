/* SPDX-License-Identifier: MIT
 * padded_batch: puts every N elements together, lists padded to the length of
 * the longest.
 */
#include "op/batch/batch_every.h"

struct padded_batch {
	struct batch_every every;
	struct buf pad, shape;
	struct padding padding;
};

static const struct param padded_batch_params[] = {
	BATCH_EVERY_N(struct padded_batch),
	{ "pad", PARAM_VALUE, offsetof(struct padded_batch, pad),
	  .flags = PARAM_KEY_ONLY | PARAM_OPTIONAL,
	  .help = "what stands in the gaps; without it 0, 0.0, \"\" or false, by kind" },
	{ "shape", PARAM_VALUE, offsetof(struct padded_batch, shape),
	  .flags = PARAM_KEY_ONLY | PARAM_OPTIONAL,
	  .help = "the lengths to pad to, as [20] or [null, 3]; null: that of the longest" },
	BATCH_EVERY_DROP(struct padded_batch),
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

static enum status
padded_batch_give(struct op_inst *self, struct run *out, struct err *e)
{
	struct padded_batch *b = self->state;

	return batch_collect_give(self, &b->every.stack, &b->every.columns, &b->padding, out, e);
}

static enum status
padded_batch_open(struct op_inst *self, struct err *e)
{
	struct padded_batch *b = self->state;

	b->every.give = padded_batch_give;
	b->padding.value = &b->pad;
	b->padding.type = self->node->in[0]->type;
	return padding_shape(&b->shape, &b->padding, e);
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
	.cardinality = batch_every_cardinality,
	.groups = batch_every_groups,
	.open = padded_batch_open,
	.feed = batch_every_feed,
	.finish = batch_every_finish,
	.close = batch_every_close,
	.save = batch_every_save,
	.restore = batch_every_restore,
	.example = "elements [[1, 2, 3], [4], [5, 6]] | padded_batch 2",
	.output = "[[1,2,3],[4,0,0]]\n[[5,6]]\n",
};
