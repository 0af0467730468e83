/* SPDX-License-Identifier: MIT
 * concat: the elements of one pipeline, then those of the next, and so on.
 */
#include "op/op.h"
#include "op/pull.h"
#include "op/state.h"

struct concat {
	struct op_pipes pipes;
	uint64_t at; /* index of the input being read */
};

static const struct param concat_params[] = {
	{ "pipelines", PARAM_PIPES, offsetof(struct concat, pipes), .flags = PARAM_REST,
	  .help = "the pipelines, in this order" },
	{ 0 }
};

static enum status
concat_typing(struct op_node *n, struct op_typing *t, const struct type **type, struct err *e)
{
	(void)e;
	*type = n->n_in ? n->in[0]->type : type_scalar(TYPE_ANY);
	for (size_t k = 1; k < n->n_in; k++)
		*type = type_join(t->arena, *type, n->in[k]->type);
	return ST_OK;
}

static enum status
concat_check(const struct op_node *n, struct err *e)
{
	const struct concat *c = n->params;

	if (!c->pipes.names)
		return ST_OK;
	err_set(e, ST_DATA, "the pipelines of concat have no names");
	err_help(e, "write concat (lines a) (lines b); names make records of zip");
	return ST_DATA;
}

static int64_t
concat_cardinality(const struct op_node *n, const int64_t *in)
{
	int64_t sum = 0;

	for (size_t k = 0; k < n->n_in; k++) {
		if (in[k] == INT64_MAX)
			return INT64_MAX;
		if (in[k] == -1 || sum == -1)
			sum = -1;
		else if (__builtin_add_overflow(sum, in[k], &sum))
			return INT64_MAX;
	}
	return sum;
}

static enum status
concat_next(struct op_inst *self, struct run *out, struct err *e)
{
	struct concat *c = self->state;
	enum status st = ST_END;

	(void)out;
	for (; c->at < self->n_in; c->at++) {
		st = op_pull(self->in[c->at], &self->give, e);
		if (st != ST_END)
			return st;
	}
	return ST_END;
}

static void
concat_save(struct op_inst *self, struct buf *out)
{
	struct concat *c = self->state;

	state_put_u64(out, c->at);
}

static enum status
concat_restore(struct op_inst *self, const uint8_t *p, size_t n, struct err *e)
{
	struct concat *c = self->state;
	struct state_in in = state_begin(p, n);

	c->at = state_get_u64(&in, self->n_in);
	return state_finish(self, &in, e);
}

const struct op_desc op_concat = {
	.name = "concat",
	.aliases = "cat",
	.brief = "joins several pipelines one after the other",
	.kind = OP_COMBINE,
	.flags = OP_JOINS_SPLITS,
	.scope = OP_ELEMENT,
	.params = concat_params,
	.state_size = sizeof(struct concat),
	.typing = concat_typing,
	.check = concat_check,
	.cardinality = concat_cardinality,
	.next = concat_next,
	.save = concat_save,
	.restore = concat_restore,
	.example = "concat (range 2) (elements [7, 8])",
	.output = "0\n1\n7\n8\n",
};
