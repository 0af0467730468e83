/* SPDX-License-Identifier: MIT
 * sample_rate: lets each element through with the same probability.
 */
#include "base/rng.h"
#include "op/op.h"
#include "op/state.h"

struct sample_rate {
	double p;
	int64_t seed;
	uint64_t key, seen;
};

static const struct param sample_rate_params[] = {
	{ "p", PARAM_FLOAT, offsetof(struct sample_rate, p),
	  .help = "the probability to keep an element, from 0 to 1" },
	{ "seed", PARAM_INT, offsetof(struct sample_rate, seed), "auto",
	  .flags = PARAM_KEY_ONLY | PARAM_ALLOW_AUTO,
	  .help = "equal seeds keep the same elements; auto takes the seed of the iteration" },
	{ 0 }
};

static enum status
sample_rate_check(const struct op_node *n, struct err *e)
{
	const struct sample_rate *s = n->params;

	if (s->p >= 0 && s->p <= 1)
		return ST_OK;
	err_set(e, ST_DATA, "%g is not a probability", s->p);
	err_help(e, "a number from 0 to 1: 0.01 keeps one in a hundred");
	return ST_DATA;
}

static int64_t
sample_rate_cardinality(const struct op_node *n, const int64_t *in)
{
	const struct sample_rate *s = n->params;

	return s->p >= 1 || in[0] == 0 || (in[0] == INT64_MAX && s->p > 0) ? in[0] : -1;
}

static enum status
sample_rate_open(struct op_inst *self, struct err *e)
{
	struct sample_rate *s = self->state;

	(void)e;
	s->key = op_rng_key(self, s->seed, true);
	return ST_OK;
}

static enum status
sample_rate_feed(struct op_inst *self, const struct run *in, struct run *out, struct err *e)
{
	struct sample_rate *s = self->state;

	(void)e;
	for (uint32_t i = 0; i < in->n; i++)
		if (rng_unit_at(s->key, s->seen++) < s->p)
			run_push(out, in->e[i]);
	return ST_OK;
}

static const struct state_row sample_rate_state[] = {
	{ &state_number, offsetof(struct sample_rate, key), 0 },
	{ &state_number, offsetof(struct sample_rate, seen), 0 },
	{ 0 }
};

const struct op_desc op_sample_rate = {
	.name = "sample_rate",
	.brief = "keeps a random part of the elements",
	.doc = "Each element is kept with probability P, independently of the others. The choice "
	       "depends only on the seed, the stream and the pass.",
	.kind = OP_TRANSFORM,
	.scope = OP_ELEMENT,
	.flags = OP_RANDOM | OP_RESHUFFLES | OP_PASSES | OP_BY_EXPR | OP_EACH,
	.params = sample_rate_params,
	.state_size = sizeof(struct sample_rate),
	.check = sample_rate_check,
	.cardinality = sample_rate_cardinality,
	.open = sample_rate_open,
	.feed = sample_rate_feed,
	.state_rows = sample_rate_state,
	.example = "range 10000 | sample_rate 0.5 seed=1 | count | map x > 4800 and x < 5200",
	.output = "true\n",
};
