/* SPDX-License-Identifier: MIT
 * count: counts the elements and gives their number at the end.
 */
#include "op/kit/expr_run.h"
#include "op/state.h"
#include "op/whole/partial.h"
#include "value/mp.h"

struct count {
	int partial; /* enum op_partial */
	uint64_t n;
};

static const struct param count_params[] = {
	PARTIAL_ROW(struct count),
	{ 0 }
};

static enum op_scope
count_scope(const struct op_node *n)
{
	return partial_scope(((const struct count *)n->params)->partial);
}

static bool
count_partwise(const struct op_node *n, const char **remedy)
{
	(void)remedy;
	return ((const struct count *)n->params)->partial == PARTIAL_MAKE;
}

static bool
count_combines(const struct op_node *n, const char **why)
{
	(void)n, (void)why;
	return true;
}

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
	if (in[0] != INT64_MAX && count_partwise(n, NULL))
		return -1;
	return in[0] == INT64_MAX ? in[0] : 1;
}

/* Adds up the numbers that partial=make gave. */
static enum status
count_join(struct op_inst *self, const struct run *in, struct run *out, struct err *e)
{
	struct count *s = self->state;
	enum status st = ST_OK;
	struct mp m;

	for (uint32_t i = 0; i < in->n && (st == ST_OK || st == ST_SKIP); i++) {
		mp_head(in->e[i].p, in->e[i].p + in->e[i].len, &m);
		if (m.kind == MP_INT && (m.i >= 0 || m.unsigned_big))
			s->n += m.u;
		else
			st = expr_run_wrong(self, in, i, out, e, "this is not a number that `count partial=make` gave");
	}
	out->n = 0;
	return st == ST_SKIP ? ST_OK : st;
}

static enum status
count_feed(struct op_inst *self, const struct run *in, struct run *out, struct err *e)
{
	struct count *s = self->state;

	if (s->partial == PARTIAL_JOIN)
		return count_join(self, in, out, e);
	s->n += in->n;
	return ST_OK;
}

static enum status
count_finish(struct op_inst *self, struct run *out, struct err *e)
{
	struct count *s = self->state;

	(void)e;
	if (s->n || s->partial != PARTIAL_MAKE)
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
	.doc = "Gives one integer, after the last element. Directly after `distribute`, the workers count and "
	       "the reader adds up.",
	.kind = OP_TRANSFORM,
	.scope = OP_GLOBAL,
	.scope_of = count_scope,
	.partwise = count_partwise,
	.combines = count_combines,
	.flags = OP_WHOLE | OP_BY_EXPR | OP_COUNTS,
	.params = count_params,
	.state_size = sizeof(struct count),
	.typing = count_typing,
	.cardinality = count_cardinality,
	.feed = count_feed,
	.finish = count_finish,
	.state_rows = count_state,
	.example = "range 1000 | filter x % 7 == 0 | count",
	.output = "143\n",
};
