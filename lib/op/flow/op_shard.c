/* SPDX-License-Identifier: MIT
 * shard: every N-th element, beginning with the one numbered I.
 */
#include "op/op.h"
#include "op/state.h"

struct shard {
	int64_t n, index;
	uint64_t next; /* how many elements come before the next of this shard */
};

static const struct param shard_params[] = {
	{ "n", PARAM_INT, offsetof(struct shard, n), .min = 1, .max = INT64_MAX, .flags = PARAM_ALLOW_AUTO,
	  .help = "number of shards; auto: that of the job" },
	{ "index", PARAM_INT, offsetof(struct shard, index), .max = INT64_MAX, .flags = PARAM_ALLOW_AUTO,
	  .help = "which shard to keep, from 0; auto: the one that the stream produces" },
	{ 0 }
};

static bool
shard_by_share(const struct op_node *n)
{
	return ((const struct shard *)n->params)->n == PARAM_AUTO;
}

static enum status
shard_check(const struct op_node *n, struct err *e)
{
	const struct shard *s = n->params;

	if ((s->n == PARAM_AUTO) != (s->index == PARAM_AUTO)) {
		err_set(e, ST_DATA, "`shard` has one `auto`, and a share is a number and how many there are");
		err_help(e, "write `shard auto auto`, for --sharding hint, or two numbers");
		return ST_DATA;
	}
	if (s->index < s->n || s->n == PARAM_AUTO)
		return ST_OK;
	err_set(e, ST_DATA, "shard %lld of %lld does not exist", (long long)s->index,
		(long long)s->n);
	err_help(e, "shards are numbered from 0 to %lld", (long long)s->n - 1);
	return ST_DATA;
}

static int64_t
shard_cardinality(const struct op_node *n, const int64_t *in)
{
	const struct shard *s = n->params;

	if (in[0] == -1 || in[0] == INT64_MAX)
		return in[0];
	if (s->n == PARAM_AUTO)
		return -1;
	return in[0] / s->n + (in[0] % s->n > s->index);
}

static void
shard_pick(const struct op_node *n, uint64_t in, uint64_t *index, uint32_t k)
{
	const struct shard *s = n->params;

	(void)in;
	for (uint32_t j = 0; j < k; j++)
		index[j] = index[j] * (uint64_t)s->n + (uint64_t)s->index;
}

static enum status
shard_open(struct op_inst *self, struct err *e)
{
	struct shard *s = self->state;

	if (s->n == PARAM_AUTO) {
		if (!self->ctx->shares) {
			err_set(e, ST_DATA, "`shard auto auto` needs a job with --sharding hint");
			err_help(e, "write the numbers: `shard 1 0` gives everything");
			return ST_DATA;
		}
		s->n = self->ctx->shares;
		s->index = self->ctx->share;
	}
	s->next = (uint64_t)s->index;
	return ST_OK;
}

static enum status
shard_feed(struct op_inst *self, const struct run *in, struct run *out, struct err *e)
{
	struct shard *s = self->state;
	uint64_t i, step = (uint64_t)s->n;

	(void)e;
	if (self->order) { /* its elements are all that is read */
		self->give = self->in[0]->lent;
		return ST_OK;
	}
	for (i = s->next; i < in->n; i += step)
		run_push(out, in->e[i]);
	s->next = i - in->n;
	return ST_OK;
}

static const struct state_row shard_state[] = {
	{ &state_number, offsetof(struct shard, next), offsetof(struct shard, n) },
	{ 0 }
};

const struct op_desc op_shard = {
	.name = "shard",
	.brief = "keeps every N-th element, beginning with element number I",
	.doc = "Each element is in exactly one of the shards 0 to N - 1. In a job with --sharding hint, `shard "
	       "auto auto` keeps in each shard of the job the elements of that shard; elsewhere it is an error.",
	.kind = OP_TRANSFORM,
	.scope = OP_GLOBAL,
	.flags = OP_PASSES | OP_BY_EXPR | OP_EVENLY,
	.params = shard_params,
	.state_size = sizeof(struct shard),
	.check = shard_check,
	.by_share = shard_by_share,
	.cardinality = shard_cardinality,
	.pick = shard_pick,
	.open = shard_open,
	.feed = shard_feed,
	.state_rows = shard_state,
	.example = "range 10 | shard 4 1",
	.output = "1\n5\n9\n",
};
