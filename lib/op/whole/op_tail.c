/* SPDX-License-Identifier: MIT
 * tail: gives the last N elements, in their order, when the input has ended.
 *
 * A ring of what came last; until it is full it grows.
 */
#include "base/mem.h"
#include "op/op.h"
#include "op/state.h"

#include <string.h>

struct tail {
	int64_t n, mem;
	struct kept *ring;
	size_t have, cap;
	size_t next;  /* place in the ring that is written next */
	size_t bytes;
	size_t given; /* in finish: how many of them are given */
};

static const struct param tail_params[] = {
	{ "n", PARAM_INT, offsetof(struct tail, n), .max = INT32_MAX,
	  .help = "how many elements to give" },
	{ "mem", PARAM_SIZE, offsetof(struct tail, mem), "1G", .flags = PARAM_KEY_ONLY,
	  .min = 1, .max = INT64_MAX, .help = "bytes that the N elements may take" },
	{ 0 }
};

static int64_t
tail_cardinality(const struct op_node *n, const int64_t *in)
{
	const struct tail *s = n->params;

	return in[0] == -1 || in[0] == INT64_MAX || in[0] < s->n ? in[0] : s->n;
}

static void
tail_add(struct tail *s, struct elem x)
{
	if (s->have < (size_t)s->n && s->have == s->cap) {
		size_t had = s->cap;

		s->ring = mem_grow(s->ring, &s->cap, s->have + 1, sizeof *s->ring);
		memset(s->ring + had, 0, (s->cap - had) * sizeof *s->ring);
	}
	struct kept *to = &s->ring[s->next];
	s->bytes -= to->e.len;
	s->bytes += x.len;
	kept_set(to, x);
	s->next = s->next + 1 == (size_t)s->n ? 0 : s->next + 1;
	if (s->have < (size_t)s->n)
		s->have++;
}

static enum status
tail_feed(struct op_inst *self, const struct run *in, struct run *out, struct err *e)
{
	struct tail *s = self->state;

	(void)out;
	for (uint32_t i = in->n > s->n ? in->n - (uint32_t)s->n : 0; i < in->n; i++)
		tail_add(s, in->e[i]);
	if (s->bytes <= (size_t)s->mem)
		return ST_OK;
	err_set(e, ST_DATA, "the last %zu elements take more than mem=%lld bytes", s->have, (long long)s->mem);
	err_help(e, "keep fewer, or make mem= larger");
	return op_blame(self->node, e);
}

static enum status
tail_finish(struct op_inst *self, struct run *out, struct err *e)
{
	struct tail *s = self->state;
	size_t bytes = 0, first = s->have == (size_t)s->n ? s->next : 0;

	(void)e;
	for (; s->given < s->have && out->n < RUN_USUAL && bytes < RUN_BYTES; s->given++) {
		size_t at = first + s->given;
		struct kept *k = &s->ring[at < s->have ? at : at - s->have];
		struct elem x = k->e;

		x.pos = 0;
		x.block = k->block;
		bytes += x.len;
		run_push(out, x); /* lent until close */
	}
	return s->given == s->have ? ST_END : ST_OK;
}

static void
tail_close(struct op_inst *self)
{
	struct tail *s = self->state;

	for (size_t i = 0; i < s->have; i++)
		kept_clear(&s->ring[i]);
	mem_free(s->ring);
}

static void
tail_save(struct op_inst *self, struct buf *out)
{
	struct tail *s = self->state;
	size_t first = s->have == (size_t)s->n ? s->next : 0;

	state_put_u64(out, s->given);
	state_put_u64(out, s->have);
	for (size_t i = 0; i < s->have; i++)
		state_put_elem(out, &s->ring[(first + i) % s->have].e);
}

static enum status
tail_restore(struct op_inst *self, const uint8_t *p, size_t n, struct err *e)
{
	struct tail *s = self->state;
	struct state_in in = state_begin(p, n);
	struct elem x;

	s->given = state_get_u64(&in, INT32_MAX);
	uint64_t have = state_get_u64(&in, (uint64_t)s->n);
	for (uint64_t i = 0; i < have && state_get_elem(&in, &x); i++)
		tail_add(s, x);
	if (s->given > s->have)
		in.bad = true;
	return state_finish(self, &in, e);
}

const struct op_desc op_tail = {
	.name = "tail",
	.brief = "gives the last N elements, when the input has ended",
	.kind = OP_TRANSFORM,
	.scope = OP_GLOBAL,
	.flags = OP_WHOLE | OP_PASSES,
	.params = tail_params,
	.state_size = sizeof(struct tail),
	.cardinality = tail_cardinality,
	.feed = tail_feed,
	.finish = tail_finish,
	.close = tail_close,
	.save = tail_save,
	.restore = tail_restore,
	.example = "range 5 | tail 2",
	.output = "3\n4\n",
};
