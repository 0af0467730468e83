/* SPDX-License-Identifier: MIT
 * ragged_batch: puts every N elements together as they are, however long the
 * lists in them.
 */
#include "op/batch/batch_every.h"
#include "op/batch/coo.h"

enum ragged_as { RAGGED_LIST, RAGGED_COO };

struct ragged_batch {
	struct batch_every every;
	int as;
};

static const struct param ragged_batch_params[] = {
	BATCH_EVERY_N(struct ragged_batch),
	BATCH_EVERY_DROP(struct ragged_batch),
	{ "as", PARAM_CHOICE, offsetof(struct ragged_batch, as), "list", .flags = PARAM_KEY_ONLY,
	  .choices = "list|coo",
	  .help = "list: lists of lists; coo: a sparse table {indices, values, shape}" },
	{ 0 }
};

static enum status
ragged_batch_typing(struct op_node *n, struct op_typing *t, const struct type **type,
		    struct err *e)
{
	const struct ragged_batch *b = n->params;
	const struct type *x = n->in[0]->type;

	if (b->as == RAGGED_COO && x->kind != TYPE_ANY && x->kind != TYPE_LIST) {
		err_set(e, ST_DATA, "as=coo takes lists");
		err_help(e, "map gives the list of a record: map .name");
		return ST_DATA;
	}
	*type = b->as == RAGGED_COO ? coo_typing(t, x) : batch_collect_typing(t, x, false);
	return ST_OK;
}

static enum status
ragged_batch_give(struct op_inst *self, struct run *out, struct err *e)
{
	struct ragged_batch *b = self->state;

	if (b->as == RAGGED_LIST)
		return batch_collect_give(self, &b->every.stack, &b->every.columns, NULL, out, e);
	enum status st = coo_build(b->every.stack.part.e, b->every.stack.part.n,
				   self->ctx->element_max ? self->ctx->element_max : UINT32_MAX - 16,
				   out, e);
	batch_collect_reset(&b->every.stack);
	return st == ST_OK ? st : op_source_fault(self, NULL, 0, e);
}

static enum status
ragged_batch_open(struct op_inst *self, struct err *e)
{
	struct ragged_batch *b = self->state;

	(void)e;
	b->every.give = ragged_batch_give;
	return ST_OK;
}

const struct op_desc op_ragged_batch = {
	.name = "ragged_batch",
	.brief = "groups every N elements into one and leaves lists at their lengths",
	.doc = "Elements become a list, and records a record of lists, but never a tensor, so "
	       "lists keep their different lengths. With as=coo the lists of a batch become a "
	       "sparse table: indices has the row and column of each value that is not null, "
	       "values the values, and shape the number of rows and columns.",
	.kind = OP_TRANSFORM,
	.scope = OP_STREAM,
	.params = ragged_batch_params,
	.state_size = sizeof(struct ragged_batch),
	.typing = ragged_batch_typing,
	.cardinality = batch_every_cardinality,
	.groups = batch_every_groups,
	.open = ragged_batch_open,
	.feed = batch_every_feed,
	.finish = batch_every_finish,
	.close = batch_every_close,
	.save = batch_every_save,
	.restore = batch_every_restore,
	.example = "elements [[1, 2, 3], [4], []] | ragged_batch 2",
	.output = "[[1,2,3],[4]]\n[[]]\n",
};
