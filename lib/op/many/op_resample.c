/* SPDX-License-Identifier: MIT
 * resample: drops elements at random, so that classes come in wanted proportions.
 *
 * An element of class c stays with probability target[c] / initial[c], divided by
 * the greatest of these; initial is given, or counted as elements come.
 */
#include "base/mem.h"
#include "base/rng.h"
#include "op/kit/expr_value.h"
#include "value/mp.h"

enum { RESAMPLE_CLASSES = 100000 };

struct resample {
	struct op_expr class_of;
	struct buf target, initial;
	int64_t seed;
	struct expr_value key;
	double *want, *have; /* proportions by class: wanted, and in the input (NULL: counted) */
	uint64_t *counts;
	uint32_t n;
	uint64_t seen;       /* number of elements so far: each has its own draw */
	uint64_t rng;
	double most;         /* the greatest want / have; 0: to be computed */
};

static const struct param resample_params[] = {
	{ "class", PARAM_EXPR, offsetof(struct resample, class_of),
	  .help = "the class of an element, an integer from 0" },
	{ "target", PARAM_VALUE, offsetof(struct resample, target), .flags = PARAM_KEY_ONLY,
	  .help = "the desired proportions, such as [0.5, 0.5]" },
	{ "initial", PARAM_VALUE, offsetof(struct resample, initial),
	  .flags = PARAM_KEY_ONLY | PARAM_OPTIONAL,
	  .help = "the proportions of the input; by default they are counted as elements come" },
	{ "seed", PARAM_INT, offsetof(struct resample, seed), "auto",
	  .flags = PARAM_KEY_ONLY | PARAM_ALLOW_AUTO,
	  .help = "equal seeds drop the same elements; auto takes the seed of the iteration" },
	{ 0 }
};

/* Reads proportions from a list of numbers; gives. */
static enum status
resample_parts(const struct buf *value, const char *name, double **out, uint32_t *n, struct err *e)
{
	const uint8_t *p = value->data, *end = buf_end(value);
	double sum = 0;
	struct mp m;

	mp_head(p, end, &m);
	*n = m.kind == MP_LIST ? m.n : 0;
	if (*n == 0 || *n > RESAMPLE_CLASSES) {
		err_set(e, ST_DATA, "%s= is not a list of proportions", name);
		err_help(e, "%s=[0.5, 0.5] for two classes", name);
		return ST_DATA;
	}
	p = m.p;
	*out = mem_array(*n, sizeof **out);
	for (uint32_t k = 0; k < *n; k++) {
		p = mp_head(p, end, &m);
		double v = m.kind == MP_FLOAT ? m.f : m.kind == MP_INT ? (double)m.i : -1;

		if (!(v >= 0 && v <= 1e300))
			return err_set(e, ST_DATA, "%s= contains something that is not a number from 0 on", name);
		(*out)[k] = v;
		sum += v;
	}
	for (uint32_t k = 0; k < *n; k++)
		(*out)[k] /= sum;
	return sum > 0 ? ST_OK : err_set(e, ST_DATA, "all of %s= are 0", name);
}

static enum status
resample_read(const struct resample *s, double **want, double **have, uint32_t *n, struct err *e)
{
	uint32_t n_have = 0;
	enum status st = resample_parts(&s->target, "target", want, n, e);

	if (st != ST_OK || !s->initial.len)
		return st;
	st = resample_parts(&s->initial, "initial", have, &n_have, e);
	if (st == ST_OK && n_have != *n)
		st = err_set(e, ST_DATA, "target= has %u classes and initial= %u", *n, n_have);
	for (uint32_t k = 0; st == ST_OK && k < *n; k++)
		if ((*want)[k] > 0 && (*have)[k] == 0)
			st = err_set(e, ST_DATA, "class %u is wanted, but initial= says there is none", k);
	return st;
}

static enum status
resample_typing(struct op_node *n, struct op_typing *t, const struct type **type, struct err *e)
{
	struct resample *s = n->params;
	double *want = NULL, *have = NULL;
	uint32_t count;
	enum status st = expr_value_typing_number(n, t, &s->class_of, false, e);

	if (st == ST_OK)
		st = resample_read(s, &want, &have, &count, e);
	mem_free(want);
	mem_free(have);
	*type = n->in[0]->type;
	return st;
}

static enum status
resample_open(struct op_inst *self, struct err *e)
{
	struct resample *s = self->state;
	enum status st = resample_read(s, &s->want, &s->have, &s->n, e);

	expr_value_open(self, &s->key, &s->class_of);
	s->counts = mem_array((size_t)s->n + 1, sizeof *s->counts);
	s->rng = op_rng_key(self, s->seed, true);
	return st;
}

/* The proportion wanted of the class over the one that the input has. */
static double
resample_ratio(const struct resample *s, uint32_t k)
{
	if (s->want[k] == 0)
		return 0;
	/* The input's proportions are counted, each class beginning with one. */
	double have = s->have ? s->have[k]
			      : (double)(s->counts[k] + 1) / (double)(s->seen + s->n);

	return s->want[k] / have;
}

static bool
resample_stays(struct resample *s, uint32_t k)
{
	double draw = rng_unit_at(s->rng, s->seen);

	s->counts[k]++;
	s->seen++;
	if (!s->have || s->most == 0) {
		s->most = 0;
		for (uint32_t i = 0; i < s->n; i++) {
			double r = resample_ratio(s, i);

			s->most = r > s->most ? r : s->most;
		}
	}
	return draw * s->most < resample_ratio(s, k);
}

static enum status
resample_feed(struct op_inst *self, const struct run *in, struct run *out, struct err *e)
{
	struct resample *s = self->state;
	uint64_t k;

	for (uint32_t i = 0; i < in->n; i++) {
		enum status st =
			expr_value_index(self, &s->key, in, i, out, "class", s->n - 1, &k, e);

		if (st == ST_SKIP)
			continue;
		if (st != ST_OK)
			return st;
		if (resample_stays(s, (uint32_t)k))
			run_push(out, in->e[i]);
	}
	return ST_OK;
}

static void
resample_close(struct op_inst *self)
{
	struct resample *s = self->state;

	mem_free(s->want);
	mem_free(s->have);
	mem_free(s->counts);
	expr_value_close(&s->key);
}

static void
resample_save(struct op_inst *self, struct buf *out)
{
	struct resample *s = self->state;

	expr_value_save(&s->key, out);
	state_put_u64(out, s->rng);
	state_put_u64(out, s->seen);
	for (uint32_t k = 0; k < s->n; k++)
		state_put_u64(out, s->counts[k]);
}

static enum status
resample_restore(struct op_inst *self, const uint8_t *p, size_t n, struct err *e)
{
	struct resample *s = self->state;
	struct state_in in = state_begin(p, n);

	expr_value_restore(&s->key, &in);
	s->rng = state_get_u64(&in, UINT64_MAX);
	s->seen = state_get_u64(&in, UINT64_MAX);
	for (uint32_t k = 0; k < s->n; k++)
		s->counts[k] = state_get_u64(&in, UINT64_MAX);
	return state_finish(self, &in, e);
}

const struct op_desc op_resample = {
	.name = "resample",
	.aliases = "rejection_resample",
	.brief = "drops elements at random until classes have the desired proportions",
	.doc = "Drops as few elements as the proportions allow. Without initial= the proportions "
	       "of the input are counted along the way, so the first elements may be off. The "
	       "choice depends only on the seed, the stream and the pass.",
	.kind = OP_TRANSFORM,
	.scope = OP_STREAM,
	.flags = OP_RANDOM | OP_RESHUFFLES | OP_PASSES | OP_BY_EXPR,
	.params = resample_params,
	.state_size = sizeof(struct resample),
	.typing = resample_typing,
	.open = resample_open,
	.feed = resample_feed,
	.close = resample_close,
	.save = resample_save,
	.restore = resample_restore,
	.example = "elements [0, 1, 1, 0] | resample x target=[0, 1] initial=[1, 1]",
	.output = "1\n1\n",
};
