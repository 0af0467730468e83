/* SPDX-License-Identifier: MIT
 * sample: takes each element from one of several pipelines, drawn by weight.
 */
#include "base/mem.h"
#include "base/rng.h"
#include "op/op.h"
#include "op/pull.h"
#include "op/state.h"
#include "value/mp.h"

enum sample_stop { SAMPLE_ALL, SAMPLE_FIRST };
#define SAMPLE_NONE UINT64_MAX

struct sample {
	struct op_pipes pipes;
	struct buf weights;
	int64_t seed;
	int stop;
	struct rng rng;
	double *weight;  /* weight of each input; 0: it has ended */
	double sum;
	uint64_t pick;   /* the input drawn but not given yet; SAMPLE_NONE: none */
};

static const struct param sample_params[] = {
	{ "pipelines", PARAM_PIPES, offsetof(struct sample, pipes), .flags = PARAM_REST,
	  .help = "the pipelines to draw from" },
	{ "weights", PARAM_VALUE, offsetof(struct sample, weights),
	  .flags = PARAM_KEY_ONLY | PARAM_OPTIONAL,
	  .help = "weights of the pipelines, such as [3, 1]; all equal by default" },
	{ "seed", PARAM_INT, offsetof(struct sample, seed), "auto",
	  .flags = PARAM_KEY_ONLY | PARAM_ALLOW_AUTO,
	  .help = "equal seeds draw the same; auto takes the seed of the iteration" },
	{ "stop", PARAM_CHOICE, offsetof(struct sample, stop), "all", .flags = PARAM_KEY_ONLY,
	  .choices = "all|first",
	  .help = "all: end when all pipelines have ended; first: end when one is drawn that "
		  "has ended" },
	{ 0 }
};

/* Reads n weights into v. */
static enum status
sample_weights(const struct buf *value, size_t n, double *v, struct err *e)
{
	const uint8_t *p = value->data, *end = buf_end(value);
	double sum = 0;
	struct mp m;

	for (size_t k = 0; k < n; k++)
		v[k] = 1;
	if (!value->len)
		return ST_OK;
	mp_head(p, end, &m);
	if (m.kind != MP_LIST || m.n != n) {
		err_set(e, ST_DATA, "weights is not a list of %zu numbers, one for each pipeline", n);
		err_help(e, "weights=[3, 1] draws the first of two three times as often");
		return ST_DATA;
	}
	p = m.p;
	for (size_t k = 0; k < n; k++) {
		p = mp_head(p, end, &m);
		v[k] = m.kind == MP_FLOAT ? m.f : m.kind == MP_INT ? (double)m.i : -1;
		if (!(v[k] >= 0 && v[k] <= 1e300))
			return err_set(e, ST_DATA, "weight %zu is not a number from 0 on", k + 1);
		sum += v[k];
	}
	return sum > 0 ? ST_OK : err_set(e, ST_DATA, "all weights are 0");
}

static enum status
sample_typing(struct op_node *n, struct op_typing *t, const struct type **type, struct err *e)
{
	const struct sample *s = n->params;
	double *v = mem_array(n->n_in + 1, sizeof *v);
	enum status st = sample_weights(&s->weights, n->n_in, v, e);

	mem_free(v);
	*type = n->n_in ? n->in[0]->type : type_scalar(TYPE_ANY);
	for (size_t k = 1; k < n->n_in; k++)
		*type = type_join(t->arena, *type, n->in[k]->type);
	return st;
}

static enum status
sample_check(const struct op_node *n, struct err *e)
{
	if (n->n_in)
		return ST_OK;
	err_set(e, ST_DATA, "sample needs pipelines to draw from");
	err_help(e, "sample (lines a.txt) (lines b.txt) weights=[3, 1]");
	return ST_DATA;
}

static int64_t
sample_cardinality(const struct op_node *n, const int64_t *in)
{
	const struct sample *s = n->params;
	double *weights = mem_array(n->n_in + 1, sizeof *weights);
	/* number of inputs without end; how many of them have a weight */
	size_t endless = 0, drawn = 0;
	int64_t sum = 0;

	for (size_t k = 0; k < n->n_in; k++)
		weights[k] = 1;
	sample_weights(&s->weights, n->n_in, weights, &(struct err){ 0 });
	for (size_t k = 0; k < n->n_in; k++) {
		endless += in[k] == INT64_MAX;
		drawn += in[k] == INT64_MAX && weights[k] > 0;
	}
	mem_free(weights);
	if (n->n_in && (endless == n->n_in || (s->stop == SAMPLE_ALL && drawn)))
		return INT64_MAX;
	if (s->stop == SAMPLE_FIRST || s->weights.len)
		return -1;
	for (size_t k = 0; k < n->n_in; k++) {
		if (in[k] == -1 || in[k] == INT64_MAX || __builtin_add_overflow(sum, in[k], &sum))
			return -1;
	}
	return sum;
}

static enum status
sample_open(struct op_inst *self, struct err *e)
{
	struct sample *s = self->state;
	enum status st;

	s->weight = mem_array(self->n_in + 1, sizeof *s->weight);
	st = sample_weights(&s->weights, self->n_in, s->weight, e);
	for (size_t k = 0; k < self->n_in; k++)
		s->sum += s->weight[k];
	s->rng = (struct rng){ op_rng_key(self, s->seed, true), 0 };
	s->pick = SAMPLE_NONE;
	return st;
}

static void
sample_draw(struct op_inst *self)
{
	struct sample *s = self->state;
	double at = rng_unit(&s->rng) * s->sum;
	uint64_t last = 0;

	for (size_t k = 0; k < self->n_in; k++) {
		if (!(s->weight[k] > 0))
			continue;
		last = k;
		if (at < s->weight[k])
			break;
		at -= s->weight[k];
	}
	s->pick = last; /* rounding must not lead to an input of weight 0 */
}

/* Notes that an input has ended, so that it is not drawn again. False: all have ended. */
static bool
sample_ended(struct op_inst *self, uint64_t k)
{
	struct sample *s = self->state;

	s->weight[k] = 0;
	s->sum = 0;
	for (size_t j = 0; j < self->n_in; j++)
		s->sum += s->weight[j];
	s->pick = SAMPLE_NONE;
	return s->stop == SAMPLE_ALL && s->sum > 0;
}

static enum status
sample_next(struct op_inst *self, struct run *out, struct err *e)
{
	struct sample *s = self->state;
	struct elem x;

	while (out->n < RUN_USUAL && !run_full(out)) {
		if (!(s->sum > 0))
			return ST_END;
		if (s->pick == SAMPLE_NONE)
			sample_draw(self);
		struct op_inst *in = self->in[s->pick];

		if (out->n && !op_ready(in))
			return ST_OK;
		enum status st = op_next(in, &x, e);
		if (st == ST_END) {
			if (!sample_ended(self, s->pick)) {
				s->sum = 0;
				return ST_END;
			}
			continue;
		}
		if (st != ST_OK)
			return st == ST_AGAIN && out->n ? ST_OK : st;
		x.pos = 0;
		run_keep(out, x);
		s->pick = SAMPLE_NONE;
	}
	return ST_OK;
}

static void
sample_close(struct op_inst *self)
{
	struct sample *s = self->state;

	mem_free(s->weight);
}

static void
sample_save(struct op_inst *self, struct buf *out)
{
	struct sample *s = self->state;

	state_put_u64(out, s->rng.key);
	state_put_u64(out, s->rng.index);
	state_put_u64(out, s->pick);
	state_put_u64(out, s->sum > 0);
	for (size_t k = 0; k < self->n_in; k++)
		state_put_u64(out, s->weight[k] > 0);
}

static enum status
sample_restore(struct op_inst *self, const uint8_t *p, size_t n, struct err *e)
{
	struct sample *s = self->state;
	struct state_in in = state_begin(p, n);

	s->rng.key = state_get_u64(&in, UINT64_MAX);
	s->rng.index = state_get_u64(&in, UINT64_MAX);
	s->pick = state_get_u64(&in, UINT64_MAX);
	bool any = state_get_u64(&in, 1);
	s->sum = 0;
	for (size_t k = 0; k < self->n_in; k++) {
		if (!state_get_u64(&in, 1))
			s->weight[k] = 0;
		s->sum += any ? s->weight[k] : 0;
	}
	if (s->pick != SAMPLE_NONE && s->pick >= self->n_in)
		in.bad = true;
	return state_finish(self, &in, e);
}

const struct op_desc op_sample = {
	.name = "sample",
	.aliases = "sample_from_datasets",
	.brief = "takes each element from one of several pipelines, drawn by weight",
	.doc = "A pipeline that has ended is not drawn any more; with stop=first the output ends "
	       "when such a pipeline is drawn. The draws depend only on the seed, the stream and "
	       "the pass.",
	.kind = OP_COMBINE,
	.scope = OP_GLOBAL,
	.flags = OP_RANDOM | OP_RESHUFFLES,
	.params = sample_params,
	.state_size = sizeof(struct sample),
	.typing = sample_typing,
	.check = sample_check,
	.cardinality = sample_cardinality,
	.open = sample_open,
	.next = sample_next,
	.close = sample_close,
	.save = sample_save,
	.restore = sample_restore,
	.example = "sample (elements [1, 2]) (elements [8]) weights=[1, 0]",
	.output = "1\n2\n",
};
