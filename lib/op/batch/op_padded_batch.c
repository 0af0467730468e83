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
	  .help = "value to pad with; by default 0, 0.0, \"\" or false, depending on the kind" },
	{ "shape", PARAM_VALUE, offsetof(struct padded_batch, shape),
	  .flags = PARAM_KEY_ONLY | PARAM_OPTIONAL,
	  .help = "lengths to pad to, such as [20] or [null, 3]; null: the longest in the batch" },
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
	.brief = "groups every N elements into one and pads lists to the same length",
	.doc = "Works like batch, but pads the lists in the elements: at every depth to the "
	       "longest in the batch, or to the lengths given with shape=. In records each field "
	       "is padded on its own, and shape= applies to all of them. A list that is longer "
	       "than shape= allows is an error. Tensors of one dtype and rank become one tensor.",
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
