/* SPDX-License-Identifier: MIT
 * reverse: gives all elements in reverse order, when the last has come. What does not fit into
 * mem= goes to a temporary file: they are sorted by their numbers, the greatest first.
 */
#include "op/op.h"
#include "op/state.h"
#include "op/whole/sorter.h"
#include "value/mp.h"

struct reverse {
	int64_t mem;
	char *tmp;
	struct sorter *sorter;
	uint64_t n;
	bool given; /* all are there, and in the order in which they are to be given */
};

static const struct param reverse_params[] = {
	{ "mem", PARAM_SIZE, offsetof(struct reverse, mem), "256M", .flags = PARAM_KEY_ONLY,
	  .min = 1, .max = INT64_MAX,
	  .help = "bytes of memory for the elements; the rest goes to a temporary file" },
	{ "tmp", PARAM_WORD, offsetof(struct reverse, tmp), .flags = PARAM_KEY_ONLY | PARAM_OPTIONAL,
	  .help = "folder for the temporary file; by default $TMPDIR, or /tmp" },
	{ 0 }
};

static enum status
reverse_open(struct op_inst *self, struct err *e)
{
	struct reverse *s = self->state;

	(void)e;
	s->sorter = sorter_new((size_t)s->mem, true, s->tmp);
	return ST_OK;
}

static enum status
reverse_add(struct reverse *s, const struct elem *x, struct err *e)
{
	uint8_t key[MP_FLOAT_MAX];
	uint8_t *end = mp_put_uint(key, s->n++);

	return sorter_add(s->sorter, key, (size_t)(end - key), x->p, x->len, e);
}

static enum status
reverse_feed(struct op_inst *self, const struct run *in, struct run *out, struct err *e)
{
	struct reverse *s = self->state;
	enum status st = ST_OK;

	(void)out;
	for (uint32_t i = 0; st == ST_OK && i < in->n; i++)
		st = reverse_add(s, &in->e[i], e);
	return st == ST_OK ? st : op_blame(self->node, e);
}

static enum status
reverse_finish(struct op_inst *self, struct run *out, struct err *e)
{
	struct reverse *s = self->state;
	enum status st = sorter_give(s->sorter, out, e);

	return st == ST_OK || st == ST_END ? st : op_blame(self->node, e);
}

static void
reverse_close(struct op_inst *self)
{
	struct reverse *s = self->state;

	sorter_free(&s->sorter);
}

static void
reverse_save(struct op_inst *self, struct buf *out)
{
	struct reverse *s = self->state;

	self->unsaved = !sorter_can_save(s->sorter);
	if (self->unsaved)
		return;
	state_put_u64(out, sorter_ended(s->sorter) || s->given);
	sorter_save(s->sorter, false, out);
}

/* If they were being given, they are in reverse order already, which is kept. */
static enum status
reverse_restore(struct op_inst *self, const uint8_t *p, size_t n, struct err *e)
{
	struct reverse *s = self->state;
	struct state_in in = state_begin(p, n);
	enum status st = ST_OK;
	struct elem x;

	s->given = state_get_u64(&in, 1);
	sorter_free(&s->sorter);
	s->sorter = sorter_new((size_t)s->mem, !s->given, s->tmp);
	s->n = 0;
	while (st == ST_OK && in.p < in.end && state_get_elem(&in, &x))
		st = reverse_add(s, &x, e);
	return st == ST_OK ? state_finish(self, &in, e) : st;
}

const struct op_desc op_reverse = {
	.name = "reverse",
	.brief = "gives the elements in reverse order, the last one first",
	.doc = "Elements for which mem= is too small are kept in a temporary file, whose size --tmp-max limits.",
	.kind = OP_TRANSFORM,
	.scope = OP_GLOBAL,
	.flags = OP_WHOLE | OP_REORDERS | OP_PASSES,
	.params = reverse_params,
	.state_size = sizeof(struct reverse),
	.open = reverse_open,
	.feed = reverse_feed,
	.finish = reverse_finish,
	.close = reverse_close,
	.save = reverse_save,
	.restore = reverse_restore,
	.example = "range 3 | reverse",
	.output = "2\n1\n0\n",
};
