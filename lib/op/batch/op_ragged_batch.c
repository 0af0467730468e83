/* SPDX-License-Identifier: MIT
 * ragged_batch: puts every N elements together as they are, however long the
 * lists in them.
 */
#include "op/batch/coo.h"
#include "op/batch/batch_collect.h"

enum ragged_as { RAGGED_LIST, RAGGED_COO };

struct ragged_batch {
	int64_t n;
	bool drop;
	int as;
	struct batch_collect stack;
	struct batch_columns columns;
};

static const struct param ragged_batch_params[] = {
	{ "n", PARAM_INT, offsetof(struct ragged_batch, n), .min = 1, .max = INT32_MAX,
	  .help = "elements in a batch" },
	{ "drop_remainder", PARAM_BOOL, offsetof(struct ragged_batch, drop), "false",
	  .flags = PARAM_KEY_ONLY, .help = "drop the last batch when it is not full" },
	{ "as", PARAM_CHOICE, offsetof(struct ragged_batch, as), "list", .flags = PARAM_KEY_ONLY,
	  .choices = "list|coo",
	  .help = "list: lists of lists; coo: a sparse table, {indices, values, shape}" },
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

static uint64_t
ragged_batch_groups(const struct op_node *n)
{
	const struct ragged_batch *b = n->params;

	return (uint64_t)b->n;
}

static int64_t
ragged_batch_cardinality(const struct op_node *n, const int64_t *in)
{
	const struct ragged_batch *b = n->params;

	if (in[0] == -1 || in[0] == INT64_MAX)
		return in[0];
	return in[0] / b->n + (!b->drop && in[0] % b->n);
}

static enum status
ragged_batch_give(struct op_inst *self, struct run *out, struct err *e)
{
	struct ragged_batch *b = self->state;

	if (b->as == RAGGED_LIST)
		return batch_collect_give(self, &b->stack, &b->columns, NULL, out, e);
	enum status st = coo_build(b->stack.part.e, b->stack.part.n,
				   self->ctx->element_max ? self->ctx->element_max : UINT32_MAX - 16,
				   out, e);
	batch_collect_reset(&b->stack);
	return st == ST_OK ? st : op_source_fault(self, NULL, 0, e);
}

static enum status
ragged_batch_feed(struct op_inst *self, const struct run *in, struct run *out, struct err *e)
{
	struct ragged_batch *b = self->state;
	enum status st = ST_OK;

	for (; st == ST_OK && self->at < in->n; self->at++) {
		if (run_full(out))
			return ST_AGAIN;
		st = batch_collect_add(self, &b->stack, in->e[self->at], e);
		if (st == ST_OK && b->stack.part.n == b->n)
			st = ragged_batch_give(self, out, e);
	}
	return st;
}

static enum status
ragged_batch_finish(struct op_inst *self, struct run *out, struct err *e)
{
	struct ragged_batch *b = self->state;
	enum status st = ST_OK;

	if (b->stack.part.n && !b->drop)
		st = ragged_batch_give(self, out, e);
	batch_collect_reset(&b->stack);
	return st == ST_OK ? ST_END : st;
}

static void
ragged_batch_close(struct op_inst *self)
{
	struct ragged_batch *b = self->state;

	batch_collect_clear(&b->stack);
	batch_columns_clear(&b->columns);
}

static void
ragged_batch_save(struct op_inst *self, struct buf *out)
{
	struct ragged_batch *b = self->state;

	batch_collect_save(&b->stack, out);
}

static enum status
ragged_batch_restore(struct op_inst *self, const uint8_t *p, size_t n, struct err *e)
{
	struct ragged_batch *b = self->state;
	struct state_in in = state_begin(p, n);

	batch_collect_restore(&b->stack, &in);
	if (b->stack.part.n >= b->n)
		in.bad = true;
	return state_finish(self, &in, e);
}

const struct op_desc op_ragged_batch = {
	.name = "ragged_batch",
	.brief = "every N elements together, lists of any length",
	.doc = "Elements are put into a list, or records into a record of lists, and never into "
	       "a tensor: what is of different length stays so. With as=coo the lists of a batch "
	       "become a sparse table: the row and column of each value that is not null, the "
	       "values, and how many rows and columns there are.",
	.kind = OP_TRANSFORM,
	.scope = OP_STREAM,
	.params = ragged_batch_params,
	.state_size = sizeof(struct ragged_batch),
	.typing = ragged_batch_typing,
	.cardinality = ragged_batch_cardinality,
	.groups = ragged_batch_groups,
	.feed = ragged_batch_feed,
	.finish = ragged_batch_finish,
	.close = ragged_batch_close,
	.save = ragged_batch_save,
	.restore = ragged_batch_restore,
	.example = "elements [[1, 2, 3], [4], []] | ragged_batch 2",
	.output = "[[1,2,3],[4]]\n[[]]\n",
};
