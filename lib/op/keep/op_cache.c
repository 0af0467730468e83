/* SPDX-License-Identifier: MIT
 * cache: keeps the elements of the first pass, and gives them in the later ones
 * without asking its input again.
 *
 *	memory   a pass of up to max=, for the repeats of this run
 *	folder   a file for each stream, for later runs too; where a stream is given
 *	         its input piece by piece (dynamic sharding), what it held is another
 *	         thing the next time: then the file has no name and goes with the run
 */
#include <stdio.h>
#include <string.h>

#include "base/rng.h"
#include "op/fragment.h"
#include "op/kit/expr_value.h"
#include "op/keep/spool.h"
#include "op/pull.h"

struct cache_op {
	char *dir;
	int64_t max;
	struct spool spool;
	bool started;     /* the spool is open */
	bool off;         /* the pass is not kept: a restore skipped its beginning */
	bool read;        /* a pass that is not kept has ended */
	bool reread;      /* restored while replaying: the spool has to be filled again */
	uint64_t back;    /* place to go on at after that */
	uint32_t filled;  /* epoch of the input when the spool was filled */
};

static const struct param cache_params[] = {
	{ "dir", PARAM_WORD, offsetof(struct cache_op, dir), .flags = PARAM_OPTIONAL | PARAM_PATH,
	  .help = "folder to keep the elements in; memory by default" },
	{ "max", PARAM_SIZE, offsetof(struct cache_op, max), "1G", .flags = PARAM_KEY_ONLY,
	  .min = 1, .max = INT64_MAX, .help = "bytes of memory that a pass may take" },
	{ 0 }
};

static int64_t
cache_cardinality(const struct op_node *n, const int64_t *in)
{
	(void)n;
	return in[0];
}

/* A number derived from the text of everything before n, the same in every process. */
static uint64_t
cache_mark(const struct op_node *n, uint64_t mark)
{
	for (; n; n = n->n_in ? n->in[0] : NULL) {
		for (const char *c = op_text(n); *c; c++)
			mark = rng_mix(mark, (uint64_t)(unsigned char)*c);
		for (size_t k = 1; k < n->n_in; k++)
			mark = cache_mark(n->in[k], mark);
	}
	return mark;
}

static enum status
cache_start(struct op_inst *self, struct err *e)
{
	struct cache_op *c = self->state;
	char name[80];

	c->started = true;
	c->filled = self->in[0]->epoch;
	if (!c->dir)
		return ST_OK;
	snprintf(name, sizeof name, "cache-%016llx-%u.msgpack",
		 (unsigned long long)cache_mark(self->node->in[0], 1), self->ctx->stream);
	return spool_open(&c->spool, c->dir, self->ctx->next_split ? NULL : name, e);
}

static enum status
cache_too_large(struct op_inst *self, struct err *e)
{
	struct cache_op *c = self->state;

	err_set(e, ST_DATA, "a pass takes more than max=%lld bytes of memory", (long long)c->max);
	err_help(e, "make max= larger, or name a folder: cache DIR");
	return op_blame(self->node, e);
}

/* Reads the next run of the input, and keeps it. */
static enum status
cache_read(struct op_inst *self, struct run **run, struct err *e)
{
	struct cache_op *c = self->state;
	enum status st = op_pull(self->in[0], run, e), kept = ST_OK;

	if (c->off) {
		c->read = st == ST_END;
		return st;
	}
	if (st == ST_OK)
		kept = spool_add(&c->spool, *run, e);
	else if (st == ST_END)
		kept = spool_end(&c->spool, e);
	if (kept != ST_OK)
		return op_blame(self->node, e);
	if (!c->dir && c->spool.bytes > (uint64_t)c->max)
		return cache_too_large(self, e);
	return st;
}

/* Rewinds the input to the beginning of the pass that is kept. */
static enum status
cache_again(struct op_inst *self, struct err *e)
{
	struct cache_op *c = self->state;

	fragment_set_epoch(self->in[0], c->filled - 1); /* op_rewind adds the one */
	return op_rewind(self->in[0], e);
}

/* After a restore: fills the spool again, and goes to the saved place. */
static enum status
cache_reread(struct op_inst *self, struct err *e)
{
	struct cache_op *c = self->state;
	uint32_t filled = c->filled;
	struct run *none;
	enum status st = ST_OK;

	if (!c->started)
		st = cache_start(self, e);
	c->filled = filled;
	if (st == ST_OK && !c->spool.whole) {
		st = cache_again(self, e);
		while (st == ST_OK)
			st = cache_read(self, &none, e);
		st = st == ST_END ? ST_OK : st;
	}
	if (st != ST_OK)
		return st;
	c->reread = false;
	return spool_seek(&c->spool, c->back, e);
}

static enum status
cache_next(struct op_inst *self, struct run *out, struct err *e)
{
	struct cache_op *c = self->state;
	enum status st = ST_OK;

	if (c->reread)
		st = cache_reread(self, e);
	else if (!c->started && !c->off)
		st = cache_start(self, e);
	if (st != ST_OK)
		return st;
	if (c->spool.whole)
		return spool_next(&c->spool, out, e);
	st = cache_read(self, &self->give, e);
	if (st != ST_OK)
		self->give = NULL;
	return st;
}

static enum status
cache_rewind(struct op_inst *self, struct err *e)
{
	struct cache_op *c = self->state;

	if (c->reread) { /* nothing was given since the restore */
		c->back = 0;
		return ST_OK;
	}
	if (c->spool.whole)
		return spool_seek(&c->spool, 0, e);
	spool_clear(&c->spool);
	c->started = false;
	if (c->off && c->read) {
		c->off = c->read = false;
		return cache_again(self, e);
	}
	c->off = false;
	return op_rewind(self->in[0], e);
}

static void
cache_close(struct op_inst *self)
{
	struct cache_op *c = self->state;

	spool_clear(&c->spool);
}

static void
cache_save(struct op_inst *self, struct buf *out)
{
	struct cache_op *c = self->state;
	bool again = c->spool.whole || c->reread;

	state_put_u64(out, again);
	state_put_u64(out, again ? (c->reread ? c->back : spool_tell(&c->spool)) : 0);
	state_put_u64(out, c->started || c->off || c->reread);
	state_put_u64(out, c->filled);
	state_put_u64(out, c->read);
}

static enum status
cache_restore(struct op_inst *self, const uint8_t *p, size_t n, struct err *e)
{
	struct cache_op *c = self->state;
	struct state_in in = state_begin(p, n);

	spool_clear(&c->spool);
	c->started = false;
	c->reread = state_get_u64(&in, 1);
	c->back = state_get_u64(&in, UINT64_MAX);
	bool begun = state_get_u64(&in, 1);
	c->filled = (uint32_t)state_get_u64(&in, UINT32_MAX);
	c->read = state_get_u64(&in, 1);
	/* Without the elements before this place the pass cannot be kept. */
	c->off = begun && !c->reread;
	return state_finish(self, &in, e);
}

static bool
cache_partwise(const struct op_node *n, const char **remedy)
{
	(void)n, (void)remedy;
	return true;
}

const struct op_desc op_cache = {
	.name = "cache",
	.brief = "keeps the elements of the first pass for later passes",
	.doc = "The elements of the first pass are kept as they go by, in memory or in a folder; a "
	       "pass that ends early keeps nothing. A folder also serves later runs of the same "
	       "pipeline, so remove it when the input has changed. Random operators before it do "
	       "not draw again; to get another order in each pass, put shuffle after it. Under "
	       "dynamic sharding a folder serves only the repeats within one run.",
	.kind = OP_TRANSFORM,
	.scope = OP_STREAM,
	.flags = OP_PASSES | OP_WRITES, /* uses all of each element: a later run may use other fields */
	.params = cache_params,
	.state_size = sizeof(struct cache_op),
	.partwise = cache_partwise,
	.cardinality = cache_cardinality,
	.next = cache_next,
	.rewind = cache_rewind,
	.close = cache_close,
	.save = cache_save,
	.restore = cache_restore,
	.example = "range 3 | cache | repeat 2",
	.output = "0\n1\n2\n0\n1\n2\n",
};
