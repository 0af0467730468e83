/* SPDX-License-Identifier: MIT
 * count: counts the elements and gives their number at the end.
 */
#include "op/op.h"
#include "op/state.h"
#include "value/mp.h"

struct count {
	uint64_t n;
};

static enum status
count_typing(struct op_node *n, struct op_typing *t, const struct type **type, struct err *e)
{
	(void)n, (void)t, (void)e;
	*type = type_scalar(TYPE_INT);
	return ST_OK;
}

static int64_t
count_cardinality(const struct op_node *n, const int64_t *in)
{
	(void)n;
	return in[0] == INT64_MAX ? in[0] : 1;
}

static enum status
count_feed(struct op_inst *self, const struct run *in, struct run *out, struct err *e)
{
	struct count *s = self->state;

	(void)out, (void)e;
	s->n += in->n;
	return ST_OK;
}

static enum status
count_finish(struct op_inst *self, struct run *out, struct err *e)
{
	struct count *s = self->state;

	(void)e;
	run_done(out, mp_put_uint(run_room(out, MP_INT_MAX), s->n), 0);
	return ST_END;
}

static const struct state_row count_state[] = {
	{ &state_number, offsetof(struct count, n), 0 },
	{ 0 }
};

const struct op_desc op_count = {
	.name = "count",
	.brief = "counts the elements",
	.doc = "Gives one integer, after the last element.",
	.kind = OP_TRANSFORM,
	.scope = OP_GLOBAL,
	.flags = OP_WHOLE | OP_BY_EXPR,
	.state_size = sizeof(struct count),
	.typing = count_typing,
	.cardinality = count_cardinality,
	.feed = count_feed,
	.finish = count_finish,
	.state_rows = count_state,
	.example = "range 1000 | filter x % 7 == 0 | count",
	.output = "143\n",
};
