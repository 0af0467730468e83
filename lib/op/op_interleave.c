/* SPDX-License-Identifier: MIT
 * interleave: opens an inner pipeline for each element, CYCLE of them at a time,
 * and takes BLOCK elements of each in turn.
 *
 *	slots   [a]  [b]  [c]     an outer element and its chain each
 *	order   aa   bb   cc   aa   b  cc  dd      block=2; b ends, and at its
 *	                                           next turn d takes its place
 *
 * Elements are given where they lie in the inner chains' runs. So a chain is
 * pulled, or closed, only while nothing of it is in out: what is in out is
 * given first, which is also what keeps elements from being held back.
 */
#include <string.h>

#include "base/mem.h"
#include "op/op.h"
#include "op/state.h"

/* Elements of many files share a run: each slot's have their pos from its own
 * multiple of this on. */
enum { INTERLEAVE_CYCLE = 2047, INTERLEAVE_POS = 1 << 20, INTERLEAVE_WHOLE = 64 };
#define INTERLEAVE_NOWHERE UINT32_MAX /* pos of what has no known place */

struct interleave_slot {
	struct kept outer;
	struct op_inst *chain; /* NULL: wants an outer element */
};

struct interleave {
	struct op_node *pipe;
	int64_t cycle, block;
	struct interleave_slot *slots;
	struct run_part *parts; /* one a slot, and one for what has no place */
	int64_t at, used;       /* the slot whose turn it is; elements it has given in it */
	int64_t open;
	bool input_ended;
};

static const struct param interleave_params[] = {
	{ "pipeline", PARAM_PIPE, offsetof(struct interleave, pipe),
	  .help = "opened for each element, which is x in its parameters" },
	{ "cycle", PARAM_INT, offsetof(struct interleave, cycle), "4", .flags = PARAM_KEY_ONLY,
	  .min = 1, .max = INTERLEAVE_CYCLE, .help = "how many are open at a time" },
	{ "block", PARAM_INT, offsetof(struct interleave, block), "1", .flags = PARAM_KEY_ONLY,
	  .min = 1, .max = INT32_MAX, .help = "how many elements of one are given in turn" },
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

static enum status
interleave_open(struct op_inst *self, struct err *e)
{
	struct interleave *s = self->state;

	(void)e;
	s->slots = mem_array((size_t)s->cycle, sizeof *s->slots);
	s->parts = mem_array((size_t)s->cycle + 1, sizeof *s->parts);
	for (int64_t k = 0; k <= s->cycle; k++)
		s->parts[k].pos = k == s->cycle ? INTERLEAVE_NOWHERE : (uint32_t)k * INTERLEAVE_POS;
	return ST_OK;
}

static void
interleave_turn(struct interleave *s)
{
	s->used = 0;
	s->at = s->at + 1 == s->cycle ? 0 : s->at + 1;
}

static void
interleave_shut(struct interleave *s, struct interleave_slot *slot)
{
	op_close(&slot->chain);
	s->open--;
	interleave_turn(s);
}

/* The policy for an outer element whose pipeline cannot be opened or fails:
 * under skip and keep the rest of it is left out. */
static enum status
interleave_fault(struct op_inst *self, struct interleave_slot *slot, struct run *out, struct err *e)
{
	struct interleave *s = self->state;
	struct run one = { .e = &slot->outer.e, .n = 1, .cap = 1 };
	enum op_policy policy = self->node->on_error;
	bool opened = slot->chain != NULL;

	/* The chain has already told of it: only a policy makes it news. */
	if (opened && policy != OP_SKIP && policy != OP_KEEP)
		return e->kind;
	uint32_t before = out->n;
	enum status st = op_fault(self, &one, 0, out, e);
	if (out->n > before) { /* under keep: the slot's memory is used again */
		struct elem kept = out->e[--out->n];

		kept.pos = INTERLEAVE_NOWHERE;
		kept.block = NULL;
		run_keep(out, kept);
	}
	if (st == ST_OK && opened)
		interleave_shut(s, slot);
	else if (st == ST_OK)
		interleave_turn(s);
	return st;
}

static enum status
interleave_start(struct op_inst *self, struct interleave_slot *slot, struct run *out, struct err *e)
{
	struct interleave *s = self->state;
	enum status st;

	self->retry_p = NULL;
	do {
		st = op_open_inner(s->pipe, self, &slot->outer.e, &slot->chain, e);
		if (st == ST_OK) {
			s->open++;
			return ST_OK;
		}
		st = interleave_fault(self, slot, out, e);
	} while (st == ST_AGAIN);
	return st;
}

/* The next outer element for an empty slot. */
static enum status
interleave_refill(struct op_inst *self, struct interleave_slot *slot, struct run *out,
		  struct err *e)
{
	struct interleave *s = self->state;
	struct elem outer;

	if (s->input_ended) {
		interleave_turn(s);
		return s->open ? ST_OK : ST_END;
	}
	if (out->n && !op_ready(self->in[0]))
		return ST_AGAIN;
	enum status st = op_next(self->in[0], &outer, e);
	if (st == ST_END) {
		s->input_ended = true;
		return s->open ? ST_OK : ST_END;
	}
	if (st != ST_OK)
		return st;
	kept_set(&slot->outer, outer);
	return interleave_start(self, slot, out, e);
}

/* Gives what is there of the slot's chain, up to the end of its turn. A chain
 * is pulled at most once for a run of ours, so a slot has one file and line in it. */
static void
interleave_give(struct op_inst *self, struct op_inst *chain, struct run *out)
{
	struct interleave *s = self->state;
	const struct run *r = chain->lent;
	uint32_t n, base = (uint32_t)s->at * INTERLEAVE_POS;
	const struct elem *x = op_untaken(chain, &n);

	if (n > s->block - s->used)
		n = (uint32_t)(s->block - s->used);
	if (!out->n && n == r->n && n >= INTERLEAVE_WHOLE) {
		self->give = chain->lent;
	} else {
		bool known = !r->parts && (r->file || r->line);

		s->parts[s->at] = (struct run_part){ base, r->file, r->line };
		for (uint32_t i = 0; i < n; i++) {
			run_push(out, x[i]);
			out->e[out->n - 1].pos = known && x[i].pos < INTERLEAVE_POS
						 ? base + x[i].pos : INTERLEAVE_NOWHERE;
		}
		out->parts = s->parts;
		out->n_parts = (uint32_t)s->cycle + 1;
	}
	chain->taken += n;
	s->used += n;
	if (s->used == s->block)
		interleave_turn(s);
}

static enum status
interleave_next(struct op_inst *self, struct run *out, struct err *e)
{
	struct interleave *s = self->state;
	enum status st = ST_OK;

	while (st == ST_OK && !self->give && out->n < RUN_USUAL) {
		struct interleave_slot *slot = &s->slots[s->at];
		uint32_t left;

		if (!slot->chain) {
			st = interleave_refill(self, slot, out, e);
			continue;
		}
		op_untaken(slot->chain, &left);
		if (!left && out->n)
			return ST_OK;
		st = op_fill(slot->chain, e);
		if (st == ST_END) {
			interleave_shut(s, slot);
			st = ST_OK;
		} else if (st == ST_OK) {
			interleave_give(self, slot->chain, out);
		} else if (st != ST_AGAIN) {
			st = interleave_fault(self, slot, out, e);
		}
	}
	return st == ST_AGAIN && out->n ? ST_OK : st;
}

static void
interleave_close(struct op_inst *self)
{
	struct interleave *s = self->state;

	for (int64_t k = 0; s->slots && k < s->cycle; k++) {
		op_close(&s->slots[k].chain);
		kept_clear(&s->slots[k].outer);
	}
	mem_free(s->slots);
	mem_free(s->parts);
}

static void
interleave_save(struct op_inst *self, struct buf *out)
{
	struct interleave *s = self->state;
	struct buf inner = { 0 };

	state_put_u64(out, (uint64_t)s->at);
	state_put_u64(out, (uint64_t)s->used);
	state_put_u64(out, s->input_ended);
	for (int64_t k = 0; k < s->cycle; k++) {
		struct interleave_slot *slot = &s->slots[k];

		state_put_u64(out, slot->chain != NULL);
		if (!slot->chain)
			continue;
		state_put_elem(out, &slot->outer.e);
		buf_reset(&inner);
		if (!op_state_save(slot->chain, &inner) || inner.len > UINT32_MAX)
			self->unsaved = true;
		else
			state_put_bytes(out, inner.data, inner.len);
	}
	buf_clear(&inner);
}

static enum status
interleave_restore_slot(struct op_inst *self, struct interleave_slot *slot, struct state_in *in,
			struct err *e)
{
	struct interleave *s = self->state;
	const uint8_t *p;
	size_t n;
	struct elem outer;

	if (!state_get_elem(in, &outer) || !state_get_bytes(in, &p, &n))
		return state_wrong(self, e);
	kept_set(&slot->outer, outer);
	enum status st = op_open_inner(s->pipe, self, &slot->outer.e, &slot->chain, e);
	if (st != ST_OK)
		return st;
	s->open++;
	return op_state_restore(slot->chain, p, n, e);
}

static enum status
interleave_restore(struct op_inst *self, const uint8_t *p, size_t n, struct err *e)
{
	struct interleave *s = self->state;
	struct state_in in = state_begin(p, n);
	enum status st = ST_OK;

	s->at = (int64_t)state_get_u64(&in, (uint64_t)s->cycle - 1);
	s->used = (int64_t)state_get_u64(&in, (uint64_t)s->block - 1);
	s->input_ended = state_get_u64(&in, 1);
	for (int64_t k = 0; st == ST_OK && !in.bad && k < s->cycle; k++)
		if (state_get_u64(&in, 1))
			st = interleave_restore_slot(self, &s->slots[k], &in, e);
	return st == ST_OK ? state_finish(self, &in, e) : st;
}

const struct op_desc op_interleave = {
	.name = "interleave",
	.brief = "a pipeline for each element, several of them in turn",
	.doc = "In the inner pipeline's parameters x is the outer element, in its expressions "
	       "xx. CYCLE pipelines are open at a time, and give BLOCK elements each in "
	       "turn; one that ends is replaced when its turn comes. cycle=1 gives them one "
	       "after the other. Under on_error=skip an element whose pipeline cannot be "
	       "opened is left out, and one that fails ends there.",
	.kind = OP_TRANSFORM,
	.scope = OP_STREAM,
	.params = interleave_params,
	.state_size = sizeof(struct interleave),
	.typing = interleave_typing,
	.open = interleave_open,
	.next = interleave_next,
	.close = interleave_close,
	.save = interleave_save,
	.restore = interleave_restore,
	.example = "elements [3, 2] | interleave (range x | map [xx, x]) cycle=2",
	.output = "[3,0]\n[2,0]\n[3,1]\n[2,1]\n[3,2]\n",
};
