/* SPDX-License-Identifier: MIT
 * random: integers drawn evenly; the i-th is a function of seed and i alone, so
 * that splits of it, and a second pass, give the same numbers.
 */
#include "op/kit/ints.h"

#include "base/rng.h"
#include "value/mp.h"

struct random {
	int64_t n, seed, min, max;
	struct ints_walk walk;
	uint64_t key;
};

static const struct param random_params[] = {
	{ "n", PARAM_INT, offsetof(struct random, n), "inf", .flags = PARAM_ALLOW_INF,
	  .min = 0, .max = INT64_MAX, .help = "how many numbers; without N they never end" },
	{ "seed", PARAM_INT, offsetof(struct random, seed), "auto",
	  .flags = PARAM_ALLOW_AUTO | PARAM_KEY_ONLY,
	  .help = "equal seeds give equal numbers; `auto` takes the seed of the run" },
	{ "min", PARAM_INT, offsetof(struct random, min), "0", .flags = PARAM_KEY_ONLY,
	  .help = "the smallest number" },
	{ "max", PARAM_INT, offsetof(struct random, max), "4294967296", .flags = PARAM_KEY_ONLY,
	  .help = "one more than the largest number" },
	{ 0 }
};

static enum status
random_typing(struct op_node *n, struct op_typing *t, const struct type **type, struct err *e)
{
	(void)n, (void)t, (void)e;
	*type = type_scalar(TYPE_INT);
	return ST_OK;
}

static enum status
random_limits(const struct random *r, struct err *e)
{
	if (r->min < r->max)
		return ST_OK;
	return err_set(e, ST_DATA, "random finds no number between min=%lld and max=%lld",
		       (long long)r->min, (long long)r->max);
}

static enum status
random_check(const struct op_node *n, struct err *e)
{
	return random_limits(n->params, e);
}

static enum status
random_list(const struct op_node *n, struct split_list *out, struct err *e)
{
	const struct random *r = n->params;

	(void)e;
	ints_list(out, (uint64_t)r->n);
	return ST_OK;
}

static int64_t
random_cardinality(const struct op_node *n, const int64_t *in)
{
	const struct random *r = n->params;

	(void)in;
	return r->n;
}

static enum status
random_open(struct op_inst *self, struct err *e)
{
	struct random *r = self->state;
	uint64_t seed = r->seed == PARAM_AUTO ? self->ctx->seed : (uint64_t)r->seed;

	if (random_limits(r, e) != ST_OK)
		return ST_DATA;
	/* op_rng_key would not do: it differs from stream to stream, and which stream reads
	 * which split is left to chance. */
	r->key = rng_mix(seed, self->node->place);
	return ints_walk_open(self, &r->walk, r->n == INT64_MAX ? UINT64_MAX : (uint64_t)r->n, e);
}

static inline void
random_draw(const struct random *r, uint64_t index, struct run *out)
{
	__extension__ typedef unsigned __int128 wide;
	uint64_t span = (uint64_t)r->max - (uint64_t)r->min;
	uint64_t draw = (uint64_t)((wide)rng_at(r->key, index) * span >> 64);

	run_done(out, mp_put_int(run_room(out, MP_INT_MAX), (int64_t)((uint64_t)r->min + draw)),
		 (uint32_t)index);
}

static enum status
random_next(struct op_inst *self, struct run *out, struct err *e)
{
	struct random *r = self->state;
	uint32_t n = ints_walk_some(&r->walk);

	(void)e;
	if (n == 0)
		return ST_END;
	for (uint32_t i = 0; i < n; i++)
		random_draw(r, r->walk.at++, out);
	return ST_OK;
}

static enum status
random_at(struct op_inst *self, const uint64_t *index, uint32_t *k, struct run *out, struct err *e)
{
	(void)e;
	for (uint32_t i = 0; i < *k; i++)
		random_draw(self->state, index[i], out);
	return ST_OK;
}

static const struct state_row random_state[] = {
	{ &ints_walk_state, offsetof(struct random, walk), 0 },
	{ 0 }
};

static bool
random_partwise(const struct op_node *n, const char **remedy)
{
	(void)n, (void)remedy;
	return true;
}

const struct op_desc op_random = {
	.name = "random",
	.brief = "random integers",
	.doc = "N integers (without N, any number of them), evenly distributed from min up to, but "
	       "not including, max. Without a seed each run draws other numbers, as each pass of a job does; "
	       "within them a repeat gives the same numbers, however they are divided among workers.",
	.kind = OP_SOURCE,
	.flags = OP_RANDOM,
	.params = random_params,
	.state_size = sizeof(struct random),
	.partwise = random_partwise,
	.typing = random_typing,
	.check = random_check,
	.list = random_list,
	.cardinality = random_cardinality,
	.open = random_open,
	.next = random_next,
	.at = random_at,
	.state_rows = random_state,
	.example = "random 3 seed=1 max=100",
	.output = "35\n61\n44\n",
};
