/* SPDX-License-Identifier: MIT
 * repeat: gives its input again and again. A short input is read once and kept;
 * a longer one, or one that differs from pass to pass, is started over.
 */
#include "op/chain.h"
#include "op/state.h"
#include "op/pull.h"

struct repeat {
	int64_t n;
	uint64_t pass;  /* number of complete passes */
	uint64_t given; /* elements of this pass given so far */
	bool reread;    /* restored while replaying: the cache has to be filled again */
	struct cache cache;
};

static const struct param repeat_params[] = {
	{ "n", PARAM_INT, offsetof(struct repeat, n), "inf", .flags = PARAM_ALLOW_INF,
	  .max = INT64_MAX, .help = "number of passes in all; inf: for ever" },
	{ 0 }
};

static int64_t
repeat_times(const struct op_node *n)
{
	const struct repeat *r = n->params;

	return r->n;
}

static int64_t
repeat_cardinality(const struct op_node *n, const int64_t *in)
{
	const struct repeat *r = n->params;
	int64_t all;

	if (in[0] == 0 || r->n == 0)
		return 0;
	if (in[0] == -1)
		return r->n == INT64_MAX ? r->n : -1; /* endless, unless the input gives nothing */
	return __builtin_mul_overflow(in[0], r->n, &all) ? INT64_MAX : all;
}

static void
repeat_pick(const struct op_node *n, uint64_t in, uint64_t *index, uint32_t k)
{
	(void)n;
	for (uint32_t j = 0; j < k; j++)
		index[j] %= in;
}

static enum status
repeat_open(struct op_inst *self, struct err *e)
{
	struct repeat *r = self->state;

	(void)e;
	r->cache.off = r->n < 2 || facts_reshuffles(self->node->in[0]);
	return ST_OK;
}

/* Ends a pass. A pass without elements is the last, for repeating it endlessly would never
 * end; a pass whose elements all went to other readers of the job does not count as empty. */
static enum status
repeat_pass_end(struct op_inst *self, struct err *e)
{
	struct repeat *r = self->state;
	bool empty = r->given == 0 && !op_elsewhere(self->in[0]);

	r->pass++;
	r->given = 0;
	if (empty || r->pass >= (uint64_t)r->n) {
		r->pass = (uint64_t)r->n;
		return ST_END;
	}
	if (r->cache.off)
		return op_rewind(self->in[0], e);
	cache_end(&r->cache);
	return ST_OK;
}

static enum status
repeat_read(struct op_inst *self, struct err *e)
{
	struct repeat *r = self->state;
	enum status st = op_pull(self->in[0], &self->give, e);

	if (st == ST_OK) {
		r->given += self->give->n;
		cache_add(&r->cache, self->give);
	}
	return st;
}

/* After a restore: reads the pass into the cache again; the framework drops the elements that
 * had been given. */
static enum status
repeat_reread(struct op_inst *self, struct err *e)
{
	struct repeat *r = self->state;
	uint64_t given = r->given;
	enum status st = op_rewind(self->in[0], e);

	cache_clear(&r->cache);
	r->given = 0;
	while (st == ST_OK)
		st = repeat_read(self, e);
	self->give = NULL;
	r->given = given;
	if (st != ST_END)
		return st;
	r->reread = false;
	op_discard(self, given);
	if (!r->cache.off && r->cache.n) {
		cache_end(&r->cache);
		return ST_OK;
	}
	r->given = 0;
	return op_rewind(self->in[0], e);
}

static void
repeat_replay(struct op_inst *self)
{
	struct repeat *r = self->state;
	uint64_t passes = r->n == INT64_MAX ? UINT64_MAX : (uint64_t)r->n - r->pass, ended;

	self->give = cache_replay(&r->cache, passes, &ended);
	r->given += self->give->n;
	if (ended)
		r->given = 0;
	r->pass += r->n == INT64_MAX ? 0 : ended;
}

static enum status
repeat_next(struct op_inst *self, struct run *out, struct err *e)
{
	struct repeat *r = self->state;
	enum status st = ST_OK;

	(void)out;
	while (st == ST_OK && r->pass < (uint64_t)r->n) {
		if (r->reread && (st = repeat_reread(self, e)) != ST_OK)
			return st;
		if (r->cache.whole) {
			repeat_replay(self);
			return ST_OK;
		}
		st = repeat_read(self, e);
		if (st != ST_END)
			return st;
		st = repeat_pass_end(self, e);
	}
	return st == ST_OK ? ST_END : st;
}

static void
repeat_close(struct op_inst *self)
{
	struct repeat *r = self->state;

	cache_clear(&r->cache);
}

static void
repeat_save(struct op_inst *self, struct buf *out)
{
	struct repeat *r = self->state;

	state_put_u64(out, r->pass);
	state_put_u64(out, r->given);
	state_put_u64(out, r->cache.whole || r->reread);
}

static enum status
repeat_restore(struct op_inst *self, const uint8_t *p, size_t n, struct err *e)
{
	struct repeat *r = self->state;
	struct state_in in = state_begin(p, n);

	r->pass = state_get_u64(&in, (uint64_t)r->n);
	r->given = state_get_u64(&in, UINT64_MAX);
	r->reread = state_get_u64(&in, 1);
	/* Without the elements before this place the pass cannot be cached. */
	r->cache.off = r->cache.off || (!r->reread && (r->given || r->pass));
	return state_finish(self, &in, e);
}

const struct op_desc op_repeat = {
	.name = "repeat",
	.brief = "repeats all elements, N times in all",
	.doc = "Without a number it repeats for ever. If a pass takes at most 4 MiB, it is kept in memory and "
	       "not read again, unless an operator before it draws random numbers. Repeating an empty input "
	       "ends at once; if a job divides the input among streams, it ends when the parts of all streams "
	       "are empty. After `distribute` or `dataset` each repetition is the job's next pass; a pass that "
	       "other readers have finished gives no elements, but counts.",
	.kind = OP_TRANSFORM,
	.scope = OP_STREAM,
	.flags = OP_PASSES | OP_BY_EXPR,
	.params = repeat_params,
	.state_size = sizeof(struct repeat),
	.times = repeat_times,
	.cardinality = repeat_cardinality,
	.pick = repeat_pick,
	.open = repeat_open,
	.next = repeat_next,
	.close = repeat_close,
	.save = repeat_save,
	.restore = repeat_restore,
	.example = "elements [\"a\", \"b\"] | repeat 2",
	.output = "a\nb\na\nb\n",
};
