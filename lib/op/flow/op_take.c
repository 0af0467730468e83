/* SPDX-License-Identifier: MIT
 * take: lets the first N elements through and then ends.
 */
#include "op/op.h"
#include "op/state.h"

struct take {
	int64_t n;
	int64_t left;
};

static const struct param take_params[] = {
	{ "n", PARAM_INT, offsetof(struct take, n), .flags = PARAM_ALLOW_INF, .max = INT64_MAX,
	  .help = "how many elements to keep" },
	{ 0 }
};

static int64_t
take_cardinality(const struct op_node *n, const int64_t *in)
{
	const struct take *t = n->params;

	return in[0] == -1 ? (t->n ? -1 : 0) : in[0] < t->n ? in[0] : t->n;
}

static void
take_pick(const struct op_node *n, uint64_t in, uint64_t *index, uint32_t k)
{
	(void)n, (void)in, (void)index, (void)k; /* the indices stay: the first n are the first n */
}

static enum status
take_open(struct op_inst *self, struct err *e)
{
	struct take *t = self->state;

	(void)e;
	t->left = t->n;
	self->done = t->n == 0;
	return ST_OK;
}

static enum status
take_feed(struct op_inst *self, const struct run *in, struct run *out, struct err *e)
{
	struct take *t = self->state;

	(void)e;
	if (in->n <= t->left) {
		self->give = self->in[0]->lent;
		t->left -= in->n;
	} else {
		for (uint32_t i = 0; i < t->left; i++)
			run_push(out, in->e[i]);
		t->left = 0;
	}
	self->done = t->left == 0;
	return ST_OK;
}

static const struct state_row take_state[] = {
	{ &state_number, offsetof(struct take, left), offsetof(struct take, n) },
	{ 0 }
};

const struct op_desc op_take = {
	.name = "take",
	.aliases = "head",
	.brief = "keeps the first N elements",
	.doc = "Ends after N elements and reads no more than they need.",
	.kind = OP_TRANSFORM,
	.scope = OP_GLOBAL,
	.flags = OP_CUTS | OP_PASSES | OP_BY_EXPR | OP_EVENLY,
	.params = take_params,
	.state_size = sizeof(struct take),
	.cardinality = take_cardinality,
	.pick = take_pick,
	.open = take_open,
	.feed = take_feed,
	.state_rows = take_state,
	.example = "counter 10 | take 3",
	.output = "10\n11\n12\n",
};
