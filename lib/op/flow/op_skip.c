/* SPDX-License-Identifier: MIT
 * skip: drops the first N elements and lets the rest through.
 */
#include "op/op.h"
#include "op/state.h"

struct skip {
	int64_t n;
	int64_t left;
};

static const struct param skip_params[] = {
	{ "n", PARAM_INT, offsetof(struct skip, n), .max = INT64_MAX,
	  .help = "how many elements to drop" },
	{ 0 }
};

static int64_t
skip_cardinality(const struct op_node *n, const int64_t *in)
{
	const struct skip *s = n->params;

	if (in[0] == -1 || in[0] == INT64_MAX)
		return in[0];
	return in[0] > s->n ? in[0] - s->n : 0;
}

static void
skip_pick(const struct op_node *n, uint64_t in, uint64_t *index, uint32_t k)
{
	const struct skip *s = n->params;

	(void)in;
	for (uint32_t j = 0; j < k; j++)
		index[j] += (uint64_t)s->n;
}

static enum status
skip_open(struct op_inst *self, struct err *e)
{
	struct skip *s = self->state;

	(void)e;
	s->left = s->n;
	return ST_OK;
}

static enum status
skip_feed(struct op_inst *self, const struct run *in, struct run *out, struct err *e)
{
	struct skip *s = self->state;

	(void)e;
	if (s->left == 0) {
		self->give = self->in[0]->lent;
	} else if (s->left >= in->n) {
		s->left -= in->n;
	} else {
		for (uint32_t i = (uint32_t)s->left; i < in->n; i++)
			run_push(out, in->e[i]);
		s->left = 0;
	}
	return ST_OK;
}

static const struct state_row skip_state[] = {
	{ &state_number, offsetof(struct skip, left), offsetof(struct skip, n) },
	{ 0 }
};

const struct op_desc op_skip = {
	.name = "skip",
	.brief = "drops the first N elements",
	.kind = OP_TRANSFORM,
	.scope = OP_GLOBAL,
	.flags = OP_PASSES | OP_BY_EXPR | OP_EVENLY,
	.params = skip_params,
	.state_size = sizeof(struct skip),
	.cardinality = skip_cardinality,
	.pick = skip_pick,
	.open = skip_open,
	.feed = skip_feed,
	.state_rows = skip_state,
	.example = "range 5 | skip 3",
	.output = "3\n4\n",
};
