/* SPDX-License-Identifier: MIT
 * cardinality: passes everything on, and fails unless there are exactly N elements.
 */
#include "base/str.h"
#include "op/kit/expr_value.h"

struct cardinality {
	int64_t n;
	uint64_t seen;
};

static const struct param cardinality_params[] = {
	{ "n", PARAM_INT, offsetof(struct cardinality, n), .min = 0, .max = INT64_MAX - 1,
	  .help = "the number of elements that there must be" },
	{ 0 }
};

static int64_t
cardinality_cardinality(const struct op_node *n, const int64_t *in)
{
	const struct cardinality *c = n->params;

	(void)in;
	return c->n;
}

static enum status
cardinality_feed(struct op_inst *self, const struct run *in, struct run *out, struct err *e)
{
	struct cardinality *c = self->state;

	(void)out;
	if (in->n > (uint64_t)c->n - c->seen) {
		err_set(e, ST_DATA, "there are more than the %lld element%s there should be",
			(long long)c->n, str_s((uint64_t)c->n));
		return op_blame(self->node, e);
	}
	c->seen += in->n;
	self->give = self->in[0]->lent;
	return ST_OK;
}

static enum status
cardinality_finish(struct op_inst *self, struct run *out, struct err *e)
{
	struct cardinality *c = self->state;

	(void)out;
	if (c->seen == (uint64_t)c->n)
		return ST_END;
	err_set(e, ST_DATA, "there %s %llu element%s and not %lld", c->seen == 1 ? "is" : "are",
		(unsigned long long)c->seen, str_s(c->seen), (long long)c->n);
	return op_blame(self->node, e);
}

static const struct state_row cardinality_state[] = {
	{ &state_number, offsetof(struct cardinality, seen), offsetof(struct cardinality, n) },
	{ 0 }
};

const struct op_desc op_cardinality = {
	.name = "cardinality",
	.aliases = "assert_cardinality",
	.brief = "fails unless there are exactly N elements",
	.doc = "The elements are passed on as they come; one element too many, or too few at the "
	       "end, is an error. The operators after it know how many elements to expect.",
	.kind = OP_TRANSFORM,
	.scope = OP_GLOBAL,
	.flags = OP_PASSES | OP_BY_EXPR,
	.params = cardinality_params,
	.state_size = sizeof(struct cardinality),
	.cardinality = cardinality_cardinality,
	.feed = cardinality_feed,
	.finish = cardinality_finish,
	.state_rows = cardinality_state,
	.example = "range 3 | cardinality 3",
	.output = "0\n1\n2\n",
};
