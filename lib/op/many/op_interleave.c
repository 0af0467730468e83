/* SPDX-License-Identifier: MIT
 * interleave: opens an inner pipeline for each element, CYCLE of them at a time,
 * and takes BLOCK elements of each in turn.
 *
 *	slots   [a]  [b]  [c]     an outer element and its chain each
 *	order   aa   bb   cc   aa   b  cc  dd      block=2; b ends, and at its
 *	                                           next turn d takes its place
 *
 * Elements are given where they lie in the inner chains' runs. So a slot gets another
 * run, or another chain, only while nothing of it is in out: what is in out is
 * given first, which is also what keeps elements from being held back.
 */
#include "base/mem.h"
#include "op/op.h"
#include "op/facts.h"
#include "op/state.h"
#include "op/many/inner_chains.h"

/* A run may have elements of many files. Each slot's elements have their pos from the slot's
 * own multiple of INTERLEAVE_POS on. */
enum { INTERLEAVE_CYCLE = 2047, INTERLEAVE_POS = 1 << 20, INTERLEAVE_WHOLE = 64 };
#define INTERLEAVE_NOWHERE UINT32_MAX /* pos of an element whose place is not known */

struct interleave {
	struct op_node *pipe;
	int64_t cycle, block, parallel;
	bool ordered;
	struct inner_chain **slots;  /* the slots; NULL: wants an outer element */
	uint64_t *filled;       /* for each slot: the call in which it got its run */
	uint64_t call;
	struct inner_chains chains;
	struct run_part *parts; /* one for each slot, and one for elements without a place */
	/* at: the slot whose turn it is; used: elements it has given in this turn */
	int64_t at, used;
	int64_t open;
	bool input_ended;
};

static const struct param interleave_params[] = {
	{ "pipeline", PARAM_PIPE, offsetof(struct interleave, pipe),
	  .help = "the pipeline to open for each element; in its parameters x is the element" },
	{ "cycle", PARAM_INT, offsetof(struct interleave, cycle), "4", .flags = PARAM_KEY_ONLY,
	  .min = 1, .max = INTERLEAVE_CYCLE, .help = "how many pipelines are open at a time" },
	{ "block", PARAM_INT, offsetof(struct interleave, block), "1", .flags = PARAM_KEY_ONLY,
	  .min = 1, .max = INT32_MAX,
	  .help = "how many elements to take from a pipeline before the next one" },
	{ "parallel", PARAM_INT, offsetof(struct interleave, parallel), "1",
	  .flags = PARAM_KEY_ONLY | PARAM_ALLOW_AUTO, .min = 1, .max = INNER_CHAINS_MOST,
	  .help = "number of threads of the pool that read ahead; auto: the threads it can spare" },
	{ "ordered", PARAM_BOOL, offsetof(struct interleave, ordered), "true",
	  .flags = PARAM_KEY_ONLY,
	  .help = "false: with parallel=, take elements in the order in which they become ready" },
	{ 0 }
};

static enum status
interleave_typing(struct op_node *n, struct op_typing *t, const struct type **type, struct err *e)
{
	const struct interleave *s = n->params;

	(void)t, (void)e;
	*type = s->pipe->type;
	return ST_OK;
}

static int64_t
interleave_cardinality(const struct op_node *n, const int64_t *in)
{
	const struct interleave *s = n->params;

	if (in[0] == 0)
		return 0;
	return op_elements_of(s->pipe) == INT64_MAX ? INT64_MAX : -1;
}

static enum status
interleave_open(struct op_inst *self, struct err *e)
{
	struct interleave *s = self->state;

	(void)e;
	s->slots = mem_array((size_t)s->cycle, sizeof(*s->slots));
	s->filled = mem_array((size_t)s->cycle, sizeof *s->filled);
	s->parts = mem_array((size_t)s->cycle + 1, sizeof *s->parts);
	for (int64_t k = 0; k <= s->cycle; k++)
		s->parts[k].pos = k == s->cycle ? INTERLEAVE_NOWHERE : (uint32_t)k * INTERLEAVE_POS;
	s->ordered = s->ordered || s->parallel == 1 || self->ctx->repeatable;
	inner_chains_open(&s->chains, self, s->pipe, s->slots, (uint32_t)s->cycle, s->parallel,
			  s->ordered);
	return ST_OK;
}

static void
interleave_turn(struct interleave *s)
{
	s->used = 0;
	s->at = s->at + 1 == s->cycle ? 0 : s->at + 1;
}

static void
interleave_shut(struct op_inst *self)
{
	struct interleave *s = self->state;

	inner_chains_drop(&s->chains, (uint32_t)s->at);
	op_fault_fresh(self);
	s->open--;
	interleave_turn(s);
}

/* Applies on_error to an outer element whose pipeline fails or cannot be opened; under skip
 * and keep, the rest of its pipeline is left out. */
static enum status
interleave_fault(struct op_inst *self, struct run *out, struct err *e)
{
	struct interleave *s = self->state;
	struct inner_chain *x = s->slots[s->at];
	struct run one = { .e = &x->outer.e, .n = 1, .cap = 1 };
	enum op_policy policy = self->node->on_error;

	/* The chain has reported the error already; it is reported again only if on_error
	 * drops it here. */
	if (x->chain && policy != OP_SKIP && policy != OP_KEEP)
		return e->kind;
	uint32_t before = out->n;
	enum status st = op_fault(self, &one, 0, out, e);
	if (st == ST_AGAIN) {
		inner_chains_retry(&s->chains, x);
		return ST_OK;
	}
	/* under keep: copied, since the inner chain's memory is used again */
	if (out->n > before) {
		struct elem kept = out->e[--out->n];

		kept.pos = INTERLEAVE_NOWHERE;
		kept.block = NULL;
		run_keep(out, kept);
	}
	if (st == ST_OK)
		interleave_shut(self);
	return st;
}

/* Gets the next outer element for an empty slot. */
static enum status
interleave_refill(struct op_inst *self, const struct run *out, struct err *e)
{
	struct interleave *s = self->state;
	struct inner_chain *x;

	if (s->input_ended) {
		interleave_turn(s);
		return s->open ? ST_OK : ST_END;
	}
	enum status st = inner_chains_outer(&s->chains, !out->n, &x, e);
	if (st == ST_END) {
		s->input_ended = true;
		return s->open ? ST_OK : ST_END;
	}
	if (st != ST_OK)
		return st;
	inner_chains_put(&s->chains, (uint32_t)s->at, x);
	op_fault_fresh(self);
	s->filled[s->at] = 0;
	s->open++;
	return ST_OK;
}

/* Gives what the slot has, until its turn is over. A slot gets at most one run per run given
 * here, so its elements share one file and line. */
static void
interleave_give(struct op_inst *self, struct run *out)
{
	struct interleave *s = self->state;
	struct inner_chain *x = s->slots[s->at];
	uint32_t from, base = (uint32_t)s->at * INTERLEAVE_POS;
	const struct run *r = inner_chain_run(x, &from);
	uint32_t n = r->n - from;

	if (s->ordered && n > s->block - s->used)
		n = (uint32_t)(s->block - s->used);
	if (!out->n && n == r->n && n >= INTERLEAVE_WHOLE) {
		self->give = x->direct ? x->chain->lent : &x->own.run;
	} else {
		bool known = !r->parts && (r->file || r->line);

		s->parts[s->at] = (struct run_part){ base, r->file, r->line };
		for (uint32_t i = 0; i < n; i++) {
			struct elem el = r->e[from + i];

			el.pos = known && el.pos < INTERLEAVE_POS ? base + el.pos : INTERLEAVE_NOWHERE;
			run_push(out, el);
		}
		out->parts = s->parts;
		out->n_parts = (uint32_t)s->cycle + 1;
	}
	inner_chain_take(x, n);
	s->used += n;
	if (s->used >= s->block)
		interleave_turn(s);
}

/* Whether the slot may get another run now: no element of its last run may be in out, and out
 * must not wait for a slow chain. */
static bool
interleave_may_fill(struct interleave *s, const struct run *out)
{
	uint32_t from;
	const struct run *r = inner_chain_run(s->slots[s->at], &from);

	if (from < r->n || !out->n)
		return true;
	return s->filled[s->at] != s->call && inner_chains_more(&s->chains, (uint32_t)s->at);
}

/* Gives the next elements of the slot s->at, or closes it at its end. */
static enum status
interleave_slot(struct op_inst *self, struct run *out, struct err *e)
{
	struct interleave *s = self->state;
	enum status st = inner_chains_fill(&s->chains, (uint32_t)s->at, e);

	s->filled[s->at] = s->call;
	if (st == ST_OK)
		interleave_give(self, out);
	else if (st == ST_END)
		interleave_shut(self);
	else if (st != ST_AGAIN)
		return interleave_fault(self, out, e);
	return st == ST_END ? ST_OK : st;
}

/* Gives runs of whichever slot is ready. */
static enum status
interleave_any(struct op_inst *self, struct run *out, struct err *e)
{
	struct interleave *s = self->state;
	enum status st = ST_OK;
	uint32_t slot;

	while (st == ST_OK && !self->give && !out->n) {
		st = inner_chains_any(&s->chains, &slot, e);
		if (st != ST_OK)
			return st;
		s->at = slot;
		st = interleave_slot(self, out, e);
	}
	return st;
}

static enum status
interleave_next(struct op_inst *self, struct run *out, struct err *e)
{
	struct interleave *s = self->state;
	enum status st = ST_OK;

	s->call++;
	inner_chains_resume(&s->chains);
	if (!s->ordered)
		return interleave_any(self, out, e);
	while (st == ST_OK && !self->give && out->n < RUN_USUAL && !run_full(out)) {
		if (!s->slots[s->at])
			st = interleave_refill(self, out, e);
		else if (!interleave_may_fill(s, out))
			return ST_OK;
		else
			st = interleave_slot(self, out, e);
	}
	return st == ST_AGAIN && out->n ? ST_OK : st;
}

static void
interleave_close(struct op_inst *self)
{
	struct interleave *s = self->state;

	inner_chains_close(&s->chains);
	mem_free(s->slots);
	mem_free(s->filled);
	mem_free(s->parts);
}

static void
interleave_save(struct op_inst *self, struct buf *out)
{
	struct interleave *s = self->state;

	state_put_u64(out, (uint64_t)s->at);
	state_put_u64(out, (uint64_t)s->used);
	if (!inner_chains_save(&s->chains, out))
		self->unsaved = true;
}

static enum status
interleave_restore(struct op_inst *self, const uint8_t *p, size_t n, struct err *e)
{
	struct interleave *s = self->state;
	struct state_in in = state_begin(p, n);

	s->at = (int64_t)state_get_u64(&in, (uint64_t)s->cycle - 1);
	s->used = (int64_t)state_get_u64(&in, (uint64_t)s->block - 1);
	enum status st = inner_chains_restore(&s->chains, &in, e);
	for (int64_t k = 0; k < s->cycle; k++)
		s->open += s->slots[k] != NULL;
	return st == ST_OK ? state_finish(self, &in, e) : st;
}

static bool
interleave_partwise(const struct op_node *n, const char **remedy)
{
	const struct interleave *s = n->params;

	*remedy = "cycle=1 reads one pipeline after the other; or ";
	return s->cycle == 1;
}

const struct op_desc op_interleave = {
	.name = "interleave",
	.brief = "opens a pipeline for each element, and takes elements from several in turn",
	.doc = "In the parameters of the inner pipeline x is the outer element; in its expressions xx is. "
	       "CYCLE pipelines are open at a time, and each gives BLOCK elements when its turn comes; a "
	       "pipeline that has ended is replaced at its next turn. With cycle=1 they come one after the "
	       "other. With on_error=skip an element whose pipeline cannot be opened is left out, and a "
	       "pipeline that fails ends there.\n\nWith parallel=N up to N threads of the pool open pipelines "
	       "and read ahead in them: in those whose turns come, and in the next few. The order is the same "
	       "as without. With ordered=false elements are passed on as they become ready, several of one "
	       "pipeline at a time, whatever BLOCK is. A worker keeps the order even then, since it must be "
	       "possible to produce its streams again.",
	.kind = OP_TRANSFORM,
	.scope = OP_STREAM,
	.params = interleave_params,
	.state_size = sizeof(struct interleave),
	.partwise = interleave_partwise,
	.typing = interleave_typing,
	.cardinality = interleave_cardinality,
	.open = interleave_open,
	.next = interleave_next,
	.close = interleave_close,
	.save = interleave_save,
	.restore = interleave_restore,
	.example = "elements [3, 2] | interleave (range x | map [xx, x]) cycle=2",
	.output = "[3,0]\n[2,0]\n[3,1]\n[2,1]\n[3,2]\n",
};
